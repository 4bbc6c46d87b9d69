internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

/// `/scenes/{scene}/events` and `/events`: what happens in one scene, or in all of them, as it happens.
struct EventEndpoints: Sendable {
    let shards: Shards
    let hub: EventHub

    func followScene(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        try follow(.scene(scene), call, try call.engine(of: scene, in: shards, hosting: try call.session()))
    }

    func followAll(_ call: Call) throws(Problem) {
        if let engine = try shards.engineOfAll() {
            try follow(.shard(shards.first), call, engine)
        } else {
            try gather(call)
        }
    }

    private func follow(_ topic: EventTopic, _ call: Call, _ engine: Engine) throws(Problem) {
        let since = try since(call) { text, field throws(Problem) in try topic.number(text, field: field) }
        let token = try call.session()
        let wantsHeadOnly = call.request.method == "HEAD"
        if !wantsHeadOnly { try reservePlace(call) }
        let presence = call.presenceAtClose()
        find(topic, engine) { [since] result in
            switch (result, wantsHeadOnly, token) {
            case (.failure(let error), _, _): call.respond(Problem(error).response)
            case (.success, true, let token): showHead(call, for: token, engine)
            case (.success, false, nil): stream(call, from: subscribe(call, to: topic, after: since, for: nil, engine))
            case (.success, false, let token?): attach(token, call, presence, to: topic, after: since, engine)
            }
        }
    }

    /// Where a client's stream ended, if it comes back.
    func since<Place>(
        _ call: Call, _ parse: (_ text: String, _ field: String) throws(Problem) -> Place
    ) throws(Problem) -> Place? {
        let since = try call.query.value(of: .since, parse)
        // A client that comes back says it this way, while its address stays what it was.
        let last = HeaderName.lastEventID
        guard let value = call.request.headers.value(of: last) else { return since }
        return try parse(value, last.text)
    }

    func reservePlace(_ call: Call) throws(Problem) {
        guard call.exchange.reservePlace() else {
            throw Problem(
                .tooManyConnections, "No more connections can follow events here; try again.",
                retryAfter: Problem.retrySoon)
        }
    }

    /// Asks whether the topic can be followed: a scene that nobody has used yet can be as well.
    private func find(
        _ topic: EventTopic, _ engine: Engine,
        _ completion: @escaping @Sendable (Result<Void, EngineError>) -> Void
    ) {
        switch topic {
        case .scene: engine.read({ _, _ in }, completion: completion)
        case .shard: completion(.success(()))
        }
    }

    /// Answers as the stream would, and attaches nothing.
    func showHead(_ call: Call, for token: Token?, _ engine: Engine?) {
        guard let token, let engine else { return stream(call, from: EmptySource()) }
        engine.read { machine, _ throws(ArbiterError) in
            try machine.check(call.caller, owns: token)
            _ = try machine.session(token)
        } completion: { result in
            switch result {
            case .success: stream(call, from: EmptySource())
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    /// Answers with a stream by whose connection the session lives from here on.
    private func attach(
        _ token: Token, _ call: Call, _ presence: @escaping EventSubscription.PresenceAtClose, to topic: EventTopic,
        after number: EventNumber?, _ engine: Engine
    ) {
        engine.attach(token, by: call.takeAsker()) { result in
            switch result {
            case .success(let attachment):
                let source = subscribe(call, to: topic, after: number, for: attachment.session, engine) { isCut in
                    engine.detach(attachment, client: presence(isCut))
                }
                stream(call, from: source)
                endIfOver(attachment.session, token, engine)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    /// Ends the stream if its session has ended before the hub knew of the stream.
    func endIfOver(_ session: SessionID, _ token: Token, _ engine: Engine) {
        engine.read { machine, _ throws(ArbiterError) in
            _ = try machine.session(token)
        } completion: { [hub] result in
            if case .failure(.refused(.unknownSession)) = result { hub.endStreams(of: session) }
        }
    }

    func stream(_ call: Call, from source: any StreamSource) {
        let headers = [
            HeaderField(Heartbeat.field, Heartbeat.text(hub.longestSilence)),
            // For nginx, which would keep the head and the events until many have come.
            HeaderField("X-Accel-Buffering", "no"),
        ]
        call.stream(Response(200, .eventStream, body: [], headers: headers), from: source)
    }

    private func subscribe(
        _ call: Call, to topic: EventTopic, after number: EventNumber?, for session: SessionID?, _ engine: Engine,
        whenClosed: @escaping EventSubscription.WhenClosed = { _ in }
    ) -> EventSubscription {
        hub.subscribe(
            to: topic, after: number, session: session, permission: call.permission, outlet: call.exchange,
            reset: { engine.snapshot(of: topic, scenes: call.caller.scenes, completion: $0) }, whenClosed: whenClosed)
    }
}
