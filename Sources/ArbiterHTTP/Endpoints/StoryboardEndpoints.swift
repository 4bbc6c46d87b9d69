internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/storyboard`: what is declared about a scene.
struct StoryboardEndpoints: Sendable {
    let shards: Shards

    func declare(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let condition = try IfMatch(declaring: call)
        var draft = StoryboardDraft()
        try call.readRequiredBody { field, value throws(Problem) in try draft.read(field, &value) }
        let storyboard = try draft.storyboard()
        if try call.query.value(of: .dryRun, Bool.init(_:field:)) ?? false {
            return call.respond(200, storyboard.document)
        }
        try shards.engine(of: name).declare(name, storyboard, if: condition.precondition) { result in
            switch result {
            case .success(let version): call.respond(.json(200, scene: name, version))
            case .failure(let error): call.respond(Problem(changing: error, if: condition).response)
            }
        }
    }

    func patch(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let condition = try IfMatch(declaring: call)
        var draft = StoryboardPatchDraft()
        try call.readRequiredBody { field, value throws(Problem) in try draft.read(field, &value) }
        try shards.engine(of: name).patch(name, draft.patch, if: condition.precondition) { result in
            switch result {
            case .success(let version): call.respond(.json(200, scene: name, version))
            case .failure(let error): call.respond(Problem(changing: error, if: condition).response)
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        try shards.engine(of: name).read { machine, _ throws(ArbiterError) in
            try machine.storyboard(of: name)
        } completion: { result in
            switch result {
            case .success((let storyboard, let version)):
                call.respond(200, storyboard.document, headers: [HeaderField("ETag", version.entityTag)])
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }
}

extension Response {
    /// A scene after a change of its storyboard.
    fileprivate static func json(_ status: Int, scene: SceneName, _ version: StoryboardVersion) -> Response {
        var response = json(status) { writer in
            writer.member("name", scene.description)
            writer.member("revision", version.revision.rawValue)
        }
        response.headers.append(HeaderField("ETag", version.entityTag))
        return response
    }
}
