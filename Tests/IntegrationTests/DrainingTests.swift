internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// How the daemon ends.
    @Suite struct Draining {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        /// A request whose head the daemon has read, and whose body is still to come, so that the daemon has something to wait
        /// for.
        private func halfARequest() throws -> WireClient {
            let half = try daemon.connect()
            try half.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
                    .utf8)
            try #require(try half.receive().status == 100)
            try half.send("{".utf8)
            return half
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func `everyone parked is answered before the daemon ends`(signal: Int32) throws {
            let holder = try client.start()
            let owners = try (0..<50).map { _ in try daemon.connect() }
            let strangers = try (0..<50).map { _ in try daemon.connect() }
            for stranger in strangers {
                try stranger.send("GET", "/transitions/await?id=\(holder["id"].string ?? "")&until=ended&wait=120")
            }
            for owner in owners { try owner.park() }
            try #require(try client.areParked(100))
            daemon.signal(signal)

            var positions: Set<Int> = []
            for owner in owners {
                let answer = try owner.receive()
                #expect(answer.status == 202)
                #expect(answer["state"] == "queued")
                #expect(answer["token"].string?.count == 32)
                positions.insert(try #require(answer["position"].integer))
            }
            #expect(positions == Set(1...50))
            for stranger in strangers {
                let answer = try stranger.receive()
                #expect(answer.status == 200)
                #expect(answer["state"] == "running")
            }
            #expect(try daemon.waitForExit() == .exited(0))
            #expect(client.isClosedByPeer())
        }

        @Test func `while it drains the daemon says so, and is still alive`() throws {
            let holder = try client.start()
            let half = try halfARequest()
            let parked = try daemon.connect()
            try parked.park()
            try #require(try client.isQueueLong(1))
            daemon.signal(SIGTERM)
            // That it is answered says that the drain has begun.
            #expect(try parked.receive().status == 202)

            for client in [client, try daemon.connect()] {
                let refused = try client.start(["scene": "other"])
                #expect(refused.status == 503)
                #expect(refused["code"] == "draining")
                #expect(refused.header("Retry-After") == "1")
                #expect(try client.get("/readyz")["code"] == "draining")
                #expect(try client.get("/livez").status == 200)
            }
            #expect(try client.end(holder)["code"] == "draining")

            try half.send("}".utf8)
            #expect(try half.receive()["code"] == "draining")
            #expect(try daemon.waitForExit() == .exited(0))
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func `a second signal ends the daemon at once`(signal: Int32) throws {
            let half = try halfARequest()
            let parked = try daemon.connect()
            _ = try client.start()
            try parked.park()
            try #require(try client.isQueueLong(1))
            daemon.signal(SIGTERM)
            #expect(try parked.receive().status == 202)
            daemon.signal(signal)
            #expect(try daemon.waitForExit() == .exited(128 + signal))
            #expect(half.isClosedByPeer())
        }

        @Test func `an idle daemon ends at once, and lets go of its port`() throws {
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == .exited(0))
            let successor = try DaemonProcess(listen: "127.0.0.1:\(daemon.port)")
            #expect(try successor.connect().get("/readyz").status == 200)
        }
    }
}
