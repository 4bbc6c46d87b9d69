import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Logging
import Testing

@testable import ArbiterHTTP

struct JSONLogHandlerTests {
    private struct Trouble: Error {}

    private final class Lines: Sendable {
        private let written = Guarded([[UInt8]]())

        func write(_ line: [UInt8]) { written.withLock { $0.append(line) } }

        var all: [[UInt8]] { written.withLock { $0 } }

        /// The one line, which must be JSON and end with the only line feed.
        func only() throws -> JSON {
            let lines = all
            try #require(lines.count == 1)
            let feeds = lines[0].indices.filter { lines[0][$0] == 0x0a }
            #expect(feeds == [lines[0].count - 1])
            return try JSON(lines[0])
        }
    }

    private let lines = Lines()

    private func logger(_ level: Logger.Level = .info, provider: Logger.MetadataProvider? = nil) -> Logger {
        Logger(label: "arbiterd") { label in
            var handler = JSONLogHandler(label: label, logLevel: level, time: ManualTime(), output: lines.write)
            handler.metadataProvider = provider
            return handler
        }
    }

    @Test func `an entry is one object on one line`() throws {
        logger().warning("a \"message\"\nin two lines", metadata: ["b": "\u{1}", "a": "1", "list": ["x", "y"]])
        #expect(
            try lines.only() == [
                "time": "2026-01-01T00:00:00.000Z", "level": "warning", "logger": "arbiterd",
                "message": "a \"message\"\nin two lines", "a": "1", "b": "\u{1}", "list": #"["x", "y"]"#,
            ])
    }

    @Test func `an entry says when, how grave and what before anything else`() throws {
        logger().info("hello", metadata: ["z": "2", "a": "1"])
        let text = String(decoding: try #require(lines.all.first), as: UTF8.self)
        #expect(
            text == #"{"time":"2026-01-01T00:00:00.000Z","level":"info","logger":"arbiterd","message":"hello","#
                + #""a":"1","z":"2"}"# + "\n")
    }

    @Test func `what is below the level is not written`() throws {
        logger(.error).warning("no")
        #expect(lines.all.isEmpty)
        logger(.error).error("yes")
        #expect(try lines.only()["level"] == "error")
    }

    @Test func `the entry's metadata count more than the provider's, and these more than the logger's`() throws {
        var logger = logger(provider: Logger.MetadataProvider { ["b": "provider", "c": "provider"] })
        logger[metadataKey: "a"] = "logger"
        logger[metadataKey: "b"] = "logger"
        logger[metadataKey: "c"] = "logger"
        logger.info("x", metadata: ["c": "entry"])
        let line = try lines.only()
        #expect(line["a"] == "logger")
        #expect(line["b"] == "provider")
        #expect(line["c"] == "entry")
        #expect(logger[metadataKey: "a"] == "logger")
    }

    @Test func `an error is written with its entry`() throws {
        logger().error("failed", error: Trouble())
        #expect(try lines.only()["error"]?.text?.contains("Trouble") == true)
    }

    /// Has a router handle a request, and log it.
    private func handle(_ method: String, _ path: String) throws -> Answer {
        let time = ManualTime()
        let engine = try Engine(
            journal: MemoryJournal(keepsRecords: false), time: time, alarm: ManualAlarm(time: time))
        let exchange = RecordingExchange()
        let headers = DictionaryHeaders(fields: [.host: "localhost", .requestID: "r-1"])
        Router(shards: Shards(only: engine), hub: EventHub(), logger: logger(.trace))
            .handle(Request(method: method, path: path, headers: headers), exchange)
        return try exchange.answer()
    }

    @Test func `a request is logged with its id and without its secrets`() throws {
        let answer = try handle("POST", "/transitions/start")
        let line = try lines.only()
        #expect(line["request"] == "r-1")
        #expect(line["message"] == "POST /transitions/start 201")
        let token = try #require(answer.body["token"]?.text)
        #expect(!String(decoding: lines.all[0], as: UTF8.self).contains(token))
    }

    @Test(
        arguments: [
            ("POST", "/transitions/start", "startTransition", "transition"),
            ("PUT", "/scenes/main/storyboard", "declareStoryboard", "design"), ("HEAD", "/livez", "checkLiveness", nil),
            ("BREW", "/livez", nil, nil), ("GET", "/nothing", nil, nil),
        ] as [(String, String, String?, String?)])
    func `a request is logged with its route, where there is one, and the role that this needs`(
        method: String, path: String, route: String?, role: String?
    ) throws {
        _ = try handle(method, path)
        let line = try lines.only()
        #expect(line["route"]?.text == route)
        #expect(line["role"]?.text == role)
    }
}
