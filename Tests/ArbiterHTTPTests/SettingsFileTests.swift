import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

struct SettingsFileTests {
    @Test func `entries are read as they are written, with their lines`() throws {
        let entries = try SettingsFile.entries(
            """
            # a comment
            listen: [127.0.0.1:8080, "unix:/a b"]
            socket-mode: 0600
            nothing:
            nested: {a: 'null', b: ~}
            """)
        #expect(entries.map(\.name) == ["listen", "socket-mode", "nothing", "nested"])
        #expect(entries.map(\.line) == [2, 3, 4, 5])
        #expect(try entries[0].value.texts("listen") == ["127.0.0.1:8080", "unix:/a b"])
        #expect(entries[1].value.text == "0600")
        #expect(entries[2].value.content == .nothing)
        let nested = try entries[3].value.entries("nested")
        #expect(nested.map(\.value.text) == ["null", nil])
    }

    @Test(arguments: ["", "\n", "# only a comment\n", "---\n", "~"])
    func `an empty document has no entries`(text: String) throws {
        #expect(try SettingsFile.entries(text).isEmpty)
    }

    @Test(
        arguments: [
            ("a: [1", 2, "not valid YAML"), ("a: 1\na: 2", 1, "a is given twice"),
            ("- a", 1, "the file must have entries"),
            ("text", 1, "the file must have entries"), ("[1, 2]: 3", 1, "a name must be a plain text"),
            ("a: b: c", 1, "not valid YAML"), ("a: 1\n---\nb: 2", 2, "not valid YAML"),
            ("a: [[[[[[[[[1]]]]]]]]]", 1, "more than 8 levels"),
        ] as [(String, Int, String)])
    func `what is malformed is said with its line`(text: String, line: Int, reason: String) {
        do throws(SettingsFile.Malformed) {
            _ = try SettingsFile.entries(text)
            Issue.record("it is read")
        } catch {
            #expect(error.line == line)
            #expect(error.reason.contains(reason), "\(error.reason)")
        }
    }

    @Test func `aliases do not make a short text large`() {
        let lists = (1...12).map { level in
            let items = Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ",")
            return "l\(level): &l\(level) [\(items)]"
        }
        let text = (["l0: &l0 [x,x,x,x,x,x,x,x,x,x]"] + lists).joined(separator: "\n")
        #expect(throws: SettingsFile.Malformed.self) { try SettingsFile.entries(text) }
    }

    @Test func `a file that cannot be read says why`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/settings.yaml"
        func reason(_ limit: Int = 100) -> String? {
            do throws(SettingsFile.Malformed) {
                _ = try SettingsFile.read(path, upTo: limit)
                return nil
            } catch {
                return error.description(in: path)
            }
        }
        #expect(reason() == "\(path): cannot be read: No such file or directory")
        try Data("a: 1".utf8).write(to: URL(fileURLWithPath: path))
        #expect(reason() == nil)
        #expect(reason(3) == "\(path): is longer than 3 bytes")
        try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: path))
        #expect(reason() == "\(path): is not UTF-8")
    }

    @Test(arguments: [
        ("listn", "listen"), ("max-parkd", "max-parked"), ("logformat", "log-format"), ("zzzzzz", nil),
        ("treads", "threads"),
    ])
    func `a name that is nearly right is suggested`(name: String, expected: String?) {
        let names = ["listen", "max-parked", "log-format", "log-level", "threads"]
        #expect(nearestName(to: name, among: names) == expected)
    }
}
