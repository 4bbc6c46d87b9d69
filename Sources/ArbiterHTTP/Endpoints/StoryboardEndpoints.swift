internal import ArbiterCore
internal import ArbiterEngine

/// `/scenes/{scene}/storyboard`: what is declared about a scene.
struct StoryboardEndpoints: Sendable {
    let engine: Engine

    func declare(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let condition = try IfMatch(declaring: call)
        var draft = StoryboardDraft()
        try call.readRequiredBody { field, value throws(Problem) in try draft.read(field, &value) }
        let storyboard = try draft.storyboard()
        engine.declare(name, storyboard, if: condition.precondition) { result in
            switch result {
            case .success(let revision):
                call.respond(.json(200, revision: revision) { $0.members(of: name, at: revision) })
            case .failure(let error): call.respond(Problem(changing: error, if: condition).response)
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        engine.read { machine, _ throws(ArbiterError) in
            try machine.storyboard(of: name)
        } completion: { result in
            switch result {
            case .success((let storyboard, let revision)):
                call.respond(200, storyboard.document, headers: [revision.entityTag])
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }
}

extension Response {
    /// A JSON object that tells of a scene at a revision.
    static func json(_ status: Int, revision: Revision, _ members: (inout JSONWriter) -> Void) -> Response {
        var response = json(status, members)
        response.headers.append(revision.entityTag)
        return response
    }
}

extension Revision {
    /// The header field that tells it.
    var entityTag: HeaderField { HeaderField("ETag", "\"\(rawValue)\"") }
}

extension JSONWriter {
    fileprivate mutating func members(of scene: SceneName, at revision: Revision) {
        member("name", scene.description)
        member("revision", revision.rawValue)
    }
}
