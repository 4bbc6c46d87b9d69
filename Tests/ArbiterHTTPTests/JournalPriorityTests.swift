import ArbiterEngine
import Foundation
import Glibc
import Logging
import Testing

@testable import ArbiterHTTP

/// What journald is told about lines of the log.
struct JournalPriorityTests {
    /// The lines that a handler writes for an entry of each level.
    private func lines(_ handler: (@escaping @Sendable ([UInt8]) -> Void) -> any LogHandler) -> [String] {
        let written = Guarded<[String]>([])
        let made = handler { line in written.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        let logger = Logger(label: "test") { _ in made }
        for level in Logger.Level.allCases { logger.log(level: level, "hello") }
        return written.withLock { $0 }
    }

    @Test func `each line begins with the priority of its level`() {
        let expected = ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"]
        let text = lines { TextLogHandler(label: "a", logLevel: .trace, hasPriorities: true, output: $0) }
        let json = lines { JSONLogHandler(label: "a", logLevel: .trace, hasPriorities: true, output: $0) }
        #expect(text.map { String($0.prefix(3)) } == expected)
        #expect(json.map { String($0.prefix(4)) } == expected.map { $0 + "{" })
    }

    @Test func `without journald no line does`() {
        let text = lines { TextLogHandler(label: "a", logLevel: .trace, output: $0) }
        #expect(text.allSatisfy { !$0.hasPrefix("<") })
    }

    @Test func `journald is recognized by its stream`() throws {
        let file = unsafe open("/dev/null", O_WRONLY)
        defer { close(file) }
        let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let device = try #require(attributes[.systemNumber] as? UInt64)
        #expect(JournalStream.receives(file, named: "\(device):\(inode)"))
        #expect(!JournalStream.receives(file, named: "\(device):\(inode + 1)"))
        #expect(!JournalStream.receives(file, named: nil))
        #expect(!JournalStream.receives(-1, named: "\(device):\(inode)"))
    }
}
