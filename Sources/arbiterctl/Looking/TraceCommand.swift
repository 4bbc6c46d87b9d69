internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// `arbiterctl trace`.
struct TraceCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Saves what has happened as a recording.",
        discussion: """
            A recording in the form jsonl has the events as they were sent, and is opened by the page of any daemon, at \
            /?trace= or by dropping it there. One in the form chrome has the transitions of these events, and is opened by \
            Perfetto (https://ui.perfetto.dev) and chrome://tracing.

            With --output it says how many events were read, and how many before them are no longer stored.

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
        name: .shortAndLong, help: ArgumentHelp("Where it is saved; standard output unless given.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: .customLong("json"), help: "With --output, write what was saved as JSON, to standard output.")
    var isSummaryJSON = false

    func validate() throws {
        guard output != nil || !isSummaryJSON else { throw ValidationError("--json goes with --output") }
    }

    func run(_ arbiter: Arbiter) async throws {
        let path = scene.map { arbiter.scene($0).path("/trace") } ?? "/trace"
        // A recording ends, and cannot be resumed: it waits in memory for a slow reader, whole.
        let lines = try arbiter.lines(path, limit: .max)
        guard let output else {
            _ = try await write(lines) { Terminal.output.line($0) }
            return
        }
        let (first, count) = try await save(lines, in: output)
        // The first line is the header.
        let dropped = (try? JSONDecoder().decode(Header.self, from: Data(first.utf8)))?.dropped ?? 0
        let events = count - 1
        if isSummaryJSON {
            let summary: JSONValue = [
                "file": .string(output), "events": .number(Double(events)), "dropped": .number(Double(dropped)),
            ]
            Terminal.output.line(summary.text())
        } else {
            let missing = dropped > 0 ? "; \(dropped) before them are no longer stored" : ""
            Terminal.error.line("\(output): \(events) event\(events == 1 ? "" : "s")\(missing)".printable)
        }
    }

    /// What is needed of the first line of a recording.
    private struct Header: Decodable {
        let dropped: Int
    }

    /// Writes the lines of a recording in the form that is wanted.
    ///
    /// - Returns: the first line, and how many there are.
    private func write(
        _ lines: AsyncThrowingStream<String, any Error>, _ write: (String) throws -> Void
    ) async throws -> (first: String, count: Int) {
        var (first, count) = ("", 0)
        var trace = ChromeTrace()
        for try await line in lines {
            if count == 0 { first = line }
            count += 1
            switch format {
            case .jsonl: try write(line)
            case .chrome: try trace.take(line)
            }
        }
        if format == .chrome { try write(trace.text()) }
        return (first, count)
    }

    /// Saves a recording in a file, in one step at the end, so that one that is cut off does not replace a whole one.
    ///
    /// - Returns: the first line, and how many there are.
    /// - Throws: `ClientError`; `Failure` if the file cannot be written.
    private func save(
        _ lines: AsyncThrowingStream<String, any Error>, in output: String
    ) async throws -> (first: String, count: Int) {
        if let type = try? FileManager.default.attributesOfItem(atPath: output)[.type] as? FileAttributeType,
            type != .typeRegular
        {
            throw Failure(file: output, "this is no regular file")
        }
        let part = output + ".part"
        let file = try Failure.writing(part) {
            try Data().write(to: URL(fileURLWithPath: part))
            return try FileHandle(forWritingTo: URL(fileURLWithPath: part))
        }
        do {
            let written = try await write(lines) { line in
                try Failure.writing(part) { try file.write(contentsOf: Data((line + "\n").utf8)) }
            }
            try Failure.writing(part) { try file.close() }
            guard unsafe rename(part, output) == 0 else { throw Failure(file: output, system: errno) }
            return written
        } catch {
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
    }
}
