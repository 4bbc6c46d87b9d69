internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/guards`: who is asked before which controllers are removed.
struct GuardEndpoints: Sendable {
    let shards: Shards

    func add(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        var controllers: [ControllerID] = []
        var onSilence = UnreadyAction.proceed
        try call.readRequiredBody { field, value throws(Problem) in
            switch field {
            case "controllers": controllers = try value.guardedControllers(field)
            case "onSilence": onSilence = try value.word(field)
            default: throw Problem.unknown(field)
            }
        }
        guard !controllers.isEmpty else { throw Problem.missing("controllers") }
        let session = try call.requiredSession()
        try call.engine(of: scene, in: shards, hosting: session).addGuard(
            of: controllers, in: scene, onSilence: onSilence, session: session, by: call.takeAsker()
        ) { result in
            call.respond(result) { known in .json(201) { $0.members(of: known) } }
        }
    }

    /// A session removes its own guards; an administrator all of them.
    func remove(_ call: Call) throws(Problem) {
        let scene = try SceneName(namedBy: call)
        let text = call.parameters["id"] ?? ""
        guard let id = GuardID(text) else {
            throw Problem(.notFound, "The scene \(scene) has no guard \(quoted(text)): ids look like g-7f3k9v0m2c5xq.")
        }
        let session = call.permission.roles.contains(.admin) ? nil : try call.requiredSession()
        try call.engine(of: scene, in: shards, hosting: session).removeGuard(
            id, of: scene, session: session, by: call.takeAsker()
        ) { result in
            switch result {
            case .success: call.respond(.noContent)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }
}

extension JSONReader {
    /// - Throws: `invalid-field` if the list is empty, too long, or names a controller twice.
    fileprivate mutating func guardedControllers(_ field: String) throws(Problem) -> [ControllerID] {
        var controllers: [ControllerID] = []
        try array(field, upTo: Limits.guardedControllers) { element, reader throws(Problem) in
            let controller: ControllerID = try reader.name(element)
            guard !controllers.contains(controller) else {
                throw reader.invalid(element, "names a controller that is named before")
            }
            controllers.append(controller)
        }
        guard !controllers.isEmpty else { throw invalid(field, "must name one controller at least") }
        return controllers
    }
}

extension JSONWriter {
    mutating func members(of known: Guard) {
        member("id", known.id.description)
        member("client", known.client.description)
        member("session", known.session.description)
        member("controllers", known.controllers)
        member("onSilence", known.onSilence.rawValue)
    }
}
