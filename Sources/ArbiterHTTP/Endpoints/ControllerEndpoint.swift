internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/controllers/{id}`: one controller.
struct ControllerEndpoint: Sendable {
    let shards: Shards

    func show(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        let text = call.parameters["id"] ?? ""
        guard let id = ControllerID(text) else {
            throw Problem(
                unknownController: "The scene \(scene) has no controller \(quoted(text)), and none can have this id.")
        }
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
}

extension Problem {
    /// The path names a controller that does not exist: 404, while an operation that names one is refused with 422.
    fileprivate init(unknownController detail: String) {
        self.init(.unknownController, detail)
        status = 404
    }
}

extension ControllerView {
    /// The controller as an object; its path and its children may be long.
    fileprivate var document: JSONDocument {
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
                writer.endLine()
            })
        return JSONDocument(parts, keeping: (path.count + controller.children.count) * Limits.bytesPerName)
    }
}
