import Testing

@testable import ArbiterHTTP

/// Participants, `/transitions/ready`, and what answers show during the wait.
struct ParticipantEndpointsTests {
    private let service: Service
    private let master: OwnedSession

    init() throws {
        service = try Service()
        master = try service.opened(#"{"client": "master"}"#)
    }

    private func ready(_ owner: Owned, _ client: String, _ session: OwnedSession) throws -> Answer {
        try service.ask(
            "POST", "/transitions/ready", #"{"id": "\#(owner.id)", "client": "\#(client)"}"#, headers: session.headers)
    }

    @Test func `a transition with participants is preparing, and says who and until when`() throws {
        let owner = try service.started(
            #"{"participants": ["master", {"client": "clock", "required": false}], "onUnready": "abort"}"#)
        let body = owner.answer.body
        #expect(owner.answer.status == 201)
        #expect(body["state"] == "preparing")
        #expect(
            body["participants"] == [
                ["client": "master", "required": true, "state": "waiting"],
                ["client": "clock", "required": false, "state": "waiting"],
            ])
        #expect(body["laggards"] == [])
        #expect(body["readySeconds"] == 2)
        #expect(body["onUnready"] == "abort")
        #expect(body["fence"] == 1)
        #expect(body["leaseRemaining"] == 10)
        #expect(body["readyRemaining"] == 2)
        let none = try service.started(#"{"scene": "other", "participants": [], "readySeconds": 1}"#)
        #expect(none.answer.body["state"] == "running")
        #expect(none.answer.body.names.isDisjoint(with: ["participants", "laggards", "readySeconds", "onUnready"]))
    }

    @Test(arguments: [#", "reason": "it is not saved""#, ""])
    func `a veto says who and why`(reason: String) throws {
        let owner = try service.started(#"{"participants": [{"client": "master", "mayVeto": true}, "clock"]}"#)
        #expect(
            owner.answer.body["participants"]?[0]
                == ["client": "master", "required": true, "mayVeto": true, "state": "waiting"])
        let clock = try service.opened(#"{"client": "clock"}"#)
        let no = #"{"id": "\#(owner.id)", "ready": false\#(reason)}"#
        #expect(try service.ask("POST", "/transitions/ready", no, headers: clock.headers).code == "forbidden")
        let waiting = service.send("POST", "/transitions/await", owner.acting(#""until": "running""#))
        for _ in 0..<2 {
            let vetoed = try service.ask("POST", "/transitions/ready", no, headers: master.headers)
            #expect(vetoed.status == 200 && vetoed.body["outcome"] == "rejected")
            #expect(vetoed.body["reason"] == "vetoed" && vetoed.body["code"] == "vetoed")
            #expect(vetoed.body["vetoedBy"] == "master")
            #expect(vetoed.body["vetoReason"] == (reason.isEmpty ? nil : "it is not saved"))
        }
        #expect(try waiting.answer().body["reason"] == "vetoed")
        let late = try service.ask("POST", "/transitions/end", owner.acting())
        #expect(late.status == 410 && late.code == "rejected")
        #expect(try ready(owner, "master", master).code == "too-late")
    }

    @Test func `whoever is preparing holds the lock, for everyone to see`() throws {
        let owner = try service.started(#"{"client": "detail", "participants": ["master"]}"#)
        let scene = try service.ask("GET", "/scenes/main").body
        #expect(scene["runningCount"] == 1)
        #expect(scene["running"]?[0]?["id"]?.text == owner.id)
        #expect(scene["running"]?[0]?["state"] == "preparing")
        #expect(scene["queue"] == [])
        #expect(try service.ask("GET", "/transitions?state=preparing").body["transitions"]?.elements.count == 1)
        #expect(try service.ask("GET", "/transitions?state=running").body["transitions"] == [])
        let busy = try service.ask("POST", "/transitions/start")
        #expect(busy.code == "busy")
        #expect(busy.body["holder"]?["state"] == "preparing")
        let ticket = try service.serialized()
        #expect(ticket.answer.body["blockers"] == [.string(owner.id)])
    }

    @Test func `when the last one required is ready it runs, and whoever waits for that is told`() throws {
        let owner = try service.started(#"{"participants": ["master", "clock", {"client": "c", "required": false}]}"#)
        let granted = try service.ask("GET", "/transitions/await?id=\(owner.id)&until=granted")
        #expect(granted.body["state"] == "preparing")
        let running = service.send("GET", "/transitions/await?id=\(owner.id)&until=running")
        let owners = service.send("POST", "/transitions/await", owner.acting(#""until": "running""#))
        let clock = try service.opened(#"{"client": "clock"}"#)
        let first = try ready(owner, "master", master)
        #expect(first.status == 200 && first.body["state"] == "preparing")
        #expect(first.body["participants"]?[0]?["state"] == "ready")
        #expect(first.body["token"] == nil)
        #expect(try ready(owner, "master", master).body["state"] == "preparing", "twice is fine")
        #expect(running.responses.isEmpty && owners.responses.isEmpty)
        let last = try ready(owner, "clock", clock)
        #expect(last.status == 200 && last.body["state"] == "running")
        #expect(last.body["laggards"] == [])
        #expect(try running.answer().body["state"] == "running")
        #expect(try owners.answer().body["state"] == "running")
        try service.ended(owner)
        #expect(try ready(owner, "clock", clock).body["state"] == "ended", "and so it is afterwards")
    }

    @Test func `who is late is named, and refused`() throws {
        let owner = try service.started(#"{"participants": ["master"], "readySeconds": 0.5}"#)
        service.pass(.milliseconds(500))
        let shown = try service.shown(owner)
        #expect(shown["state"] == "running")
        #expect(shown["laggards"] == ["master"])
        let late = try ready(owner, "master", master)
        #expect(late.status == 409 && late.code == "too-late")
        #expect(late.body["transition"]?["laggards"] == ["master"])
        try service.ask("POST", "/sessions/end", headers: master.headers)
        #expect(try service.shown(owner)["laggards"] == ["master"], "whoever was missing was missing")
        try service.ended(owner)
        #expect(try service.shown(owner)["laggards"] == ["master"])
    }

    @Test func `a transition is given up for who is late, where that was asked`() throws {
        try service.declared()
        let owner = try service.started(
            #"{"participants": ["master"], "onUnready": "abort", "onExpiry": "complete", "operation": "#
                + #"{"type": "push", "navigation": "nav", "controller": "editor"}}"#)
        #expect(owner.answer.body["appearance"] == nil, "nothing is told before it runs")
        service.pass(.seconds(2))
        let shown = try service.shown(owner)
        #expect(shown["outcome"] == "expired" && shown["reason"] == "participants")
        #expect(shown["laggards"] == ["master"])
        #expect(shown.names.isDisjoint(with: ["appearance", "inserted", "removed"]))
        #expect(shown["revision"] == 1)
        let late = try ready(owner, "master", master)
        #expect(late.status == 409 && late.code == "too-late")
        let acted = try service.ended(owner)
        #expect(acted.status == 410 && acted.code == "expired")
    }

    @Test func `views are told of a transition that is completed before it ran, once`() throws {
        try service.declared()
        let owner = try service.started(
            #"{"participants": ["master"], "operation": "#
                + #"{"type": "push", "navigation": "nav", "controller": "editor"}}"#)
        let ended = try service.ended(owner)
        #expect(
            ended.body["appearance"]?.elements.map { $0["event"] }
                == ["willDisappear", "willAppear", "didDisappear", "didAppear"])
    }

    @Test func `who is gone is not waited for, who has never been is`() throws {
        let holder = try service.started()
        let ticket = try service.serialized(#"{"participants": ["master", "nobody"]}"#)
        try service.ask("POST", "/sessions/end", headers: master.headers)
        try service.ended(holder)
        let granted = try service.shown(ticket)
        #expect(granted["state"] == "preparing")
        #expect(granted["participants"]?.elements.map { $0["state"] } == ["gone", "waiting"])
        let nobody = try service.opened(#"{"client": "nobody"}"#)
        #expect(try ready(ticket, "nobody", nobody).body["state"] == "running")
        #expect(try service.shown(ticket)["laggards"] == [])
    }

    @Test func `a participant speaks in its own session, for itself, and when it is time`() throws {
        let holder = try service.started()
        let ticket = try service.serialized(#"{"participants": ["master"]}"#)
        let early = try ready(ticket, "master", master)
        #expect(early.status == 409 && early.code == "not-running")
        #expect(early.body["transition"]?["state"] == "queued")
        let call = "/transitions/await?id=\(ticket.id)&until=granted"
        #expect(
            early.body["detail"]
                == .string("\(ticket.id) is queued: wait first until it is granted, with /transitions/await."))
        let waiting = service.send("GET", call)
        let plain = try ready(holder, "master", master)
        #expect(plain.status == 403 && plain.code == "forbidden" && plain.field == "client")
        try service.ended(holder)
        #expect(try waiting.answer().body["state"] == "preparing")
        let (anonymous, clock) = (try service.opened(), try service.opened(#"{"client": "clock"}"#))
        for (client, session) in [("master", anonymous), ("master", clock), ("clock", clock), ("clock", master)] {
            let answer = try ready(ticket, client, session)
            #expect(answer.status == 403 && answer.code == "forbidden" && answer.field == "client")
        }
        let unknown = try service.ask(
            "POST", "/transitions/ready", #"{"id": "\#(ticket.id)", "client": "master"}"#,
            headers: [.session: nobodysToken])
        #expect(unknown.status == 401 && unknown.code == "unauthenticated")
        let missing = try service.ask(
            "POST", "/transitions/ready", #"{"id": "t-0000000000001", "client": "master"}"#, headers: master.headers)
        #expect(missing.status == 404 && missing.code == "unknown-transition")
        #expect(try service.shown(ticket)["state"] == "preparing")
    }

    @Test func `a participant need not say who it is, because its session does`() throws {
        let owner = try service.started(#"{"participants": ["master"]}"#)
        let ready = #"{"id": "\#(owner.id)"}"#
        let anonymous = try service.opened()
        let stranger = try service.ask("POST", "/transitions/ready", ready, headers: anonymous.headers)
        #expect(stranger.status == 403 && stranger.code == "forbidden" && stranger.field == "client")
        let answer = try service.ask("POST", "/transitions/ready", ready, headers: master.headers)
        #expect(answer.status == 200 && answer.body["state"] == "running")
    }

    @Test func `an owner may renew, release and end what is being prepared`() throws {
        let owner = try service.started(
            #"{"participants": ["master"], "readySeconds": 60, "interactive": true, "animation": {"duration": 1}}"#)
        service.pass(.seconds(9))
        #expect(try service.ask("POST", "/transitions/renew", owner.acting()).body["leaseRemaining"] == 10)
        let released = try service.ask(
            "POST", "/transitions/release", owner.acting(#""decision": "finish", "fraction": 0.25"#))
        #expect(released.body["state"] == "preparing")
        #expect(released.body["remaining"] == 0.75)
        service.pass(.seconds(9))
        #expect(try ready(owner, "master", master).body["leaseRemaining"] == 10)
        #expect(try service.ended(owner).body["outcome"] == "completed")
    }
}
