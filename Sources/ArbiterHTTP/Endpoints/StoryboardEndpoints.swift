internal import ArbiterCore
internal import ArbiterEngine

/// `/scenes/{scene}/storyboard`: what is declared about a scene.
struct StoryboardEndpoints: Sendable {
    let engine: Engine

    func declare(_ call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in throw Call.unknown(item.name) }
        let name = try SceneName(namedBy: call)
        let condition = try call.request.headers.value(of: .ifMatch).map(IfMatch.init)
        var draft = StoryboardDraft()
        try call.readRequiredBody { field, value throws(Problem) in try draft.read(field, &value) }
        let declaration = Declaration(scene: name, storyboard: try draft.storyboard(), condition: condition)
        declare(declaration, ifMatch: condition?.likeliest, for: call)
    }

    private struct Declaration: Sendable {
        let scene: SceneName
        let storyboard: Storyboard
        let condition: IfMatch?
    }

    /// Declares it if the scene has the revision; if it has another that will do as well, tries again with that.
    private func declare(_ declaration: Declaration, ifMatch revision: Revision?, for call: Call) {
        engine.declare(declaration.scene, declaration.storyboard, ifMatch: revision) { result in
            switch result {
            case .success(.declared(let revision)):
                call.respond(.json(200, revision: revision) { $0.members(of: declaration.scene, at: revision) })
            case .success(.transition), .success(.progress), .success(.session), .success(.parked), .success(.done):
                preconditionFailure("a declaration of \(declaration.scene) was answered with \(result)")
            case .failure(.refused(.revisionMismatch(_, let actual))):
                guard let condition = declaration.condition else {
                    preconditionFailure("\(declaration.scene) was declared whatever its revision, and refused for it")
                }
                if let actual, condition.isMet(by: actual) {
                    declare(declaration, ifMatch: actual, for: call)
                } else {
                    call.respond(Problem(expectedTags: condition.text, actual: actual).response)
                }
            case .failure(let error):
                call.respond(Problem(changing: error).response)
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        try call.readQuery { item throws(Problem) in throw Call.unknown(item.name) }
        let name = try SceneName(namedBy: call)
        engine.read { machine, _ throws(ArbiterError) in
            try machine.storyboard(of: name)
        } completion: { result in
            call.respond(result) { storyboard, revision in
                .json(200, revision: revision) { $0.members(of: storyboard) }
            }
        }
    }
}

extension Problem {
    /// What stands against changing a scene as a whole.
    init(changing error: EngineError) {
        if case .refused(.busy(let busy)) = error {
            self.init(unfinished: busy)
        } else {
            self.init(error)
        }
    }
}

extension Response {
    /// A JSON object that tells of a scene at a revision.
    static func json(_ status: Int, revision: Revision, _ members: (inout JSONWriter) -> Void) -> Response {
        var response = json(status, members)
        response.headers.append(HeaderField("ETag", "\"\(revision.rawValue)\""))
        return response
    }
}

extension JSONWriter {
    fileprivate mutating func members(of scene: SceneName, at revision: Revision) {
        member("name", scene.description)
        member("revision", revision.rawValue)
    }
}
