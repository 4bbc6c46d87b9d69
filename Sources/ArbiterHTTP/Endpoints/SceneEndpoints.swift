internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes`: what is going on where.
struct SceneEndpoints: Sendable {
    let shards: Shards

    func list(_ call: Call) throws(Problem) {
        let limit = try call.query.value(of: .limit, Int.init(limit:field:)) ?? Limits.defaultListed
        let after = try call.query.value(of: .after, SceneName.init(_:field:))
        _ = try call.query.value(of: .partial, Bool.init(_:field:))
        guard let engine = try shards.engineOfAll() else { return try gather(after: after, limit: limit, call) }
        engine.read { machine, _ in
            // One more tells whether there is another page.
            machine.scenes(call.caller.scenes, after: after, limit: limit + 1)
        } completion: { result in
            call.respond(result) { scenes in
                let page = scenes.prefix(limit)
                var response = Response.json(200) { writer in
                    writer.array("scenes", Array(page)) { writer, scene in writer.object { $0.members(of: scene) } }
                }
                if page.count < scenes.count, let last = page.last {
                    response.headers.append(.link(toScenesAfter: last.name.description, limit: limit))
                }
                return response
            }
        }
    }

    /// Lists the scenes of all shards.
    private func gather(after: SceneName?, limit: Int, _ call: Call) throws(Problem) {
        try call.respond(over: shards, as: "scenes", limit: limit, from: .first) { name in
            .link(toScenesAfter: name, limit: limit)
        } asking: { engine, completion in
            engine.read { machine, _ in
                machine.scenes(call.caller.scenes, after: after, limit: limit + 1)
            } completion: { result in
                completion(
                    result.map { scenes in
                        let entries = scenes.map { scene in
                            ListPart.Entry(
                                key: scene.name.description, json: JSONWriter.object { $0.members(of: scene) })
                        }
                        return ListPart(entries, limit: limit, from: .first)
                    })
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        try shards.engine(of: name).read { machine, now throws(ArbiterError) in
            (try machine.scene(name, at: now), machine.limits)
        } completion: { result in
            switch result {
            case .success((let scene, let limits)):
                let document = JSONDocument(
                    [.brief { $0.beginObject() }] + scene.parts(limits) + [
                        .brief { writer in
                            writer.endObject()
                            writer.endLine()
                        }
                    ], keeping: scene.byteCount)
                let queue = HeaderField.link(
                    "related", to: "/transitions",
                    ["scene": name.description, "state": TransitionState.queued.rawValue])
                call.respond(200, document, headers: [queue])
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func delete(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let condition = try IfMatch(call)
        try shards.engine(of: name).delete(name, if: condition.precondition) { result in
            switch result {
            case .success: call.respond(.noContent)
            case .failure(let error): call.respond(Problem(changing: error, if: condition).response)
            }
        }
    }
}

extension HeaderField {
    fileprivate static func link(toScenesAfter name: String, limit: Int) -> HeaderField {
        .link("next", to: "/scenes", ["limit": String(limit), "after": name])
    }
}

extension SceneName {
    /// The scene that the path names.
    ///
    /// - Throws: `unknown-scene` if no scene can have this name; `forbidden` if the client may not use it.
    init(namedBy call: Call) throws(Problem) {
        let text = call.parameters["scene"] ?? ""
        guard let name = SceneName(text) else {
            throw Problem(.unknownScene, "No scene \(quoted(text)) is known, and none can have this name.")
        }
        try call.permission.check(name)
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

    fileprivate mutating func members(of limits: Limits) {
        member("queued", limits.queuedPerScene)
        member("unfinished", limits.unfinished)
        member("sessions", limits.sessions)
        member("claimSeconds", limits.claim)
        member("graceSeconds", limits.grace)
        member("leaseSeconds", limits.longestLease ?? Limits.leaseDurations.upperBound)
        member("ticketSeconds", Limits.ticketDurations.upperBound)
        member("queueSeconds", Limits.queueDurations.upperBound)
        member("readySeconds", Limits.readyDurations.upperBound)
        member("ttlSeconds", Limits.sessionDurations.upperBound)
        member("wait", limits.longestWait)
    }
}

extension SceneView {
    /// The members of a scene.
    func parts(_ limits: Limits) -> [JSONDocument.Part] {
        var parts: [JSONDocument.Part] = [
            .brief { writer in
                writer.members(of: summary)
                writer.member("lastEvent", summary.lastEvent.rawValue)
                if let front = storyboard.hierarchy.front { writer.member("front", front) }
            },
            .hierarchy(HierarchyWriter(storyboard.hierarchy, named: "hierarchy")),
        ]
        for (name, views) in [("running" as StaticString, running), ("queue", queue)] {
            parts += JSONDocument.Part.array(name, views) { writer, view in
                writer.object { $0.summaryMembers(of: view) }
            }
        }
        if !guards.isEmpty {
            parts.append(
                .brief { writer in
                    writer.array("guards", guards) { writer, known in writer.object { $0.members(of: known) } }
                })
        }
        parts.append(.brief { writer in writer.object("limits") { $0.members(of: limits) } })
        return parts
    }
}
