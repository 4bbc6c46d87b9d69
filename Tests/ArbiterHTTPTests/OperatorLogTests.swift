import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Dispatch
import Logging
import Testing

@testable import ArbiterHTTP

/// What is logged at `info`, and what never is logged.
struct OperatorLogTests {
    private final class Lines: Sendable {
        private let written = Guarded([JSON]())

        func write(_ line: [UInt8]) {
            guard let line = try? JSON(line) else {
                Issue.record("\(line) is no JSON")
                return
            }
            written.withLock { $0.append(line) }
        }

        var all: [JSON] { written.withLock { $0 } }
    }

    private let lines = Lines()
    private let time = ManualTime()
    private let alarm: ManualAlarm
    private let engine: Engine
    private let router: Router

    init() throws {
        alarm = ManualAlarm(time: time)
        let lines = lines
        let logger = Logger(label: "test") { label in
            JSONLogHandler(label: label, logLevel: .info, time: ManualTime(), output: lines.write)
        }
        let log = OperatorLog(logger, time: time)
        var limits = Limits()
        limits.queuedPerScene = 1
        limits.sessions = 1
        engine = try Engine(
            limits: limits, journal: MemoryJournal(keepsRecords: false), time: time, alarm: alarm, observer: log.note)
        router = Router(shards: Shards(only: engine), hub: EventHub(), logger: logger, operatorLog: log)
    }

    @discardableResult
    private func ask(
        _ path: String, _ body: String = "{}", headers: [HeaderName: String] = [:], hasPlace: Bool = true
    ) throws -> Answer {
        let exchange = RecordingExchange(hasPlace: hasPlace)
        let fields: [HeaderName: String] = [.host: "localhost", .contentType: "application/json"]
        router.handle(
            Request(
                method: "POST", path: path, headers: DictionaryHeaders(fields: fields.merging(headers) { $1 }),
                body: Array(body.utf8)), exchange)
        return try exchange.answer()
    }

    private func pass(_ duration: Duration) {
        time.advance(by: duration)
        alarm.ringDue()
    }

