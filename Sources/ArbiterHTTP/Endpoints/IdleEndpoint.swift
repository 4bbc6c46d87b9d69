internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// What a client can wait for in a scene.
enum SceneMilestone: String, Hashable, Sendable, CaseIterable {
    /// Nothing in it is unfinished.
    case idle
}

/// `/scenes/{scene}/await`: waiting for a scene, or a part of it, to be idle.
struct IdleEndpoint: Sendable {
    let shards: Shards

    func await(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        _ = try call.query.value(of: .until, SceneMilestone.init(_:field:))
        let quiet = try call.query.value(of: .quietSeconds) { text, field throws(Problem) in
            try Wait.parsed(text, field: field, in: Limits.quietDurations)
        }
        let part = try call.query.value(of: .controller) { text, field throws(Problem) in
            try ControllerID(text, field: field)
        }
        var wait = Wait()
        try wait.readQueryAndHeader(of: call)
        let duration = call.bounded(wait.resolved(default: Limits.defaultAwait))
        let session = try call.session()
        let engine = try call.engine(of: scene, in: shards, hosting: session, waiting: duration)
        try call.reservePlace(for: duration)
        let waiter = engine.awaitIdle(
            scene, below: part, for: quiet ?? .zero, session: session, wait: duration, by: call.takeAsker()
        ) { [wait] result in
            call.respond(result) { view in
                var response = Response.json(200) { $0.members(of: view) }
                response.headers += wait.appliedPreference
                return response
            }
        }
        call.leave(waiter, of: engine)
    }
}

extension JSONWriter {
    fileprivate mutating func members(of view: IdleView) {
        member("name", view.summary.name.description)
        if let part = view.part { member("controller", part) }
        member("idle", view.isIdle)
        if let idleFor = view.idleFor { member("idleFor", idleFor) }
        member("quietSeconds", view.quiet)
        stateMembers(of: view.summary)
        guard !view.busy.isEmpty else { return }
        array("busy", view.busy) { writer, busy in
            writer.object { writer in
                writer.member("id", busy.id)
                if let client = busy.client { writer.member("client", client.description) }
                writer.member("state", busy.state.rawValue)
            }
        }
    }
}
