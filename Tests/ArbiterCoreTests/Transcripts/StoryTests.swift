import Foundation
import Testing

/// What clients say and hear, as people can read it: each file in Stories is played, and has to come out as it is written.
struct StoryTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Stories")

    private static var files: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }

    @Test func `there are stories`() {
        #expect(Self.files.count >= 8)
    }

    @Test(arguments: files)
    func `a story comes out as it is written`(file: String) throws {
        let url = Self.folder.appending(path: file)
        let written = try String(contentsOf: url, encoding: .utf8)
        let played = try Self.played(written)
        if ProcessInfo.processInfo.environment["UPDATE_STORIES"] != nil {
            try played.write(to: url, atomically: true, encoding: .utf8)
        }
        let (expected, found) = (written.split(separator: "\n"), played.split(separator: "\n"))
        let line = zip(expected, found).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, found.count)
        #expect(
            written == played,
            "\(file), line \(line + 1) of those with text: \"\(found.dropFirst(line).first ?? "the end")\" is heard")
    }

    /// The story with what is heard behind each line that is said; comments and empty lines stay.
    private static func played(_ written: String) throws -> String {
        var story = Story()
        var played: [String] = []
        for line in written.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("> ") {
                played.append(String(line))
                played += try story.say(String(line.dropFirst(2))).map { "  \($0)" }
            } else if !line.hasPrefix("  ") {
                played.append(String(line))
            }
        }
        return played.joined(separator: "\n")
    }
}
