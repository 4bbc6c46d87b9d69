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
        let wantsHeadOnly = call.request.method == "HEAD"
        guard wantsHeadOnly || call.exchange.reservePlace() else {
            throw Problem(
                .tooManyConnections, "No more connections can follow events here; try again.",
                retryAfter: Problem.briefly)
        }
        let session = wantsHeadOnly ? nil : try call.session()
        scenes.find(scene) { [since] error in
            if let error { return call.respond(Problem(error).response) }
            let head = Response(200, .eventStream, body: [])
            guard !wantsHeadOnly else { return call.stream(head, from: EmptySource()) }
            guard let session else {
                return call.stream(head, from: subscribe(call, to: scene, after: since, for: nil))
            }
            // From here on the session lives by this connection.
            engine.attach(session) { result in
                switch result {
                case .success(.session(let view)):
                    call.stream(head, from: subscribe(call, to: scene, after: since, for: view.session.id))
                case .success(let reply): preconditionFailure("a session was attached and answered with \(reply)")
                case .failure(let error): call.respond(Problem(error).response)
                }
            }
        }
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
