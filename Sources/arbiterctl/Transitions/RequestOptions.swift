internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// What is asked of a scene.
struct RequestOptions: ParsableArguments {
    @Option(help: "The scene.")
    var scene = "main"

    @Option(
        help: ArgumentHelp("What is locked: scene, operation, or ids with commas between them.", valueName: "scope"))
    var scope: String?

    @Option(
        help: ArgumentHelp("The operation, as JSON; it is applied when the transition is completed.", valueName: "json")
    )
    var operation: String?

    func validate() throws { _ = try made() }

    /// - Throws: `ValidationError` if the operation is no JSON object.
    func made() throws -> TransitionOptions {
        var options = TransitionOptions()
        if let operation {
            guard let document = try? JSONDecoder().decode(JSONValue.self, from: Data(operation.utf8)),
                document.object != nil
            else { throw ValidationError("--operation must be a JSON object") }
            options.operation = TransitionOperation(document)
        }
        switch scope {
        case "scene": options.scope = .scene
        case "operation": options.scope = .operation
        case let ids?: options.scope = .controllers(ids.split(separator: ",").map { String($0) })
        case nil: break
        }
        return options
    }
}

/// How long a wait may take.
struct WaitOption: ParsableArguments {
    @Option(help: ArgumentHelp("How long to wait; for ever unless given. 0 only tries.", valueName: "seconds"))
    var wait: Double?

    func validate() throws {
        guard wait.map({ $0 >= 0 && $0 <= 86_400 }) ?? true else {
            throw ValidationError("--wait must be 0 to 86400 seconds")
        }
    }

    /// The instant at which the wait is over.
    var deadline: ContinuousClock.Instant? { wait.map { .now + .seconds($0) } }
}
