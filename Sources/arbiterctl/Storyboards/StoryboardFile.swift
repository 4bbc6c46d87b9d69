internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// A file with a storyboard.
struct StoryboardFile: ParsableArguments {
    /// How many levels of objects and arrays JSONDecoder reads.
    private static let deepest = 512

    @Argument(help: ArgumentHelp("The file with the storyboard, as JSON; - for standard input.", valueName: "file"))
    var path: String

    /// The storyboard.
    ///
    /// - Throws: `Failure` if the file cannot be read, or is not JSON that can be sent.
    func read() throws(Failure) -> JSONValue {
        let bytes = try Failure.reading(path)
        if let document = try? JSONDecoder().decode(JSONValue.self, from: bytes) { return document }
        let depth = Self.depth(of: bytes)
        guard depth <= Self.deepest else {
            let reason = "it has \(depth) levels of objects and arrays, and arbiterctl reads \(Self.deepest) at most"
            throw Failure(file: path, reason)
        }
        throw Failure(file: path, "it is not JSON")
    }

    /// The storyboard of the file with everything that it leaves to a default, as the daemon checks it.
    func checked(_ arbiter: Arbiter, _ scene: String) async throws -> JSONValue {
        let path = arbiter.scene(scene).path("/storyboard?dryRun=true")
        return try await arbiter.ask(WireRequest("PUT", path, try read())).accepted()
    }

    /// How many objects and arrays are nested at the deepest place.
    private static func depth(of bytes: Data) -> Int {
        var (depth, deepest) = (0, 0)
        var (isText, isEscaped) = (false, false)
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isText
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}
