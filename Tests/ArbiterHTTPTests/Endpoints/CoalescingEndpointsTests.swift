import Testing

@testable import ArbiterHTTP

/// `coalesce`, as seen by the owners of both tickets.
struct CoalescingEndpointsTests {
    private let service: Service
    private let holder: Owned
    private static let latest = #"{"coalesce": {"key": "selection"}}"#
    private static let first = #"{"coalesce": {"key": "selection", "keep": "first"}}"#

    init() throws {
        service = try Service()
        holder = try service.started()
    }

    @Test func `the latest takes the place of the older, whose owner is told`() throws {
        let older = service.send(
            "POST", "/transitions/serialize", #"{"coalesce": {"key": "selection"}, "wait": 60}"#)
        let behind = try service.serialized()
        let newer = try service.serialized(#"{"coalesce": {"key": "other"}}"#)
        #expect(newer.answer.body["position"] == 3)
        try service.ask("POST", "/transitions/end", behind.acting(#""outcome": "cancelled""#))
        try service.ask("POST", "/transitions/end", newer.acting(#""outcome": "cancelled""#))

        let winner = try service.serialized(Self.latest)
        #expect(winner.answer.status == 202)
        #expect(winner.answer.body["position"] == 1)
        #expect(winner.answer.body["coalesce"] == ["key": "selection", "keep": "latest"])
        let loser = try older.answer()
        #expect(loser.status == 200)
        #expect(loser.body["outcome"] == "superseded")
        #expect(loser.body["supersededBy"]?.text == winner.id)
        #expect(loser.body["reason"] == nil)
        let acted = try service.ended(try Owned(loser))
        #expect(acted.status == 410 && acted.code == "superseded")
        #expect(acted.body["detail"]?.text?.contains("superseded (by \(winner.id))") == true)
        #expect(acted.body["transition"]?["supersededBy"]?.text == winner.id)
        try service.ended(holder)
        #expect(try service.shown(winner)["state"] == "running")
    }

    @Test func `where the first stays the newer is answered at once, with who that is`() throws {
        let older = try service.serialized(Self.first)
        let newer = try service.send(
            "POST", "/transitions/serialize",
            #"{"coalesce": {"key": "selection", "keep": "first"}, "wait": 60}"#
        ).answer()
        #expect(newer.status == 200)
        #expect(newer.body["state"] == "ended")
        #expect(newer.body["outcome"] == "superseded")
        #expect(newer.body["supersededBy"]?.text == older.id)
        #expect(newer.body["token"]?.text?.count == 32)
        #expect(newer.body["fence"] == nil)
        #expect(try service.shown(older)["position"] == 1)
    }

    @Test func `never across another that is in the way`() throws {
        let older = try service.serialized(Self.latest)
        try service.serialized()
        let newer = try service.serialized(Self.latest)
        #expect(try service.shown(older)["state"] == "queued")
        #expect(newer.answer.body["position"] == 3)
    }

    @Test func `a start is not coalesced`() throws {
        let older = try service.serialized(Self.latest)
        #expect(try service.ask("POST", "/transitions/start", Self.latest).code == "busy")
        #expect(try service.shown(older)["state"] == "queued")
    }

    @Test func `a ticket that is released or ended stays`() throws {
        let released = try service.serialized(
            #"{"coalesce": {"key": "a"}, "interactive": true}"#)
        try service.ask("POST", "/transitions/release", released.acting(#""decision": "finish""#))
        let ended = try service.serialized(#"{"coalesce": {"key": "b"}}"#)
        try service.ended(ended)
        for key in ["a", "b"] {
            let newer = try service.serialized(#"{"coalesce": {"key": "\#(key)"}}"#)
            #expect(newer.answer.body["state"] == "queued")
        }
        #expect(try service.shown(released)["state"] == "queued")
        #expect(try service.shown(ended)["state"] == "queued")
    }

    @Test func `a burst takes one place, also where the queue is full`() throws {
        for _ in 0..<20 { try service.serialized(Self.latest) }
        let scene = try service.ask("GET", "/scenes/main").body
        #expect(scene["runningCount"] == 1)
        #expect(scene["queuedCount"] == 1)
    }
}
