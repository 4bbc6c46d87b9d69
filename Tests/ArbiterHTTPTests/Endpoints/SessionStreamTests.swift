import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Event streams that are attached to a session, and the events of sessions, gestures and participants.
struct SessionStreamTests {
    private let service: Service
    private static let target = "/scenes/main/events"

    init() throws {
        service = try Service(tellsEvents: true)
        try service.declared(Service.storyboard)
    }

    private func remaining(_ session: OwnedSession) throws -> JSON? {
        let answer = try service.ask("POST", "/sessions/renew", headers: session.headers)
        #expect(answer.status == 200)
        return answer.body["remaining"]
    }

    // MARK: Attaching

    @Test func `a session lives as long as its stream is open, and a grace longer`() throws {
        let session = try service.opened(#"{"ttlSeconds": 1}"#)
        let holder = try service.started(#"{"leaseSeconds": 300}"#, in: session)
        let stream = service.following(headers: session.headers)
        #expect(try stream.answer().status == 200)
        #expect(stream.reservations == 1)
        service.pass(.seconds(60))
        #expect(try service.shown(holder)["state"] == "running")
        #expect(try remaining(session) == nil, "it has no end while the stream is open")

        try #require(stream.source).close()
        service.pass(.milliseconds(1999))
        #expect(try service.shown(holder)["state"] == "running")
        service.pass(.milliseconds(1))
        #expect(try service.shown(holder)["reason"] == "session-lost")
    }

    @Test(arguments: ["/scenes/main/events", "/events"])
    func `a connection that is closed before its stream begins says nothing of its client`(target: String) throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        let opening = service.send("POST", "/sessions")
        journal.commit()
        let session = try OwnedSession(try opening.answer())
        service.send("POST", "/transitions/start", headers: session.headers)
        let stream = service.following(target, headers: session.headers)
        #expect(stream.responses.isEmpty, "the transition is not committed")
        stream.abandon()
        journal.commit()
        try #require(stream.source).close()
        // Its client may have said something since, over another connection.
        service.pass(.seconds(29))
        let renewing = service.send("POST", "/sessions/renew", headers: session.headers)
        journal.commit()
        #expect(try renewing.answer().status == 200)
    }

    @Test func `a session that attaches again within its grace goes on`() throws {
        let session = try service.opened()
        try service.started(in: session)
        let (first, second) = (service.following(headers: session.headers), service.following(headers: session.headers))
        try #require(first.source).close()
        service.pass(.seconds(60))
        #expect(try remaining(session) == nil, "another stream is open")
        try #require(second.source).close()
        service.pass(.seconds(1))
        let third = service.following(headers: session.headers)
        service.pass(.seconds(60))
        #expect(try remaining(session) == nil)
        try #require(third.source).close()
        #expect(try remaining(session) == 30, "a renew counts in the grace as well")
    }

    @Test(arguments: ["GET", "HEAD"])
    func `a session of which nobody knows attaches nothing`(method: String) throws {
        let exchange = service.send(method, Self.target, headers: [.session: nobodysToken])
        let answer = try exchange.answer()
        #expect(answer.status == 401 && answer.code == "unauthenticated" && answer.field == "Arbiter-Session")
        #expect(exchange.source == nil)
    }

    @Test func `who asks for the head attaches nothing`() throws {
        let session = try service.opened(#"{"ttlSeconds": 5}"#)
        let head = service.send("HEAD", Self.target, headers: session.headers)
        #expect(try head.answer().status == 200)
        #expect(try remaining(session) == 5)
        try #require(head.source).close()
        #expect(try remaining(session) == 5)
    }

    @Test func `a scene can be followed before it is used, and begun anew in once it is forgotten`() throws {
        let session = try service.opened()
        let stream = service.send("GET", "/scenes/other/events", headers: session.headers)
        #expect(try stream.answer().status == 200)
        try service.ask("POST", "/transitions/start", #"{"scene": "other"}"#)
        service.hub.settle()
        #expect(try stream.events().map(\.name) == ["transition.running"])
        let late = service.send("GET", "/scenes/another/events?since=41")
        service.hub.settle()
        #expect(try late.events().map(\.name) == ["reset"])
    }

    @Test func `a stream for which there is no place attaches nothing`() throws {
        let session = try service.opened()
        let full = service.send("GET", Self.target, headers: session.headers, to: RecordingExchange(hasPlace: false))
        #expect(try full.answer().code == "too-many-connections")
        #expect(try remaining(session) == 30)
    }

    @Test func `a stream by which a session lived is closed when that has ended, after its last event`() throws {
        let session = try service.opened(#"{"client": "detail"}"#)
        let holder = try service.started(in: session)
        let stream = service.following(headers: session.headers)
        try service.ask("POST", "/sessions/end", headers: session.headers)
        service.hub.settle()
        let events = try stream.events()
        #expect(events.map(\.name) == ["transition.ended", "session.ended"])
        let ended = try #require(events.last)
        #expect(ended.id == events.first?.id.map { $0 + 1 })
        let told = try JSON(Array(ended.data.utf8))
        #expect(told.names == ["scene", "session", "client", "reason", "number", "at"])
        #expect(told["session"]?.text == session.id)
        #expect(told["client"] == "detail")
        #expect(told["reason"] == "ended")
        #expect(try #require(stream.source).read(upTo: 4096) == .end)
        try #require(stream.source).close()
        #expect(try service.shown(holder)["reason"] == "session-lost")
    }

    @Test func `the streams of a session without scenes are closed too, and no others`() throws {
        let session = try service.opened()
        let own = [
            service.following(headers: session.headers), service.send("GET", "/events", headers: session.headers),
        ]
        let other = try service.opened()
        let others = [service.following(), service.following(headers: other.headers)]
        try service.ask("POST", "/sessions/end", headers: session.headers)
        service.hub.settle()
        for stream in own {
            _ = try stream.events()
            #expect(try #require(stream.source).read(upTo: 4096) == .end)
        }
        for stream in others {
            _ = try stream.events()
            #expect(try #require(stream.source).read(upTo: 4096) == .nothing)
        }
    }

    @Test func `a session whose stream the daemon cuts has its full time, not the grace`() throws {
        let session = try service.opened(#"{"ttlSeconds": 60}"#)
        let stream = service.following(headers: session.headers)
        // Its reader reads nothing, until more has happened than is kept for it.
        while !stream.isCut {
            try service.ended(try service.started())
            service.hub.settle()
        }
        try #require(stream.source).close()
        service.pass(.seconds(59))
        #expect(try service.ask("POST", "/sessions/renew", headers: session.headers).status == 200)
    }

    @Test func `a stream is told that its scene is deleted, and gets a reset when it is there again`() throws {
        let stream = service.following()
        try service.ask("DELETE", "/scenes/main")
        service.hub.settle()
        #expect(try stream.events().map(\.name) == ["scene.deleted"])
        try service.declared()
        service.hub.settle()
        #expect(try stream.events().map(\.name) == ["reset"])
        try service.started()
        service.hub.settle()
        #expect(try stream.events().map(\.name) == ["transition.running"])
    }

    // MARK: Events

    @Test func `fingers, participants and sessions are told in their order, and never a token`() throws {
        let stream = service.following()
        let master = try service.opened(#"{"client": "master"}"#)
        let detail = try service.opened(#"{"client": "detail"}"#)
        let owner = try service.started(
            #"{"interactive": true, "participants": ["master"], "animation": {"duration": 1}}"#, in: detail)
        let ticket = try service.serialized(#"{"coalesce": {"key": "k"}}"#, in: master)
        let loser = try service.serialized(#"{"coalesce": {"key": "k", "keep": "first"}}"#, in: master)
        try service.ask(
            "POST", "/transitions/ready", #"{"id": "\#(owner.id)", "client": "master"}"#, headers: master.headers)
        try service.ask(
            "POST", "/transitions/progress", owner.acting(#""fraction": 2, "velocity": 0.5, "sequence": 3"#))
        try service.ask("POST", "/transitions/progress", owner.acting(#""fraction": 0.1, "sequence": 3"#))
        try service.ask("POST", "/transitions/release", owner.acting())
        try service.ask("POST", "/sessions/end", headers: detail.headers)
        service.hub.settle()

        let events = try stream.events()
        #expect(
            events.map(\.name) == [
                "transition.preparing", "transition.queued", "transition.contended", "transition.ended",
                "transition.running", "transition.progress", "transition.released", "transition.ended", "session.ended",
                "transition.running",
            ])
        let numbers = events.compactMap(\.id)
        #expect(numbers == Array((numbers.first ?? 0)..<(numbers.first ?? 0) + 9), "one is momentary")
        let progress = try #require(events.first { $0.name == "transition.progress" })
        #expect(progress.id == nil)
        let moved = try JSON(Array(progress.data.utf8))
        #expect(moved.names == ["scene", "transition", "fraction", "velocity", "sequence", "at"])
        #expect(moved["fraction"] == 1)
        let released = try #require(events.first { $0.name == "transition.released" })
        let decided = try JSON(Array(released.data.utf8))
        #expect(decided["interaction"]?["decision"] == "finish")
        #expect(decided["session"]?.text == detail.id)
        let text = events.map(\.data).joined()
        for token in [master.token, detail.token, owner.token, ticket.token, loser.token] {
            #expect(!text.contains(token))
        }
        #expect(!text.contains("\"token\""))
    }
}
