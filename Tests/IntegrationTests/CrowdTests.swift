internal import ArbiterHTTP
internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// More connections than anybody has views.
    @Suite struct Crowds {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            #expect(DescriptorLimit.raise(to: 4096) >= 4096)
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private func crowd(_ count: Int) throws -> [WireClient] {
            try (0..<count).map { _ in try daemon.connect() }
        }

        @Test func `a thousand parked connections closed at once leave no ticket behind`() throws {
            let holder = try client.start(["leaseSeconds": 120])
            let waiters = try crowd(1000)
            for waiter in waiters { try waiter.park() }
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
            let holder = try client.start(["leaseSeconds": 120])
            let waiters = try crowd(2000)
            for waiter in waiters {
                try waiter.send("GET", "/transitions/await?id=\(holder["id"].string ?? "")&until=ended&wait=120")
            }
            #expect(waiters.allSatisfy { !$0.hasAnswer })
            #expect(try client.end(holder).status == 200)
            for waiter in waiters {
                let answer = try waiter.receive()
                #expect(answer.status == 200)
                #expect(answer.json.ending == "completed")
            }
            // And every connection goes on being one.
            for waiter in waiters { try waiter.send("GET", "/livez") }
            for waiter in waiters { #expect(try waiter.receive().status == 200) }
        }

        @Test func `five hundred in a queue pass the lock on in order`() throws {
            let holder = try client.start(["leaseSeconds": 120])
            let waiters = try crowd(500)
            for (number, waiter) in waiters.enumerated() {
                try waiter.park(["client": "waiter-\(number)"])
                // One after the other, so that it is known who asked first.
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

    /// What there is only so much of.
    @Suite struct ConnectionLimits {
        @Test func `the sixth of five who may wait is told to come back, and who does not wait is served`() throws {
            let daemon = try DaemonProcess(["--max-parked", "5"])
            let client = try daemon.connect()
            let holder = try client.start()
            let waiters = try (0..<5).map { _ in try daemon.connect() }
            for waiter in waiters { try waiter.park() }
            try #require(try client.isQueueLong(5))

            let refused = try client.serialize(["wait": 60])
            #expect(refused.status == 503)
            #expect(refused["code"] == "too-many-connections")
            #expect(refused.header("Retry-After") == "1")
            #expect(refused["retryAfter"] == 1)
            #expect(try client.awaitEnd(of: holder["id"]).status == 503)
            #expect(try client.queuedCount() == 5)
            #expect(try client.serialize().status == 202)
            #expect(try client.end(holder).status == 200)

            // A place is free once somebody has been answered.
            #expect(try waiters[0].receive().status == 201)
            #expect(try eventually { try client.serialize(["wait": 0.1]).status == 202 })
        }

        @Test func `one connection too many is told so`() throws {
            let daemon = try DaemonProcess(["--max-parked", "1"])
            var clients: [WireClient] = []
            var refused: WireResponse?
            while refused == nil, clients.count < 2000 {
                let client = try daemon.connect()
                clients.append(client)
                let answer = try client.get("/livez")
                if answer.status != 200 { refused = answer }
            }
            #expect(clients.count == 1026)
            #expect(refused?.status == 503)
            #expect(refused?["code"] == "too-many-connections")
            #expect(refused?.header("Retry-After") == "1")
            clients.removeFirst(100)
            #expect(try eventually { try daemon.connect().get("/livez").status == 200 })
        }
    }
}
