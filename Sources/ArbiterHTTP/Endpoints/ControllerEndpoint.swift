internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/controllers/{id}`: one controller, and waiting for a condition on it.
struct ControllerEndpoint: Sendable {
    let shards: Shards

    func show(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        let id = try ControllerID(namedBy: call, in: scene)
        try shards.engine(of: scene).read { machine, _ throws(ArbiterError) in
            try machine.controller(id, of: scene)
        } completion: { result in
            switch result {
            case .success(let view?): call.respond(200, view.document)
            case .success(nil):
                let detail = "The scene \(scene) has no controller \(quoted(id.description)) now."
                call.respond(Problem(unknownController: detail).response)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func await(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        let condition = try Expectation(on: ControllerID(namedBy: call, in: scene), askedBy: call)
        var wait = Wait()
        try wait.readQueryAndHeader(of: call)
        let duration = call.bounded(wait.resolved(default: Limits.defaultAwait))
        let session = try call.session()
        let engine = try call.engine(of: scene, in: shards, hosting: session, waiting: duration)
        try call.reservePlace(for: duration)
        let waiter = engine.observe(condition, of: scene, session: session, wait: duration, by: call.takeAsker()) {
            [wait] result in
            switch result {
            case .success(let view): call.respond(200, view.document, headers: wait.appliedPreference)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
        call.leave(waiter, of: engine)
    }
}

extension ControllerID {
    /// - Throws: 404 `unknown-controller` if no controller can have the id that the path names.
    fileprivate init(namedBy call: Call, in scene: SceneName) throws(Problem) {
        let text = call.parameters["id"] ?? ""
        guard let id = ControllerID(text) else {
            throw Problem(
                unknownController: "The scene \(scene) has no controller \(quoted(text)), and none can have this id.")
        }
        self = id
    }
}

extension Expectation {
    /// The condition that a query asks about, in `is` or in `not`.
    ///
    /// - Throws: `missing-field`, `invalid-field`.
    fileprivate init(on controller: ControllerID, askedBy call: Call) throws(Problem) {
        let condition = try call.query.value(of: .is, Condition.init(_:field:))
        let negated = try call.query.value(of: .not, Condition.init(_:field:))
        switch (condition, negated) {
        case (let condition?, nil): self = .controller(controller, is: condition)
        case (nil, let condition?): self = .controller(controller, is: condition, isNegated: true)
        case (nil, nil): throw Problem.missing("is")
        case (_?, _?): throw .invalid("not", "cannot be given together with \"is\"")
        }
    }
}

extension Problem {
    /// The path names a controller that does not exist: 404, while an operation that names one is refused with 422.
    fileprivate init(unknownController detail: String) {
        self.init(.unknownController, detail)
        status = 404
    }
}

extension ConditionView {
    fileprivate var document: JSONDocument {
        guard let controller else {
            let members = JSONDocument.Part.brief { [holds, revision] writer in
                writer.object { writer in
                    writer.member("holds", holds)
                    writer.member("revision", revision.rawValue)
                }
                writer.endLine()
            }
            return JSONDocument([members], keeping: 0)
        }
        let first = JSONDocument.Part.brief { [holds, revision] writer in
            writer.beginObject()
            writer.member("holds", holds)
            writer.member("revision", revision.rawValue)
            writer.begin("controller")
        }
        let last = JSONDocument.Part.brief { writer in
            writer.endObject()
            writer.endLine()
        }
        return JSONDocument([first] + controller.parts + [last], keeping: controller.byteCount)
    }
}

extension ControllerView {
    /// The controller as an object; its path and its children may be long.
    fileprivate var document: JSONDocument {
        JSONDocument(parts + [.brief { $0.endLine() }], keeping: byteCount)
    }

    fileprivate var byteCount: Int { (path.count + controller.children.count) * Limits.bytesPerName }

    fileprivate var parts: [JSONDocument.Part] {
        var parts: [JSONDocument.Part] = [
            .brief { writer in
                writer.beginObject()
                writer.member("id", controller.id)
                writer.member("kind", controller.kind.rawValue)
                if let container { writer.member("container", container) }
                if let presenter { writer.member("presenter", presenter) }
            }
        ]
        for (name, ids) in [("path" as StaticString, path), ("children", controller.children)] {
            parts += JSONDocument.Part.array(name, ids) { writer, id in writer.string(id.description) }
        }
        parts.append(
            .brief { writer in
                writer.member("visible", isVisible)
                writer.member("top", isTop)
                writer.member("selected", isSelected)
                writer.member("presented", presentedBy != nil)
                if let presentedBy { writer.member("presentedBy", presentedBy) }
                writer.member("presenting", presented != nil)
                if let presented { writer.member("presents", presented) }
                writer.member("revision", revision.rawValue)
                writer.member("lockedBy", lockedBy)
                writer.endObject()
            })
        return parts
    }
}
