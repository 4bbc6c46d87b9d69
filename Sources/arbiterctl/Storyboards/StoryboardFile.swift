internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// A file with a storyboard.
struct StoryboardFile: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The file with the storyboard, as JSON; - for standard input.", valueName: "file"),
        completion: .file())
    var path: String

    /// The storyboard.
    ///
    /// - Throws: `Failure` if the file cannot be read, or is not JSON that can be sent.
    func read() throws(Failure) -> JSONValue {
        let bytes = try Failure.reading(path)
        if let document = try? JSONDecoder().decode(JSONValue.self, from: bytes) { return document }
        let (depth, deepest) = (WireDocument.levels(of: bytes).deepest, WireDocument.deepest)
        guard depth <= deepest else {
            let reason = "it has \(depth) levels of objects and arrays, and arbiterctl reads \(deepest) at most"
            throw Failure(file: path, reason)
        }
        throw Failure(file: path, "it is not JSON")
    }

    /// The storyboard of the file with everything that it leaves to a default, as the daemon checks it.
    func checked(_ arbiter: Arbiter, _ scene: String) async throws -> JSONValue {
        let path = arbiter.scene(scene).path("/storyboard?dryRun=true")
        return try await arbiter.ask(WireRequest("PUT", path, try read())).accepted()
    }
}
