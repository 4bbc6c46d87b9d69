import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `GET /scenes/{scene}/events`, without the connection.
struct EventEndpointsTests {
    private let service: Service
    /// It runs, and began with the scene's fifth event.
    private let holder: Owned
    private static let target = "/scenes/main/events"

    init() throws {
        service = try Service(tellsEvents: true)
        for _ in 0..<2 { try service.ended(try service.started()) }
        holder = try service.started()
    }

    private func follow(_ query: String = "", headers: [HeaderName: String] = [:]) -> RecordingExchange {
        let exchange = service.send("GET", Self.target + query, headers: headers)
        service.hub.settle()
        return exchange
    }

    /// What can be sent now.
    private func events(_ exchange: RecordingExchange) throws -> [ReceivedEvent] {
        let source = try #require(exchange.source)
        var text = EventText()
        while case .bytes(let bytes) = source.read(upTo: 4096) { text.append(bytes) }
        return text.events
    }

    @Test func `a stream is answered with its head at once`() throws {
        let exchange = follow(headers: [.requestID: "r-1"])
        let answer = try exchange.answer()
        #expect(answer.status == 200)
        #expect(answer.response.contentType?.rawValue == "text/event-stream")
        #expect(answer.headers("X-Request-Id") == ["r-1"])
        #expect(answer.headers("Arbiter-Heartbeat-Seconds") == ["15"])
        #expect(answer.headers("X-Accel-Buffering") == ["no"])
        #expect(exchange.reservations == 1)
        #expect(try events(exchange) == [])
        try service.ended(holder)
        service.hub.settle()
        #expect(exchange.wakes == 1)
        #expect(try events(exchange).numbers == [6])
    }

    @Test func `a stream is resumed behind the event that is named`() throws {
        #expect(try events(follow("?since=3")).numbers == [4, 5])
        #expect(try events(follow(headers: [.lastEventID: "3"])).numbers == [4, 5])
        #expect(try events(follow("?since=%33")).numbers == [4, 5])
        #expect(try events(follow("?since=5")) == [])
    }

    @Test func `the header field counts more than the query`() throws {
        #expect(try events(follow("?since=0", headers: [.lastEventID: "4"])).numbers == [5])
    }

    @Test func `where the event is not known the scene is told whole`() throws {
        let events = try events(follow("?since=17"))
        #expect(events.map(\.name) == ["reset"])
        #expect(events.numbers == [5])
        #expect(events.first?.json["name"] == "main")
    }

    @Test(arguments: ["", "-1", "+1", "1.0", "0x1", "x", " 1", "18446744073709551616", "٣"])
    func `what is no number of an event is refused`(value: String) throws {
        let encoded = value.utf8.map { "%" + String($0, radix: 16).leftPadded }.joined()
        for (exchange, field) in [
            (follow("?since=\(encoded)"), "since"), (follow(headers: [.lastEventID: value]), "Last-Event-ID"),
            (follow("?since=\(encoded)", headers: [.lastEventID: "3"]), "since"),
        ] {
            let answer = try exchange.answer()
            #expect(answer.status == 400)
            #expect(answer.code == "invalid-field")
            #expect(answer.field == field)
            #expect(exchange.reservations == 0)
        }
    }

    @Test func `a parameter that there is not is refused`() throws {
        #expect(try follow("?after=3").answer().field == "after")
        #expect(try follow("?since=3&since=3").answer().field == "since")
    }

    @Test(arguments: ["%20", "a%2Fb"])
    func `a scene that cannot be there is not found`(name: String) throws {
        let answer = try service.ask("GET", "/scenes/\(name)/events")
        #expect(answer.status == 404)
        #expect(answer.code == "unknown-scene")
    }

    @Test(arguments: [("text/event-stream", 200), ("text/*", 200), ("*/*", 200), ("application/json", 406)])
    func `events are served as events only`(accept: String, status: Int) throws {
        #expect(try follow(headers: [.accept: accept]).answer().status == status)
    }

    @Test func `where there is no place left nobody follows`() throws {
        let full = RecordingExchange(hasPlace: false)
        service.send("GET", Self.target, to: full)
        #expect(try full.answer().code == "too-many-connections")
        #expect(full.source == nil)
    }

    @Test func `who asks for the head takes no place and follows nothing`() throws {
        let full = RecordingExchange(hasPlace: false)
        service.send("HEAD", Self.target, to: full)
        #expect(try full.answer().status == 200)
        #expect(full.reservations == 0)
        #expect(try full.answer().headers("Arbiter-Heartbeat-Seconds") == ["15"])
        #expect(try full.answer().headers("X-Accel-Buffering") == ["no"])
        #expect(full.source?.read(upTo: 100) == .end)
        #expect(try service.send("HEAD", "/scenes/%20/events").answer().status == 404)
    }

    @Test func `nobody begins to follow while the daemon drains`() throws {
        service.router.drain()
        #expect(try follow().answer().code == "draining")
    }

    @Test(arguments: ["GET", "HEAD"])
    func `a stream begins when everything before it is committed`(method: String) throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        service.send("POST", "/transitions/start")
        let exchange = service.send(method, Self.target)
        #expect(exchange.responses.isEmpty)
        journal.commit()
        #expect(try exchange.answer().status == 200)
    }

    @Test(arguments: ["GET", "HEAD"])
    func `nobody begins to follow a scene while the journal is unavailable`(method: String) throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        service.send("POST", "/transitions/start")
        let exchanges = [service.send(method, Self.target)]
        journal.fail(JournalError(reason: "The disk is full."))
        for exchange in exchanges + [service.send(method, Self.target)] {
            #expect(try exchange.answer().code == "journal-unavailable")
            #expect(exchange.source == nil)
        }
    }

    @Test func `the scene whole is what the scene shows`() throws {
        let service = try Service()
        try service.started()
        try service.serialized()
        let exchange = service.send("GET", "/scenes/main/events?since=3")
        service.hub.settle()
        let reset = try #require(try events(exchange).first)
        #expect(reset.name == "reset")
        let (told, shown) = (try JSON(Array(reset.data.utf8)), try service.ask("GET", "/scenes/main").body)
        #expect(told.names == shown.names.union(["scene", "number"]))
        for name in shown.names { #expect(told[name] == shown[name]) }
        #expect(told["scene"] == "main")
        #expect(told["number"]?.number == reset.id.map { Double($0) })
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
