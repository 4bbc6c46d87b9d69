internal import ArbiterCore
internal import ArbiterEngine

/// `/scenes/{scene}/events`: what happens in a scene, as it happens.
struct EventEndpoints: Sendable {
    let engine: Engine
    let hub: EventHub
    let scenes: SceneReader

    func follow(_ call: Call) throws(Problem) {
        var since: EventNumber?
        try call.readQuery { item throws(Problem) in
            guard item.name == "since" else { throw Call.unknown(item.name) }
            since = try EventNumber(item.value, field: item.name)
        }
        // A client that comes back says it this way, while its address stays what it was.
        let last = HeaderName.lastEventID
        if let value = call.request.headers.value(of: last) {
            since = try EventNumber(value, field: last.rawValue)
        }
        let scene = try SceneName(namedBy: call)
        let token = try call.session()
        let wantsHeadOnly = call.request.method == "HEAD"
        guard wantsHeadOnly || call.exchange.reservePlace() else {
            throw Problem(
                .tooManyConnections, "No more connections can follow events here; try again.",
                retryAfter: Problem.briefly)
        }
        scenes.find(scene) { [since] error in
            if let error { return call.respond(Problem(error).response) }
            switch (wantsHeadOnly, token) {
            case (true, let token): showHead(call, for: token)
            case (false, nil): stream(call, from: subscribe(call, to: scene, after: since, for: nil))
            case (false, let token?): attach(token, call, to: scene, after: since)
            }
        }
    }

    /// Answers as the stream would, and attaches nothing.
    private func showHead(_ call: Call, for token: Token?) {
        guard let token else { return stream(call, from: EmptySource()) }
        engine.read { machine, _ throws(ArbiterError) in
            _ = try machine.session(token)
        } completion: { result in
            switch result {
            case .success: stream(call, from: EmptySource())
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    /// Answers with a stream by whose connection the session lives from here on.
    private func attach(_ token: Token, _ call: Call, to scene: SceneName, after number: EventNumber?) {
        engine.attach(token) { result in
            switch result {
            case .success(.session(let view)):
                stream(call, from: subscribe(call, to: scene, after: number, for: view.session.id))
            case .success(let reply): preconditionFailure("a session was attached and answered with \(reply)")
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    private func stream(_ call: Call, from source: any StreamSource) {
        call.stream(Response(200, .eventStream, body: []), from: source)
    }

    private func subscribe(
        _ call: Call, to scene: SceneName, after number: EventNumber?, for session: SessionID?
    ) -> EventSubscription {
        hub.subscribe(to: scene, after: number, outlet: call.exchange) { [scenes] completion in
            scenes.read(scene, completion)
        } whenClosed: { [engine] in
            if let session { engine.detach(session) }
        }
    }
}

extension EventNumber {
    /// Decimal digits and nothing else.
    fileprivate init(_ text: String, field: String) throws(Problem) {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt64(text) else {
            throw Problem(.invalidField, "The number of an event must be a whole number from 0.", field: field)
        }
        self.init(rawValue: number)
    }
}
