internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// What two people with two terminals see.
    @Suite struct StartingATransition {
        let daemon: DaemonProcess
        let left: WireClient
        let right: WireClient

        init() throws {
            daemon = try DaemonProcess()
            left = try daemon.connect()
            right = try daemon.connect()
        }

        @Test func `the second start is refused, and told who is in the way`() throws {
            let first = try left.start(["client": "left"])
            #expect(first.status == 201)
            #expect(first["state"] == "running")

            let refused = try right.start(["client": "right"])
            #expect(refused.status == 409)
            #expect(refused.header("Content-Type") == "application/problem+json; charset=utf-8")
            #expect(refused["code"] == "busy")
            #expect(refused["holder"]["client"] == "left")
            #expect(refused["holder"]["id"] == first["id"])
            #expect(refused["holder"]["since"] == first["grantedAt"])
            #expect(refused["holder"]["since"].string?.hasSuffix("Z") == true)
            #expect(refused["blockers"] == [first["id"]])
            #expect(!refused.text.contains(first["token"].string ?? "a token"))
        }

        @Test func `after the end the next start is granted, with a greater fence`() throws {
            let first = try left.start()
            #expect(try right.start().status == 409)
            let ended = try left.end(first)
            #expect(ended.status == 200)
            #expect(ended.json.ending == "completed")
            let second = try right.start()
            #expect(second.status == 201)
            #expect(try #require(second["fence"].integer) > #require(first["fence"].integer))
        }

        @Test func `a renewed lease lasts`() throws {
            let first = try left.start(["leaseSeconds": 6])
            let watcher = try daemon.connect()
            try watcher.send("GET", "/transitions/await?id=\(first["id"].string ?? "")&until=ended&wait=60")
            // Renewed for longer than the lease by the daemon's own clock, which the wait without a token measures.
            for _ in 0..<6 {
                let renewed = try left.post("/transitions/renew", first.credentials)
                #expect(renewed.status == 200)
                let waited = try right.get("/transitions/await?id=\(first["id"].string ?? "")&until=ended&wait=1.25")
                #expect(waited["state"] == "running")
            }
            #expect(!watcher.hasAnswer)
            #expect(try watcher.receive().json.ending == "expired/lease")
        }
    }
}
