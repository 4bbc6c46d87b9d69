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

            With --output it says how many events or transitions were saved, and whether earlier ones are no longer stored.

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
        let path = (scene.map { arbiter.scene($0).path("/trace") } ?? "/trace") + "?format=\(format.rawValue)"
        // A recording ends, and cannot be resumed: it waits in memory for a slow reader, whole.
        let lines = try arbiter.lines(path, limit: .max)
        guard let output else {
            for try await line in lines { Terminal.output.line(line) }
            return
        }
        let (first, count) = try await save(lines, in: output)
        let (json, words) = summary(first: Data(first.utf8), lineCount: count)
        if isSummaryJSON {
            Terminal.output.line(JSONValue.object(["file": .string(output)].merging(json) { $1 }).text())
        } else {
            Terminal.error.line("\(output): \(words)".printable)
        }
    }

    /// What was saved, as JSON and in words.
    private func summary(first: Data, lineCount: Int) -> (json: [String: JSONValue], words: String) {
        switch format {
        case .jsonl:
            // The first line is the header.
            let dropped = (try? JSONDecoder().decode(Header.self, from: first))?.dropped ?? 0
            let missing = dropped > 0 ? "; \(dropped) before them are no longer stored" : ""
            let events = lineCount - 1
            return (
                ["events": .number(Double(events)), "dropped": .number(Double(dropped))],
                "\(events) event\(events == 1 ? "" : "s")\(missing)"
            )
        case .chrome:
            guard let facts = (try? JSONDecoder().decode(ChromeFacts.self, from: first))?.otherData else {
                return ([:], "saved")
            }
            let missing = facts.droppedEarlierOnes ? "; earlier ones are not in it" : ""
            return (
                [
                    "transitions": .number(Double(facts.transitions)),
                    "droppedEarlierOnes": .bool(facts.droppedEarlierOnes),
                ],
                "\(facts.transitions) transition\(facts.transitions == 1 ? "" : "s")\(missing)"
            )
        }
    }

    /// What is needed of the first line of a recording.
    private struct Header: Decodable {
        let dropped: Int
    }

    /// What is needed of a recording for Perfetto, which is one line.
    private struct ChromeFacts: Decodable {
        struct Facts: Decodable {
            let transitions: Int
            let droppedEarlierOnes: Bool
        }

        let otherData: Facts
    }

    /// Saves the lines in a file, in one step at the end, so that a recording that is cut off does not replace a whole one.
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
        var (first, count) = ("", 0)
        do {
            for try await line in lines {
                if count == 0 { first = line }
                count += 1
                try Failure.writing(part) { try file.write(contentsOf: Data((line + "\n").utf8)) }
            }
            try Failure.writing(part) { try file.close() }
            guard unsafe rename(part, output) == 0 else {
                throw Failure(file: output, system: errno)
            }
        } catch {
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
        return (first, count)
    }
}
