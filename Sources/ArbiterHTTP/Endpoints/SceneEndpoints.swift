internal import ArbiterCore
internal import ArbiterEngine

/// `/scenes`: what is going on where.
struct SceneEndpoints: Sendable {
    let engine: Engine

    func list(_ call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in throw Call.unknown(item.name) }
        engine.read { machine, _ in
            machine.scenes()
        } completion: { result in
            call.respond(result) { scenes in
                .json(200) { writer in
                    writer.array("scenes", scenes) { writer, scene in writer.object { $0.members(of: scene) } }
                }
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in throw Call.unknown(item.name) }
        let name = try SceneName(namedBy: call)
        engine.read { machine, now throws(ArbiterError) in
            (try machine.scene(name, at: now), machine.limits)
        } completion: { result in
            call.respond(result) { scene, limits in
                .json(200, revision: scene.summary.revision) { $0.members(of: scene, limits: limits) }
            }
        }
    }

    func delete(_ call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in throw Call.unknown(item.name) }
        let name = try SceneName(namedBy: call)
        let condition = try call.request.headers.value(of: .ifMatch).map(IfMatch.init)
        engine.change(name, if: condition) { engine, revision, completion in
            engine.delete(name, ifMatch: revision, completion: completion)
        } completion: { result in
            switch result {
            case .success: call.respond(.noContent)
            case .failure(let problem): call.respond(problem.response)
            }
        }
    }
}

extension SceneName {
    /// The scene that the path names.
    ///
    /// - Throws: `unknown-scene` if no scene can have this name.
    init(namedBy call: Call) throws(Problem) {
        let text = call.parameters["scene"] ?? ""
        guard let name = SceneName(text) else {
            throw Problem(.unknownScene, "No scene \(quoted(text)) is known, and none can have this name.")
        }
        self = name
    }
}

extension JSONWriter {
    mutating func members(of scene: SceneSummary) {
        member("name", scene.name.description)
        stateMembers(of: scene)
    }

    /// How a scene is, by its counts.
    mutating func stateMembers(of scene: SceneSummary) {
        member("revision", scene.revision.rawValue)
        member("runningCount", scene.running)
        member("queuedCount", scene.queued)
    }

    mutating func members(of scene: SceneView, limits: Limits) {
        members(of: scene.summary)
        member("lastEvent", scene.summary.lastEvent.rawValue)
        member("hierarchy", scene.storyboard.hierarchy)
        array("running", scene.running) { writer, view in
            writer.object { $0.members(of: view, showingToken: false) }
        }
        array("queue", scene.queue) { writer, view in
            writer.object { $0.members(of: view, showingToken: false) }
        }
        object("limits") { writer in
            writer.member("queued", limits.queuedPerScene)
            writer.member("unfinished", limits.unfinished)
            writer.member("sessions", limits.sessions)
            writer.member("claimSeconds", limits.claim)
            writer.member("graceSeconds", limits.grace)
            writer.member("leaseSeconds", Limits.leaseDurations.upperBound)
            writer.member("ticketSeconds", Limits.ticketDurations.upperBound)
            writer.member("queueSeconds", Limits.queueDurations.upperBound)
            writer.member("readySeconds", Limits.readyDurations.upperBound)
            writer.member("ttlSeconds", Limits.sessionDurations.upperBound)
            writer.member("wait", Limits.waitDurations.upperBound)
        }
    }
}
