internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/sessions`: proofs of life.
struct SessionEndpoints: Sendable {
    let shards: Shards

    func open(_ call: Call) throws(Problem) {
        var client: ClientName?
        var scene: SceneName?
        var timeToLive = Limits.defaultSession
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "client": client = try ClientName(try value.string(field), field: field)
            case "scene": scene = try SceneName(try value.string(field), field: field)
            case "ttlSeconds": timeToLive = try value.seconds(field, in: Limits.sessionDurations)
            default: throw Problem.unknown(field)
            }
        }
        if let scene { try call.permission.check(scene) }
        let slot = try shards.slot(forSessionIn: scene)
        try shards.engine(ofHomeAt: slot).openSession(
            client: client, timeToLive: timeToLive, homeAt: slot, by: call.takeAsker()
        ) {
            call.respond($0, status: 201, showingToken: true)
        }
    }

    func renew(_ call: Call) throws(Problem) {
        let session = try session(of: call)
        try shards.engine(of: session).renewSession(session, by: call.takeAsker()) {
            call.respond($0, status: 200, showingToken: false)
        }
    }

    func end(_ call: Call) throws(Problem) {
        let session = try session(of: call)
        try shards.engine(of: session).endSession(session, by: call.takeAsker()) {
            call.respond($0, status: 200, showingToken: false)
        }
    }

    /// The session of a request that says nothing else.
    private func session(of call: Call) throws(Problem) -> Token {
        try call.readBody { field, _ throws(Problem) in throw Problem.unknown(field) }
        return try call.requiredSession()
    }
}

extension Call {
    fileprivate func respond(_ result: Result<SessionView, EngineError>, status: Int, showingToken: Bool) {
        respond(result) { view in .json(status) { $0.members(of: view, showingToken: showingToken) } }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of view: SessionView, showingToken: Bool) {
        let session = view.session
        member("id", session.id.description)
        if showingToken { member("token", session.token) }
        if let client = session.client { member("client", client.description) }
        member("ttlSeconds", session.timeToLive)
        if let remaining = view.remaining { member("remaining", remaining) }
    }
}
