import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `GET /events`: the events of all scenes in one stream.
struct AllEventsTests {
    private let service: Service

    init() throws {
        service = try Service(tellsEvents: true)
    }

    private func follow(_ query: String = "", headers: [HeaderName: String] = [:]) -> RecordingExchange {
        let exchange = service.send("GET", "/events" + query, headers: headers)
        service.hub.settle()
        return exchange
    }

    /// What can be sent now.
    private func read(_ exchange: RecordingExchange) throws -> EventText {
        service.hub.settle()
        let source = try #require(exchange.source)
        var text = EventText()
        while case .bytes(let bytes) = source.read(upTo: 4096) { text.append(bytes) }
        return text
    }

    @Test func `every scene's events come in the order in which they happened, each with its scene and number`() throws
    {
        let stream = follow()
        let (a, b) = (try service.started(#"{"scene": "a"}"#), try service.started(#"{"scene": "b"}"#))
        _ = try service.ended(b)
        _ = try service.ended(a)
        let events = try read(stream).events
        #expect(
            events.map(\.name) == ["transition.running", "transition.running", "transition.ended", "transition.ended"])
        #expect(events.map { $0.json["scene"].string } == ["a", "b", "b", "a"])
        #expect(events.map { $0.json["number"].integer } == [1, 1, 2, 2])
    }

    @Test func `a stream is resumed behind any event that it sent`() throws {
        let first = follow()
        for scene in ["a", "b", "c"] { _ = try service.started(#"{"scene": "\#(scene)"}"#) }
        var cursors: [String] = []
        let source = try #require(first.source)
        service.hub.settle()
        var text = EventText()
        while case .bytes(let bytes) = source.read(upTo: 1) {
            text.append(bytes)
            if !text.takeEvents().isEmpty { cursors.append(try #require(text.lastID)) }
        }
        #expect(Set(cursors).count == 3)
        source.close()
        for (index, cursor) in cursors.enumerated() {
            for stream in [follow("?since=\(cursor)"), follow(headers: [.lastEventID: cursor])] {
                let rest = try read(stream).events.map { $0.json["scene"].string }
                #expect(rest == Array(["a", "b", "c"].dropFirst(index + 1)))
            }
        }
    }

    @Test func `where the past is gone every scene is reset, and the stream goes on`() throws {
        _ = try service.started(#"{"scene": "a"}"#)
        let b = try service.started(#"{"scene": "b"}"#)
        _ = try service.serialized(#"{"scene": "b"}"#)
        let stream = follow("?since=c999")
        let text = try read(stream)
        #expect(text.events.map(\.name) == ["reset", "reset", "reset.end"])
        #expect(text.events.last?.json == ["scenes": 2])
        let resets = text.events.dropLast().map(\.json)
        #expect(resets.map { $0["scene"].string } == ["a", "b"])
        #expect(resets.map { $0["runningCount"].integer } == [1, 1])
        #expect(resets.map { $0["queuedCount"].integer } == [0, 1])
        #expect(resets.map { $0["number"].integer } == [1, 3])
        let cursor = try #require(text.lastID)
        _ = try service.ended(b)
        let expected = ["transition.ended", "transition.running"]
        #expect(try read(stream).events.map(\.name) == expected)
        #expect(try read(follow("?since=\(cursor)")).events.map(\.name) == expected)
    }

    @Test func `where there is no scene a reader that begins anew is told so, and gets a cursor`() throws {
        let text = try read(follow("?since=c999"))
        #expect(text.events.map(\.name) == ["reset.end"])
        #expect(text.events.first?.json == ["scenes": 0])
        #expect(text.lastID == "c0")
    }

    @Test func `a reader that begins anew while the journal is unavailable is at the end`() throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        service.send("POST", "/transitions/start")
        journal.fail(JournalError(reason: "The disk is full."))
        let stream = service.send("GET", "/events?since=c999")
        service.hub.settle()
        #expect(try stream.events().isEmpty)
        #expect(stream.source?.read(upTo: 4096) == .end)
    }

    @Test func `a new stream says its cursor before anything happens`() throws {
        _ = try service.started(#"{"scene": "a"}"#)
        let first = try read(follow())
        #expect(first.events.isEmpty)
        let cursor = try #require(first.lastID)
        _ = try service.started(#"{"scene": "b"}"#)
        #expect(try read(follow("?since=\(cursor)")).events.map { $0.json["scene"].string } == ["b"])
    }

    @Test(arguments: ["", "3", "c", "c-1", "cx", "C3", "c18446744073709551616", "c٣"])
    func `what is no cursor is refused`(value: String) throws {
        let encoded = value.utf8.map { "%" + String($0, radix: 16) }.joined()
        for (exchange, field) in [
            (follow("?since=\(encoded)"), "since"), (follow(headers: [.lastEventID: value]), "Last-Event-ID"),
        ] {
            let answer = try exchange.answer()
            #expect(answer.status == 400)
            #expect(answer.code == "invalid-field")
            #expect(answer.field == field)
        }
    }

    @Test func `a session lives by a stream of all scenes too`() throws {
        let session = try service.ask("POST", "/sessions", #"{"ttlSeconds": 1}"#)
        let token = try #require(session.body["token"]?.text)
        let stream = follow(headers: [.session: token])
        #expect(try stream.answer().status == 200)
        service.pass(.seconds(60))
        #expect(try service.ask("POST", "/sessions/renew", headers: [.session: token]).status == 200)
        stream.source?.close()
        service.pass(.seconds(2))
        #expect(try service.ask("POST", "/sessions/renew", headers: [.session: token]).status == 401)
        #expect(try follow(headers: [.session: token]).answer().status == 401)
    }

    @Test func `a finger's moves are told to those who are there`() throws {
        let stream = follow()
        let drag = try service.started(#"{"scene": "a", "interactive": true}"#)
        _ = try service.ask("POST", "/transitions/progress", drag.acting(#""fraction": 0.5"#))
        let moved = try #require(try read(stream).events.last)
        #expect(moved.name == "transition.progress")
        #expect(moved.json["scene"].string == "a")
        #expect(moved.json["number"] == .null)
    }
}
