internal import ArbiterHTTP
internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// More connections than any user interface has views.
    @Suite struct Crowds {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            #expect(DescriptorLimit.raise(to: 4096) >= 4096)
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        /// Clients that send a request as soon as they are connected; who says nothing for ten seconds is disconnected.
        private func crowd(_ count: Int, asking ask: (WireClient, Int) throws -> Void) throws -> [WireClient] {
            try (0..<count).map { number in
                let client = try daemon.connect()
                try ask(client, number)
                return client
            }
        }

        @Test func `a thousand parked connections closed at once leave no ticket behind`() throws {
            let holder = try client.start(["leaseSeconds": 300])
            let waiters = try crowd(1000) { waiter, _ in try waiter.park(wait: 120) }
            try #require(try client.isQueueLong(1000))
            let tickets = try client.transitions(in: "main", "&state=queued")
            #expect(tickets.count == 1000)

            for (number, waiter) in waiters.enumerated() {
                if number.isMultiple(of: 2) { waiter.close() } else { waiter.reset() }
            }
            for ticket in tickets {
                #expect(try client.awaitEnd(of: ticket["id"]).json.ending == "expired/abandoned")
            }
            #expect(try client.queuedCount() == 0)
            #expect(try client.record(of: holder["id"])["state"] == "running")
            #expect(try client.end(holder).status == 200)
            #expect(try client.start().status == 201)
            #expect(try daemon.connect().get("/readyz").status == 200)
        }

        @Test func `two thousand parked connections are all woken by one end`() throws {
            let holder = try client.start(["leaseSeconds": 300])
            let waiters = try crowd(2000) { waiter, _ in
                try waiter.send("GET", "/transitions/await?id=\(holder["id"].string ?? "")&until=ended&wait=120")
            }
            try #require(try client.areParked(2000))
            #expect(waiters.allSatisfy { !$0.hasAnswer })
            #expect(try client.end(holder).status == 200)
            for waiter in waiters {
                let answer = try waiter.receive()
                #expect(answer.status == 200)
                #expect(answer.json.ending == "completed")
            }
            // Every connection can still be used.
            for waiter in waiters { try waiter.send("GET", "/livez") }
            for waiter in waiters { #expect(try waiter.receive().status == 200) }
        }

        @Test(arguments: [127, 128, 129, 256])
        func `requests that one thread finds at the same moment are all answered`(count: Int) throws {
            let daemon = try DaemonProcess(["--threads", "1"])
            let clients = try (0..<count).map { _ in try daemon.connect() }
            for client in clients { #expect(try client.get("/livez").status == 200) }
            daemon.signal(SIGSTOP)
            try #require(eventually { daemon.isStopped })
            for client in clients { try client.send("GET", "/livez") }
            daemon.signal(SIGCONT)
            for client in clients { #expect(try client.receive().status == 200) }
        }

        @Test func `five hundred in a queue pass the lock on in order`() throws {
            let holder = try client.start(["leaseSeconds": 300])
            let waiters = try crowd(500) { waiter, number in
                try waiter.park(["client": "waiter-\(number)"], wait: 120)
                // One after the other, so that the order of the requests is known.
                try #require(try client.isQueueLong(number + 1))
            }
            #expect(try client.end(holder).status == 200)
            var fences: [Int] = []
            for (number, waiter) in waiters.enumerated() {
                let granted = try waiter.receive()
                #expect(granted.status == 201)
                #expect(granted["client"] == "waiter-\(number)")
                fences.append(try #require(granted["fence"].integer))
                #expect(try waiter.end(granted).status == 200)
            }
            #expect(zip(fences, fences.dropFirst()).allSatisfy(<))
        }
    }

    /// Limits of connections and parked requests.
    @Suite struct ConnectionLimits {
        @Test func `the sixth of five who may wait is told to come back, and who does not wait is served`() throws {
            let daemon = try DaemonProcess(["--max-parked", "5"])
            let client = try daemon.connect()
            let holder = try client.start()
            let waiters = try (0..<5).map { _ in try daemon.connect() }
            for (number, waiter) in waiters.enumerated() {
                try waiter.park()
                // One after the other, so that the first one is granted first.
                try #require(try client.isQueueLong(number + 1))
            }

            let refused = try client.serialize(["wait": 60])
            #expect(refused.status == 503)
            #expect(refused["code"] == "too-many-connections")
            #expect(refused.header("Retry-After") == "1")
            #expect(refused["retryAfter"] == 1)
            #expect(try client.awaitEnd(of: holder["id"]).status == 503)
            #expect(try client.queuedCount() == 5)
            #expect(try client.serialize().status == 202)
            #expect(try client.end(holder).status == 200)

            // An answer frees a place.
            #expect(try waiters[0].receive().status == 201)
            #expect(try eventually { try client.serialize(["wait": 0.1]).status == 202 })
        }

        /// Every ordinary connection of a daemon with `--max-parked 1`, each of which has completed a request.
        private func fill(_ daemon: DaemonProcess) throws -> [WireClient] {
            try (0..<1 + ServerLimits.activeConnections).map { _ in
                let client = try daemon.connect()
                #expect(try client.get("/livez").status == 200)
                return client
            }
        }

        @Test func `one connection too many is told so, unless it asks what must come through`() throws {
            let daemon = try DaemonProcess(["--max-parked", "1"])
            var clients = try fill(daemon)
            let held = try clients[0].start()
            #expect(held.status == 201)

            let tooMany = try daemon.connect()
            let refused = try tooMany.get("/scenes")
            #expect(refused.status == 503)
            #expect(refused["code"] == "too-many-connections")
            #expect(refused.header("Retry-After") == "1")
            #expect(refused.header("Connection") == "close")
            #expect(tooMany.isClosedByPeer())
            for path in ["/livez", "/readyz"] {
                let told = try daemon.connect().get(path)
                #expect(told.status == 200)
                // The place is free for the next connection that needs it.
                #expect(told.header("Connection") == "close")
            }
            #expect(try daemon.connect().post("/transitions/renew", held.credentials).status == 200)
            #expect(try daemon.connect().end(held).status == 200)
            #expect(try daemon.connect().start().status == 503)
            for client in clients { #expect(try client.get("/scenes").status == 200) }

            clients.removeFirst(100)
            #expect(try eventually { try daemon.connect().get("/scenes").status == 200 })
        }

        @Test func `half-sent requests make room, however many there are`() throws {
            #expect(DescriptorLimit.raise(to: 4096) >= 4096)
            let daemon = try DaemonProcess(["--max-parked", "1", "--head-seconds", "120", "--body-seconds", "120"])
            let holder = try daemon.connect()
            let held = try holder.start()
            let waiter = try daemon.connect()
            try waiter.park(wait: 120)
            try #require(try holder.isQueueLong(1))

            let places = 1 + ServerLimits.activeConnections + ServerLimits.reservedConnections
            let halves = [
                "GET /li", "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", "",
            ]
            let crowd = try (0..<places + 200).map { number in
                let client = try daemon.connect()
                try client.send(halves[number % halves.count].utf8)
                return client
            }
            #expect(try daemon.connect().get("/livez").status == 200)
            #expect(try daemon.connect().get("/scenes").status == 200)
            #expect(try holder.post("/transitions/renew", held.credentials).status == 200)
            #expect(try daemon.connect().post("/transitions/renew", held.credentials).status == 200)
            // Only the oldest have made room.
            #expect(crowd[0].isClosedByPeer())
            #expect(crowd.suffix(500).allSatisfy { !$0.hasAnswer })
            #expect(try holder.end(held).status == 200)
            #expect(try waiter.receive().status == 201)
            #expect(daemon.logs("too-many-connections"))
        }
    }

    /// Requests that arrive slowly.
    @Suite struct SlowRequests {
        /// How long a connection lasts on which a byte arrives from time to time.
        private func lifetimes(
            _ clients: [WireClient], since start: ContinuousClock.Instant, limit: Duration = .seconds(60)
        ) throws -> [Duration] {
            var lifetimes: [Int: Duration] = [:]
            while lifetimes.count < clients.count, .now < start + limit {
                for (number, client) in clients.enumerated() where lifetimes[number] == nil {
                    if client.isClosedByPeer(within: .milliseconds(100)) { lifetimes[number] = .now - start }
                    // A read shows when it is closed.
                    try? client.send("a".utf8)
                }
            }
            return try clients.indices.map { try #require(lifetimes[$0], "connection \($0) lasts on") }
        }

        @Test func `a head has ten seconds and a body thirty in all, not between two bytes`() throws {
            let daemon = try DaemonProcess()
            let start = ContinuousClock.now
            let body = "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            let first = try daemon.connect()
            try first.send("GET /".utf8)
            let second = try daemon.connect()
            #expect(try second.get("/livez").status == 200)
            try second.send("GET /".utf8)
            let behindChunks = try daemon.connect()
            try behindChunks.send("\(body)Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".utf8)
            #expect(try behindChunks.receive().status == 201)
            let long = try daemon.connect()
            try long.send("\(body)Content-Length: 5000\r\n\r\n".utf8)
            let idle = try daemon.connect()
            #expect(try idle.get("/livez").status == 200)

            let lifetimes = try lifetimes([first, second, behindChunks, long], since: start)
            for head in lifetimes.prefix(3) { #expect(head > .seconds(9) && head < lifetimes[3]) }
            #expect(lifetimes[3] > .seconds(29))
            // Silence between two requests does not count as slow.
            #expect(try idle.get("/livez").status == 200)
        }
    }
}
