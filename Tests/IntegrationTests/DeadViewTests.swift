internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Views that are killed or paused in critical moments.
    @Suite struct DeadViews {
        let daemon: DaemonProcess
        let client: WireClient
        let next: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            next = try daemon.connect()
        }

        @Test func `the lock of a view that was killed goes on when its lease runs out`() throws {
            let view = try ViewProcess("doomed", of: daemon)
            let held = try view.request("POST", "/transitions/start", ["client": "doomed", "leaseSeconds": 0.3])
            #expect(held.status == 201)
            try next.park()
            try view.kill()

            let granted = try next.receive()
            #expect(granted.status == 201)
            let record = try client.record(of: held["id"])
            #expect(record.json.ending == "expired/lease")
            #expect(record["fence"] == held["fence"])
            #expect(granted["fence"].integer == held["fence"].integer.map { $0 + 1 })
        }

        @Test func `a view killed while parked is out of the queue at once`() throws {
            let holder = try client.start()
            let view = try ViewProcess("doomed", of: daemon)
            view.ask("POST", "/transitions/serialize", ["client": "doomed", "wait": 60])
            try #require(try client.isQueueLong(1))
            let ticket = try #require(try client.transitions(in: "main", "&client=doomed").first)
            try next.park()
            try #require(try client.isQueueLong(2))

            try view.kill()
            // Long before the ticket's thirty seconds or the wait's fifteen have passed.
            #expect(try client.awaitEnd(of: ticket["id"]).json.ending == "expired/abandoned")
            #expect(try client.queuedCount() == 1)
            #expect(!next.hasAnswer)

            #expect(try client.end(holder).status == 200)
            let granted = try next.receive()
            #expect(granted.status == 201)
            // The fence follows the holder's directly: the dead client never had the lock.
            #expect(granted["fence"].integer == holder["fence"].integer.map { $0 + 1 })
        }

        @Test func `a view killed before it awaits loses its turn when its first lease runs out`() throws {
            let holder = try client.start()
            let view = try ViewProcess("doomed", of: daemon)
            let ticket = try view.request("POST", "/transitions/serialize", ["client": "doomed", "leaseSeconds": 0.3])
            #expect(ticket.status == 202)
            try next.park()
            try #require(try client.isQueueLong(2))
            try view.kill()

            #expect(try client.end(holder).status == 200)
            let granted = try next.receive()
            #expect(granted.status == 201)
            let record = try client.record(of: ticket["id"])
            #expect(record.json.ending == "expired/unclaimed")
            #expect(granted["fence"].integer == record["fence"].integer.map { $0 + 1 })
        }

        @Test func `five dead waiters cost nothing more`() throws {
            let holder = try client.start()
            let views = try (1...5).map { try ViewProcess("doomed-\($0)", of: daemon) }
            for view in views { view.ask("POST", "/transitions/serialize", ["wait": 60]) }
            try #require(try client.isQueueLong(5))
            try next.park()
            try #require(try client.isQueueLong(6))

            for view in views { try view.kill() }
            try #require(try client.isQueueLong(1))
            #expect(try client.end(holder).status == 200)
            let granted = try next.receive()
            #expect(granted.status == 201)
            // No claim was waited for, so the dead client was granted nothing in between.
            #expect(granted["fence"].integer == holder["fence"].integer.map { $0 + 1 })
            let endings = try client.transitions().map(\.ending)
            #expect(endings.count { $0 == "expired/abandoned" } == 5)
        }

        @Test func `a view paused past its lease is told so when it goes on`() throws {
            let view = try ViewProcess("sleepy", of: daemon)
            let held = try view.request("POST", "/transitions/start", ["client": "sleepy", "leaseSeconds": 0.3])
            #expect(held.status == 201)
            try next.park()
            view.pause()
            // The first thing that it will do when it continues.
            view.ask("POST", "/transitions/end", ["id": held["id"], "token": held["token"]])

            let granted = try next.receive()
            #expect(granted.status == 201)
            view.resume()
            let late = try view.answer()
            #expect(late.status == 410)
            #expect(late["code"] == "expired")
            #expect(late["transition"].ending == "expired/lease")
            #expect(late["transition"]["id"] == held["id"])

            #expect(try client.record(of: granted["id"])["state"] == "running")
            // A resource can tell the two by their fences.
            #expect(try #require(granted["fence"].integer) > #require(held["fence"].integer))
        }
    }
}
