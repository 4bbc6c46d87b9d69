internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Awaits: when they are answered, and what they keep alive.
    @Suite struct Waiting {
        let daemon: DaemonProcess
        let client: WireClient
        let waiter: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            waiter = try daemon.connect()
        }

        @Test func `a parked serialize is answered by the end before it`() throws {
            let holder = try client.start()
            try waiter.park()
            try #require(try client.isQueueLong(1))
            #expect(!waiter.hasAnswer)
            #expect(try client.end(holder).status == 200)
            let granted = try waiter.receive()
            #expect(granted.status == 201)
            #expect(granted["token"].string?.count == 32)
        }

        @Test func `a parked await is answered by the end before it`() throws {
            let holder = try client.start()
            let ticket = try waiter.serialize()
            #expect(ticket.status == 202)
            try waiter.send("POST", "/transitions/await", body: ticket.credentials.text)
            let watcher = try daemon.connect()
            try watcher.send("GET", "/transitions/await?id=\(ticket["id"].string ?? "")")
            try #require(try client.areParked(2))
            #expect(try client.end(holder).status == 200)
            for answer in [try waiter.receive(), try watcher.receive()] {
                #expect(answer.status == 200)
                #expect(answer["state"] == "running")
                #expect(answer["id"] == ticket["id"])
                #expect(answer["token"] == .null)
            }
        }

        @Test func `a wait that runs out says where the ticket stands, and keeps its place`() throws {
            let holder = try client.start()
            let before = try client.serialize()
            let ticket = try waiter.serialize(["wait": 0.1])
            #expect(ticket.status == 202)
            #expect(ticket["position"] == 2)
            let after = try client.serialize()

            let waited = try waiter.post("/transitions/await", ticket.credentials.adding(["wait": 0.1]))
            #expect(waited.status == 200)
            #expect(waited["state"] == "queued")
            #expect(waited["position"] == 2)
            #expect(waited["blockers"] == [holder["id"], before["id"]])
            #expect(try client.record(of: after["id"])["position"] == 3)
        }

        @Test func `strangers who wait keep no ticket alive`() throws {
            _ = try client.start()
            let ticket = try client.serialize(["ticketSeconds": 0.3])
            try waiter.send("GET", "/transitions/await?id=\(ticket["id"].string ?? "")&until=ended&wait=15")
            #expect(try waiter.receive().json.ending == "expired/abandoned")
        }

        @Test func `an owner who waits keeps its ticket alive`() throws {
            let holder = try client.start()
            try waiter.park(["client": "attended", "ticketSeconds": 0.2])
            try #require(try client.isQueueLong(1))
            let short = try client.serialize(["ticketSeconds": 0.2])
            // Both wait for the same ticket, and the younger wait has run out.
            #expect(try client.awaitEnd(of: short["id"]).json.ending == "expired/abandoned")
            #expect(try client.transitions(in: "main", "&state=queued").map { $0["client"] } == ["attended"])
            #expect(try client.end(holder).status == 200)
            #expect(try waiter.receive()["state"] == "running")
        }

        @Test func `a preference to wait is followed, and said to be`() throws {
            _ = try client.start()
            let ticket = try client.serialize()
            let preferring = try waiter.get(
                "/transitions/await?id=\(ticket["id"].string ?? "")", headers: ["Prefer: wait=1"])
            #expect(preferring.status == 200)
            #expect(preferring["state"] == "queued")
            #expect(preferring.header("Preference-Applied") == "wait=1")

            // The body takes precedence, so `Prefer` was not applied.
            let told = try waiter.post(
                "/transitions/serialize", ["wait": 0.1], headers: ["Prefer: respond-async, wait=60"])
            #expect(told.status == 202)
            #expect(told.header("Preference-Applied") == nil)
        }

        @Test func `who waits for what has come is answered at once`() throws {
            let held = try client.start()
            let running = try waiter.get("/transitions/await?id=\(held["id"].string ?? "")&until=running&wait=120")
            #expect(running["state"] == "running")
            _ = try client.end(held)
            #expect(try waiter.awaitEnd(of: held["id"], wait: 120).json.ending == "completed")
        }

        @Test func `an end is remembered until the ticket's turn`() throws {
            let holder = try client.start()
            let ticket = try waiter.serialize()
            #expect(try waiter.end(ticket)["state"] == "queued")
            try client.send("GET", "/transitions/await?id=\(ticket["id"].string ?? "")&until=ended&wait=15")
            try #require(try waiter.areParked(1))
            #expect(try waiter.end(holder).status == 200)
            let ended = try client.receive()
            #expect(ended.json.ending == "completed")
            #expect(ended["fence"].integer == holder["fence"].integer.map { $0 + 1 })
        }

        @Test func `a queue that waits too long lets a ticket go`() throws {
            _ = try client.start()
            let gone = try waiter.serialize(["queueSeconds": 0.2, "wait": 15])
            #expect(gone.status == 200)
            #expect(gone.json.ending == "expired/queue-timeout")
        }

        @Test func `one who closes its sending side while parked is gone`() throws {
            let holder = try client.start()
            try waiter.park()
            try #require(try client.isQueueLong(1))
            let ticket = try #require(try client.transitions(in: "main", "&state=queued").first)
            waiter.closeSending()
            #expect(try client.awaitEnd(of: ticket["id"]).json.ending == "expired/abandoned")
            // It closed its sending side, so it may get no answer, or the reason.
            if let told = try? waiter.receive() { #expect(told["code"] == "connection-closed") }
            #expect(waiter.isClosedByPeer())
            #expect(try client.record(of: holder["id"])["state"] == "running")
        }
    }
}
