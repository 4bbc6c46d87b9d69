internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Processes that are killed with a session attached: what they held is free after the grace period, not the lease.
    @Suite struct LostSessions {
        private static let scene = "lost"
        /// The longest lease; no test could wait for it.
        private static let long: JSONValue = ["scene": .string(scene), "leaseSeconds": 300, "ticketSeconds": 3600]

        private let daemon: DaemonProcess
        private let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            #expect(try client.declare([:], in: "lobby").status == 200)
        }

        @Test func `the next in line is granted when the process that holds the lock is killed`() throws {
            let views = try ["holder", "dead", "second", "third"].map { try ViewProcess($0, of: daemon) }
            for view in views { #expect(try view.attend("lobby").map(\.status) == [201]) }
            let held = try views[0].start(Self.long)
            #expect(held.status == 201)
            for (number, view) in views.enumerated().dropFirst() {
                view.park(Self.long)
                try #require(try client.isQueueLong(number, in: Self.scene))
            }
            let dead = try #require(try client.transitions(in: Self.scene, "&state=queued").first)

            try views[1].kill()
            #expect(try client.awaitEnd(of: dead["id"]).json.ending == "expired/session-lost")
            #expect(try client.record(of: held["id"])["state"] == "running")
            try views[0].kill()
            let second = try views[2].answer()
            #expect(second.status == 201)
            #expect(second["fence"].integer == held["fence"].integer.map { $0 + 1 })
            #expect(try client.record(of: held["id"]).json.ending == "expired/session-lost")

            #expect(try client.queuedCount(in: Self.scene) == 1)
            #expect(try views[2].end(second).status == 200)
            let third = try views[3].answer()
            #expect(third.status == 201)
            #expect(third["fence"].integer == second["fence"].integer.map { $0 + 1 })
        }

        @Test func `a session lives as long as one of its streams is open, and everything with it`() throws {
            let view = try ViewProcess("view", of: daemon)
            let sessions = try view.attend("lobby", count: 2)
            let header = "Arbiter-Session: \(sessions[0]["token"].string ?? "")"
            view.ask("POST", "/transitions/serialize", Self.long)
            let (held, other) = (try view.answer(), try view.answer())
            #expect(held.status == 201)
            #expect(other.status == 202)
            let next = try client.serialize(Self.long)
            let stream = try daemon.follow("lobby", headers: [header])
            try stream.receiveComments(1)

            try view.kill()
            // When the other session is lost, the first would be too if it had no stream left.
            #expect(try client.awaitEnd(of: other["id"]).json.ending == "expired/session-lost")
            #expect(try client.record(of: held["id"])["state"] == "running")
            #expect(try client.post("/sessions/renew", headers: [header]).status == 200)
            stream.client.close()
            #expect(try client.awaitEnd(of: held["id"]).json.ending == "expired/session-lost")
            #expect(try client.post("/sessions/renew", headers: [header]).status == 401)
            #expect(try client.record(of: next["id"])["state"] == "running")
        }

        @Test func `a thousand sessions killed at once are gone with all they held, and others are served`() throws {
            let (processes, each) = (4, 250)
            let views = try (0..<processes).map { try ViewProcess("crowd-\($0)", of: daemon) }
            var tokens: [JSONValue] = []
            // All at once: a connection whose first request does not come for ten seconds is closed.
            for view in views { view.beginToAttend("lobby", count: each) }
            for view in views { tokens += try view.answers(each).map(\.["token"]) }
            #expect(Set(tokens).count == processes * each)
            for view in views { view.ask("POST", "/transitions/serialize", Self.long) }
            for view in views {
                for answer in try view.answers(each) { #expect([201, 202].contains(answer.status)) }
            }
            #expect(try client.queuedCount(in: Self.scene) == processes * each - 1)
            let survivor = try daemon.connect()
            try survivor.park(Self.long, wait: 120)
            try #require(try client.isQueueLong(processes * each, in: Self.scene))

            for view in views { view.beginToKill() }
            for view in views { try view.waitForExit() }
            var served = 0
            let isOver = try eventually {
                let other = try client.start(["scene": "others"])
                guard other.status == 201, try client.end(other).status == 200 else { return false }
                served += 1
                return survivor.hasAnswer
            }
            #expect(isOver)
            #expect(served > 1)

            #expect(try survivor.receive().status == 201)
            #expect(try client.queuedCount(in: Self.scene) == 0)
            let list = try client.transitions(in: Self.scene)
            #expect(list.count { $0.ending == "expired/session-lost" } == processes * each)
            #expect(list.last?["state"] == "running")
            for token in tokens {
                let header = "Arbiter-Session: \(token.string ?? "")"
                #expect(try client.post("/sessions/renew", headers: [header]).status == 401)
            }
            #expect(try client.get("/readyz").status == 200)
        }
    }
}
