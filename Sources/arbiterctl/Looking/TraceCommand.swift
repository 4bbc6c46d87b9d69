internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// `arbiterctl trace`.
struct TraceCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Saves what has happened as a recording.",
        discussion: """
            A recording in the form jsonl is opened by the page of any daemon, at /?trace= or by dropping it there. One in the \
            form chrome is opened by Perfetto (https://ui.perfetto.dev) and chrome://tracing.

                arbiterctl trace --scene device-7 -o device-7.jsonl
                arbiterctl trace --format chrome -o trace.json
            """
    )

    /// What a recording is for.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case jsonl
        case chrome
    }

    @OptionGroup var connection: Connection

    @Option(help: "The scene; all scenes unless given.")
    var scene: String?

    @Option(help: "jsonl or chrome.")
    var format = Form.jsonl

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where it is saved; standard output unless given.", valueName: "file"))
    var output: String?

    func run(_ arbiter: Arbiter) async throws {
        let path = (scene.map { arbiter.scene($0).path("/trace") } ?? "/trace") + "?format=\(format.rawValue)"
        guard let output else {
            for try await line in try arbiter.lines(path) { Terminal.output.line(line) }
            return
        }
        if let type = try? FileManager.default.attributesOfItem(atPath: output)[.type] as? FileAttributeType,
            type != .typeRegular
        {
            throw ValidationError("\(output) is no regular file")
        }
        // In one step at the end, so that a recording that is cut off does not replace a whole one.
        let part = output + ".part"
        guard FileManager.default.createFile(atPath: part, contents: nil), let file = FileHandle(forWritingAtPath: part)
        else { throw ValidationError("cannot write \(part)") }
        var count = 0
        do {
            for try await line in try arbiter.lines(path) {
                try file.write(contentsOf: Data((line + "\n").utf8))
                count += 1
            }
            try file.close()
            guard unsafe rename(part, output) == 0 else { throw ValidationError("cannot write \(output)") }
        } catch {
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
        if format == .jsonl { Terminal.error.line("\(output): \(count - 1) events") }
    }
}