    @Test func `requests that go well leave no line`() throws {
        let started = try Owned(try ask("/transitions/start", #"{"client": "menu"}"#))
        try ask("/transitions/serialize")
        try ask("/transitions/start")
        try ask("/transitions/end", started.acting())
        #expect(lines.all.isEmpty)
    }

    @Test func `an expiry is said with scene, client and id`() throws {
        let started = try Owned(try ask("/transitions/start", #"{"scene": "kiosk", "client": "menu"}"#))
        pass(.seconds(10))
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1)
        #expect(line["level"] == "info")
        #expect(line["message"] == "transition expired")
        #expect(line["scene"] == "kiosk")
        #expect(line["client"] == "menu")
        #expect(line["id"]?.text == started.id)
        #expect(line["reason"] == "lease")
        #expect(line["wasGranted"] == "true")
        #expect(line["wasApplied"] == "false")
    }

    @Test func `a revocation is said with its reason`() throws {
        let started = try Owned(try ask("/transitions/start"))
        try ask("/transitions/revoke", #"{"id": "\#(started.id)", "reason": "the menu hangs"}"#)
        #expect(lines.all.map { $0["message"] } == ["transition revoked"])
        #expect(lines.all.first?["reason"] == "the menu hangs")
    }

    @Test func `a client cannot put a token or a line of its own into the log`() throws {
        let client = "x\u{2028}FAKE \(Self.token)"
        let started = try Owned(try ask("/transitions/start", #"{"client": "\#(client)"}"#))
        try ask("/transitions/revoke", #"{"id": "\#(started.id)", "reason": "owner \#(started.token) hangs"}"#)
        try ask("/sessions", #"{"client": "\#(client)"}"#)
        pass(.seconds(30))
        #expect(lines.all.map { $0["client"] } == ["x?FAKE <token>", "x?FAKE <token>"])
        #expect(lines.all.first?["reason"] == "owner <token> hangs")
    }

    @Test func `a value that is no word stands in quotation marks`() throws {
        let written = Guarded([UInt8]())
        var logger = Logger(label: "test") { label in
            TextLogHandler(label: label, logLevel: .info, time: ManualTime()) { line in
                written.withLock { $0 = line }
            }
        }
        logger[metadataKey: "client"] = "a id=t-forged \"x\""
        logger.info("transition expired", metadata: ["id": "t-1", "empty": ""])
        #expect(
            String(decoding: written.withLock { $0 }, as: UTF8.self)
                == "2026-01-01T00:00:00.000Z info test: transition expired "
                + #"client="a id=t-forged \"x\"" empty="" id=t-1"# + "\n")
    }

    @Test func `a line that is longer than all the room is left out, and that is said`() throws {
        let written = Guarded([[UInt8]]())
        let queue = LogQueue { line in
            written.withLock { $0.append(line) }
        } noteLoss: { count in
            Array("left out: \(count)".utf8)
        }
        queue.append([UInt8](repeating: UInt8(ascii: "x"), count: LogQueue.waitingBytes + 1))
        queue.flush(within: .seconds(20))
        #expect(written.withLock { $0 } == [Array("left out: 1".utf8)])
    }

    @Test func `a log that nobody reads stops nothing, and says what it left out`() throws {
        let gate = DispatchSemaphore(value: 0)
        let written = Guarded([[UInt8]]())
        let queue = LogQueue { line in
            gate.wait()
            written.withLock { $0.append(line) }
        } noteLoss: { count in
            Array("left out: \(count)".utf8)
        }
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1024)
        let room = LogQueue.waitingBytes / line.count
        for _ in 0..<(room + 7) { queue.append(line) }
        for _ in 0..<(room + 2) { gate.signal() }
        queue.flush(within: .seconds(20))
        #expect(written.withLock { $0.count } == room + 1)
        #expect(written.withLock { $0.contains(Array("left out: 7".utf8)) })
        queue.append(line)
        queue.flush(within: .seconds(20))
        #expect(written.withLock { $0.count } == room + 2)
    }

    @Test func `a session that ends is told from one that is lost`() throws {
        let session = try ask("/sessions", #"{"client": "detail"}"#)
        let token = try #require(session.body["token"]?.text)
        try ask("/sessions/end", headers: [.session: token])
        try ask("/sessions", #"{"client": "master"}"#)
        pass(.seconds(30))
        #expect(lines.all.map { $0["message"] } == ["session ended", "session lost"])
        #expect(lines.all.map { $0["client"] } == ["detail", "master"])
        #expect(lines.all.first?["id"]?.text == session.body["id"]?.text)
    }

    @Test func `a refusal for want of room says who was refused, and a thousand more are one line`() throws {
        try ask("/transitions/start")
        try ask("/transitions/serialize", #"{"client": "first"}"#)
        for _ in 0..<1000 {
            #expect(try ask("/transitions/serialize", #"{"client": "greedy"}"#).status == 429)
        }
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1)
        #expect(line["code"] == "queue-full")
        #expect(line["scene"] == "main")
        #expect(line["client"] == "greedy")
        pass(OperatorLog.quietTime)
        #expect(try ask("/transitions/serialize", #"{"client": "greedy"}"#).status == 429)
        #expect(lines.all.count == 2)
        #expect(lines.all.last?["refusedSinceLastLine"] == "999")
    }

    @Test func `each want of room has a line of its own`() throws {
        try ask("/sessions")
        #expect(try ask("/sessions", #"{"client": "late"}"#).status == 429)
        try ask("/transitions/start")
        #expect(try ask("/transitions/serialize", #"{"wait": 1}"#, hasPlace: false).status == 503)
        #expect(lines.all.map { $0["code"] } == ["too-many-sessions", "too-many-connections"])
        #expect(lines.all.first?["client"] == "late")
    }

    @Test func `what a journal is replayed with is not told again`() throws {
        let journal = MemoryJournal(keepsRecords: true)
        let first = try Engine(journal: journal, time: time, alarm: alarm)
        first.openSession(client: ClientName("detail"), timeToLive: .seconds(1)) { _ in }
        pass(.seconds(2))
        let lines = lines
        let log = OperatorLog(
            Logger(label: "test") { JSONLogHandler(label: $0, logLevel: .info, output: lines.write) }, time: time)
        _ = try Engine(journal: journal, time: time, alarm: alarm, observer: log.note)
        #expect(lines.all.isEmpty)
    }

    // MARK: Tokens

    private static let token = "0123456789abcdefFEDCBA9876543210"
    private static let masked: [(String, String)] = [
        ("/transitions/\(token)", "/transitions/<token>"), ("r-\(token)-1", "r-<token>-1"),
        (token.utf8.map { "%" + String($0, radix: 16) }.joined(), "<token>"), ("/\(token)ff", "/<token>"),
        ("/transitions/t-7f3k9v0m2c5xq", "/transitions/t-7f3k9v0m2c5xq"), ("\u{1b}[2J", "?[2J"),
        (String(token.dropLast()), String(token.dropLast())), ("%zz\(token)%ff", "%zz<token>\u{fffd}"),
        (token.utf8.map { "%25" + String($0, radix: 16) }.joined(), "<token>"), ("a\u{2028}b\u{202e}c", "a?b?c"),
    ]

    @Test(arguments: masked)
    func `what looks like a token is masked wherever a client has put it`(text: String, logged: String) {
        #expect(loggable(text) == logged)
    }
}
