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
            call.respond(result) { scene, limits in .json(200) { $0.members(of: scene, limits: limits) } }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of scene: SceneSummary) {
        member("name", scene.name.description)
        member("runningCount", scene.running)
        member("queuedCount", scene.queued)
    }

    mutating func members(of scene: SceneView, limits: Limits) {
        members(of: scene.summary)
        array("running", scene.running) { writer, view in
            writer.object { $0.members(of: view, showingToken: false) }
        }
        array("queue", scene.queue) { writer, view in
            writer.object { $0.members(of: view, showingToken: false) }
        }
        object("limits") { writer in
            writer.member("queued", limits.queuedPerScene)
            writer.member("unfinished", limits.unfinished)
            writer.member("claimSeconds", limits.claim)
            writer.member("leaseSeconds", Limits.leaseDurations.upperBound)
            writer.member("ticketSeconds", Limits.ticketDurations.upperBound)
            writer.member("queueSeconds", Limits.queueDurations.upperBound)
            writer.member("wait", Limits.waitDurations.upperBound)
        }
    }
}
