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

    /// - Throws: `ValidationError` if the operation is no JSON object, or an id of the scope is empty.
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
        case let ids?:
            let ids = ids.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
            guard !ids.contains("") else { throw ValidationError("--scope has an empty id") }
            options.scope = .controllers(ids)
        case nil: break
        }
        return options
    }
}
