import ArbiterEngine
import ArbiterRelay
import Testing

@testable import ArbiterClient

/// Streams of events whose reader is slow, and events that cannot be read.
struct EventStreamTests {
    @Test func `no event is lost by a reader for whom too many lines wait`() async throws {
        let transport = Flood(events: 12, lineLimit: 9)
        let arbiter = Arbiter(transport, token: nil, client: nil, patience: .zero, headers: [:])
        var ids: [String] = []
        for try await event in arbiter.scene().events(since: "0") {
            ids.append(try #require(event.id))
            if ids.count == 12 { break }
        }
        #expect(ids == (1...12).map { "\($0)" })
        // Of nine lines, two events are whole.
        #expect(transport.resumedAfter == stride(from: 0, to: 12, by: 2).map { "\($0)" })
    }

    @Test func `a stream ends with the lines for which there is room, and with an error`() async throws {
        let (stream, sink) = LineSink.makeStream(limit: 3)
        let ends = Guarded(0)
        sink.whenOver { ends.withLock { $0 += 1 } }
        sink.add(["1", "2"])
        sink.add(["3", "4"])
        // It is over.
        sink.add(["5"])
        sink.end()
        #expect(ends.withLock { $0 } == 1)
        var lines: [String] = []
        await #expect(throws: ClientError.self) { for try await line in stream { lines.append(line) } }
        #expect(lines == ["1", "2", "3"])
        // Who asks later is told, too.
        sink.whenOver { ends.withLock { $0 += 1 } }
        #expect(ends.withLock { $0 } == 2)
    }

    @Test func `what a resumed stream repeats is left out`() {
        var repeats = RepeatedEvents()
        func isNew(_ scene: String, _ number: Double?, _ name: String = "transition.ended") -> Bool {
            var data: [String: JSONValue] = ["scene": .string(scene)]
            if let number { data["number"] = .number(number) }
            return repeats.isNew(ArbiterEvent(name: name, data: .object(data), id: nil))
        }
        for (scene, number) in [("a", 1.0), ("b", 1), ("a", 2)] { #expect(isNew(scene, number)) }
        // Resumed a little before its end.
        let again = [("a", 2.0), ("b", 1), ("b", 2), ("a", 3)].map { isNew($0, $1) }
        #expect(again == [false, false, true, true])
        // What is momentary has no number.
        #expect(isNew("a", nil, "transition.progress"))
        // A reset counts anew: also a scene that it does not name.
        #expect(isNew("a", 1, "reset"))
        #expect(isNew("", nil, "reset.end"))
        let anew = [("a", 1.0), ("a", 2), ("b", 1)].map { isNew($0, $1) }
        #expect(anew == [false, true, true])
    }

    @Test func `an event with too many levels ends the stream, and says so`() async throws {
        let deep = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)
        let arbiter = Arbiter(
            Flood(events: 1, lineLimit: 100, data: deep), token: nil, client: nil, patience: .zero, headers: [:])
        let error = await #expect(throws: ClientError.self) { for try await _ in arbiter.scene().events() {} }
        guard case .refused(let refusal) = error else { throw error ?? .closed }
        #expect(refusal.code == "too-deep")
        #expect(refusal.detail == "the event 1 has 513 levels of objects and arrays, and this client reads 512 at most")
    }

    @Test(arguments: [
        ("", "cut off"), ("{\"a\": [1", "cut off"), ("{\"a", "cut off"), ("<html>", "no JSON"), ("{} {}", "no JSON"),
    ]) func `what is cut off is told from what is no JSON`(text: String, reason: String) {
        #expect(throws: ClientError.unreachable("the answer is \(reason)")) {
            try WireDocument.read(text.utf8, named: "the answer")
        }
    }

    @Test func `512 levels can be read`() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        _ = try WireDocument.read(text.utf8, named: "it")
        #expect(WireDocument.levels(of: #"{"[\"": ["{"]}"#.utf8) == (2, true))
    }
}

/// A daemon that sends all its events at once, to each stream those after `Last-Event-ID`.
private final class Flood: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    private let count: Int
    private let lineLimit: Int
    private let data: String
    private let resumed = Guarded<[String]>([])

    init(events count: Int, lineLimit: Int, data: String = "{}") {
        (self.count, self.lineLimit, self.data) = (count, lineLimit, data)
    }

    /// The ids that streams were resumed after.
    var resumedAfter: [String] { resumed.withLock { $0 } }

    func send(_ request: WireRequest) async throws -> WireAnswer { throw ClientError.unreachable("a test") }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        let last = request.headers["Last-Event-ID"] ?? "0"
        resumed.withLock { $0.append(last) }
        let (stream, sink) = LineSink.makeStream(limit: lineLimit)
        for number in (Int(last) ?? 0) + 1..<count + 1 {
            sink.add(["id: \(number)", "event: transition.ended", "data: \(data)", ""])
        }
        return stream
    }
}

struct EventParserTests {
    @Test func `the id with which a stream begins is resumed after, though it is no event`() throws {
        var parser = EventParser()
        #expect(try ["id: 12", "", "event: x"].allSatisfy { try parser.take($0) == nil })
        #expect(parser.lastID == "12")
        #expect(try ["data: 1", ""].compactMap { try parser.take($0) }.map(\.id) == [nil])
        #expect(parser.lastID == "12")
    }

    @Test func `events are made of lines`() throws {
        var parser = EventParser()
        let lines = [
            ": connected", "retry: 1000", "", "id: 7", "event: transition.ended", "data: {\"id\":", "data: \"t\"}", "",
            "event: x", "data:1", "", "event: nothing", "",
        ]
        let events = try lines.compactMap { try parser.take($0) }
        #expect(parser.lastID == "7")
        #expect(
            events == [
                ArbiterEvent(name: "transition.ended", data: ["id": "t"], id: "7"),
                ArbiterEvent(name: "x", data: 1, id: nil),
            ])
    }
}
