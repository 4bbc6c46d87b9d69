import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// One stream out of those of three shards, of which one node serves two.
final class GatheredEventsTests: Sendable {
    /// The stream of some shards, which says what the test has it say.
    private final class Part: StreamSource {
        let position: EventPosition?
        private let state = Guarded((text: "", ending: StreamPiece?.none, isClosed: false))

        init(_ position: EventPosition?) { self.position = position }

        var isClosed: Bool { state.withLock(\.isClosed) }

        func say(_ text: String) { state.withLock { $0.text += text } }
        func end(_ piece: StreamPiece) { state.withLock { $0.ending = piece } }

        /// A few bytes at a time, so that frames are torn.
        func read(upTo count: Int) -> StreamPiece {
            state.withLock { state in
                guard !state.text.isEmpty else { return state.ending ?? .nothing }
                let piece = Array(state.text.utf8.prefix(min(count, 7)))
                state.text = String(decoding: state.text.utf8.dropFirst(piece.count), as: UTF8.self)
                return .bytes(piece[...])
            }
        }

        func close() { state.withLock { $0.isClosed = true } }
    }

    private final class Parts: Sendable {
        let opened = Guarded<[String: [Part]]>([:])

        func open(_ name: String) -> GatheredEvents.Open {
            { [self] _, position in
                let part = Part(position)
                part.say(": connected\nretry: 1000\n\n")
                opened.withLock { $0[name, default: []].append(part) }
                return part
            }
        }

        /// The stream that was opened last.
        func last(_ name: String) throws -> Part { try #require(opened.withLock { $0[name]?.last }) }
        func count(_ name: String) -> Int { opened.withLock { $0[name]?.count ?? 0 } }
    }

    private let parts = Parts()
    private let clock = Guarded(ContinuousClock.now)
    private let closings = Guarded<[Bool]>([])

    private func stream(after cursor: String? = nil) throws -> GatheredEvents {
        let position = try cursor.map { try #require(EventPosition($0, shards: 3)) }
        return GatheredEvents(
            [([0], parts.open("own")), ([1, 2], parts.open("other"))], after: position, of: 3,
            now: { [self] in clock.withLock { $0 } },
            whenClosed: { [self] isCut in closings.withLock { $0.append(isCut) } })
    }

    /// Reads until there is nothing more.
    private func text(_ stream: GatheredEvents) -> String {
        var bytes: [UInt8] = []
        while case .bytes(let piece) = stream.read(upTo: 64) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func event(_ id: String?, _ name: String = "transition.ended", _ data: String = "{}") -> String {
        (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(data)\n\n"
    }

    @Test func `a new stream tells its place once it is known whole`() throws {
        let stream = try stream()
        #expect(text(stream) == ": connected\nretry: 1000\n\n")
        try parts.last("own").say("id: c0.5\n\n")
        #expect(!text(stream).contains("id:"))
        try parts.last("other").say("id: c1.7-2.9\n\n")
        #expect(text(stream).hasSuffix("id: c0.5-1.7-2.9\n\n"))
    }

    @Test func `events have no ids, and the place is told at most once a second`() throws {
        let stream = try stream(after: "c0.5-1.7-2.9")
        #expect(text(stream).hasSuffix("id: c0.5-1.7-2.9\n\n"))
        clock.withLock { $0 += .seconds(1) }
        try parts.last("own").say(event("c0.6"))
        #expect(text(stream) == event(nil) + "id: c0.6-1.7-2.9\n\n")
        clock.withLock { $0 += .seconds(1) }
        try parts.last("other").say(event("c2.10", "hierarchy.changed"))
        let first = text(stream)
        #expect(first == event(nil, "hierarchy.changed") + "id: c0.6-1.7-2.10\n\n")
        try parts.last("own").say(event("c0.7"))
        #expect(text(stream) == event(nil))
        clock.withLock { $0 += .seconds(1) }
        try parts.last("own").say(event("c0.8"))
        // The place is that behind what has been sent.
        #expect(text(stream) == "id: c0.7-1.7-2.10\n\n" + event(nil))
    }

    @Test func `each part continues where the reader's stream ended`() throws {
        _ = try stream(after: "c0.5-2.9")
        #expect(try parts.last("own").position?.text(ofShards: 3) == "c0.5")
        // Where a place is not known, there is no such event, which means a reset.
        #expect(try parts.last("other").position?.text(ofShards: 3) == "c1.\(UInt64.max)-2.9")
    }

    @Test func `the reset of one part is that of all`() throws {
        let stream = try stream(after: "c0.5-1.7-2.9")
        let own = try parts.last("own")
        own.say(event("c0.6"))
        try parts.last("other").say(event(nil, "reset", #"{"scene":"a"}"#) + event(nil, "reset", #"{"scene":"b"}"#))
        _ = text(stream)
        #expect(own.isClosed && parts.count("own") == 2 && parts.count("other") == 1)
        #expect(try parts.last("own").position?.text(ofShards: 3) == "c0.\(UInt64.max)")
        // The part that is through waits for the other one.
        try parts.last("other").say(event("c1.8-2.10", "reset.end", #"{"scenes":2}"#) + event("c1.9", "late"))
        #expect(text(stream) == "")
        try parts.last("own").say(event(nil, "reset", #"{"scene":"c"}"#))
        try parts.last("own").say(event("c0.20", "reset.end", #"{"scenes":1}"#))
        #expect(
            text(stream) == event(nil, "reset", #"{"scene":"c"}"#)
                + event("c0.20-1.8-2.10", "reset.end", #"{"scenes":3}"#) + event(nil, "late"))
    }

    @Test func `a part without scenes resets the others too`() throws {
        let stream = try stream(after: "c0.5-1.7-2.9")
        try parts.last("own").say(event("c0.20", "reset.end", #"{"scenes":0}"#))
        _ = text(stream)
        #expect(parts.count("other") == 2)
        try parts.last("other").say(event("c1.1-2.1", "reset.end", #"{"scenes":0}"#))
        #expect(text(stream) == event("c0.20-1.1-2.1", "reset.end", #"{"scenes":0}"#))
    }

    @Test func `comments of many parts are one`() throws {
        let stream = try stream(after: "c0.5-1.7-2.9")
        _ = text(stream)
        for name in ["own", "other"] { try parts.last(name).say(": keep-alive\n\n") }
        #expect(text(stream) == ": keep-alive\n\n")
    }

    @Test(arguments: [true, false]) func `the stream ends with any of its parts`(isCut: Bool) throws {
        let ending = isCut ? StreamPiece.cut : .end
        let stream = try stream(after: "c0.5-1.7-2.9")
        try parts.last("other").say(event("c1.8"))
        try parts.last("other").end(ending)
        #expect(text(stream).contains("transition.ended"))
        #expect(stream.read(upTo: 64) == ending)
        stream.close()
        #expect(try parts.last("own").isClosed && parts.last("other").isClosed)
        #expect(closings.withLock(\.self) == [false])
    }

    @Test func `a client that closes it closes every part`() throws {
        let stream = try stream()
        stream.close()
        #expect(try parts.last("own").isClosed && parts.last("other").isClosed)
        #expect(closings.withLock(\.self) == [true])
    }

    @Test(arguments: ["", "c", "41", "c1", "c3.1", "c0.1-0.2", "c0.-1", "c0.1,", "c0", "cx.1"])
    func `what is no place in a stream of three shards is refused`(text: String) {
        #expect(EventPosition(text, shards: 3) == nil)
    }
}
