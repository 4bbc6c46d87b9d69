internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// HTTP from clients that are careful, hasty, slow or wrong.
    @Suite struct TheWire {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private func expectNothingTaken() throws {
            #expect(try daemon.connect().get("/scenes").json == ["scenes": []])
        }

        @Test(arguments: [12_500, 15_800])
        func `header fields that leave no room for an answer are refused before anything is taken`(size: Int) throws {
            let padding = "X-Padding: " + String(repeating: "p", count: size)
            let refused = try client.request("POST", "/transitions/start", headers: [padding])
            #expect(refused.status == 431)
            #expect(refused["code"] == "header-fields-too-large")
            try expectNothingTaken()
        }

        @Test func `a body of 64 KiB is read, and one of a byte more is not`() throws {
            let allowed = String(repeating: " ", count: 64 * 1024 - 2) + "{}"
            let held = try client.request("POST", "/transitions/start", body: allowed)
            #expect(held.status == 201)

            let refused = try client.request("POST", "/transitions/serialize", body: " " + allowed)
            #expect(refused.status == 413)
            #expect(refused["code"] == "body-too-large")
            // The connection can still be used.
            #expect(try client.end(held).status == 200)
            #expect(try client.queuedCount() == 0)
        }

        @Test func `a huge body is refused before it is sent`() throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n"
                    .utf8)
            let refused = try client.receive()
            #expect(refused.status == 413)
            #expect(refused["code"] == "body-too-large")
            #expect(client.isClosedByPeer())
            try expectNothingTaken()
        }

        @Test func `who asks before sending a body is told to go on`() throws {
            let head =
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            try client.send(head.utf8)
            #expect(try client.receive().status == 100)
            try client.send("{}".utf8)
            #expect(try client.receive().status == 201)
        }

        @Test func `several lines of a header field count as one`() throws {
            let declared = try client.request("PUT", "/scenes/main/storyboard", body: "{}")
            #expect(declared.status == 200)
            let matching = ["If-Match: \"7\"", "if-match: \"1\""]
            #expect(try client.request("PUT", "/scenes/main/storyboard", headers: matching, body: "{}").status == 200)
            let keys = ["Idempotency-Key: 0123456789abcdef", "Idempotency-Key: fedcba9876543210"]
            let refused = try client.request("POST", "/transitions/start", headers: keys)
            #expect(refused.status == 400)
            #expect(refused["field"] == "Idempotency-Key")
            let compressed = try client.request(
                "POST", "/transitions/start", headers: ["Content-Encoding: gzip"], body: "{}")
            #expect(compressed.status == 415)
            #expect(try client.get("/scenes/main").json["runningCount"] == 0)
        }

        @Test func `a target may name the daemon, and encode what need not be`() throws {
            let started = try client.request("POST", "http://127.0.0.1/transitions/%73tart")
            #expect(started.status == 201)
            #expect(try client.request("GET", "/scenes/%6dain").status == 200)
        }

        @Test func `a body may come in chunks`() throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .utf8)
            for chunk in ["b\r\n{\"scene\": \"\r\n", "8;x=y\r\nchunky\"}\r\n", "0\r\nTrailer: x\r\n\r\n"] {
                try client.send(chunk.utf8)
            }
            let held = try client.receive()
            #expect(held.status == 201)
            #expect(held["scene"] == "chunky")
            #expect(try client.end(held).status == 200)
        }

        @Test func `chunks of more than 64 KiB are refused, and the connection goes on`() throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .utf8)
            let chunk = "1000\r\n" + String(repeating: " ", count: 4096) + "\r\n"
            for _ in 0..<17 { try client.send(chunk.utf8) }
            try client.send("0\r\n\r\n".utf8)
            #expect(try client.receive().status == 413)
            #expect(try client.get("/scenes").json == ["scenes": []])
        }

        @Test func `two requests sent at once are answered in order`() throws {
            try client.send("POST", "/transitions/start", body: "{}")
            try client.send("POST", "/transitions/start", body: "{}")
            try client.send("GET", "/livez")
            #expect(try client.receive().status == 201)
            #expect(try client.receive().status == 409)
            #expect(try client.receive().status == 200)
        }

        @Test func `what follows a parked request waits behind it`() throws {
            let holder = try client.start()
            let waiter = try daemon.connect()
            try waiter.park()
            try waiter.send("GET", "/livez")
            try #require(try client.isQueueLong(1))
            #expect(!waiter.hasAnswer)
            #expect(try client.end(holder).status == 200)
            #expect(try waiter.receive().status == 201)
            #expect(try waiter.receive()["status"] == "live")
        }

        @Test func `a request may come byte by byte`() throws {
            let request =
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"scene\":\"slow\""
            for byte in request.utf8 { try client.send([byte]) }
            #expect(try client.receive()["code"] == "malformed-json")
            for byte in request.replacing("15", with: "16").utf8 { try client.send([byte]) }
            try client.send("}".utf8)
            #expect(try client.receive()["scene"] == "slow")
        }

        @Test func `HEAD gets what GET gets, without its body`() throws {
            for path in ["/livez", "/scenes", "/transitions", "/openapi.yaml", "/transitions/t-0000000000000"] {
                let got = try client.get(path)
                let head = try client.request("HEAD", path)
                #expect(head.status == got.status)
                #expect(head.header("Content-Length") == String(got.body.count))
                #expect(head.header("Content-Type") == got.header("Content-Type"))
            }
            // No rest of a body is left on the wire.
            #expect(try client.get("/livez").status == 200)
        }

        @Test(arguments: [
            ("GET", "/transitions/start", "POST"), ("DELETE", "/transitions/serialize", "POST"),
            ("PUT", "/transitions/await", "GET, HEAD, POST"), ("HEAD", "/transitions/end", "POST"),
            ("POST", "/transitions", "GET, HEAD"), ("PATCH", "/transitions/t-0000000000000", "GET, HEAD"),
            ("OPTIONS", "/scenes", "GET, HEAD"), ("QUERY", "/scenes/main", "DELETE, GET, HEAD"),
            ("POST", "/scenes/main/storyboard", "GET, HEAD, PATCH, PUT"),
            ("TRACE", "/livez", "GET, HEAD"), ("get", "/readyz", "GET, HEAD"), ("BREW", "/openapi.json", "GET, HEAD"),
        ])
        func `a method that a path does not have is refused with those it has`(
            method: String, path: String, allowed: String
        ) throws {
            let refused = try client.request(method, path)
            #expect(refused.status == 405)
            #expect(refused.header("Allow") == allowed)
            if method != "HEAD" { #expect(refused["code"] == "method-not-allowed") }
            #expect(try client.get("/livez").status == 200)
            try expectNothingTaken()
        }

        @Test(arguments: [
            "/page", "/transition", "/transitions/", "/transitions//start", "/transitions/a/b", "/scenes/main/",
            "/livez/", "/transitions/%zz", "/%2e%2e/livez", "//livez",
        ])
        func `there is nothing where nothing is`(path: String) throws {
            #expect(try client.get(path).status == 404)
        }

        @Test func `every answer says not to be stored, and which request it answers`() throws {
            for path in ["/livez", "/scenes/none", "/nothing", "/openapi.json"] {
                let given = try client.get(path, headers: ["X-Request-Id: my-request"])
                #expect(given.header("Cache-Control") == "no-store")
                #expect(given.header("X-Request-Id") == "my-request")
                let first = try client.get(path).header("X-Request-Id")
                let second = try client.get(path, headers: ["X-Request-Id: not fit"]).header("X-Request-Id")
                #expect(first != nil && second != nil && first != second && second != "not fit")
            }
        }

        @Test func `empty lines before a request are skipped`() throws {
            try client.send("\r\n\r\n".utf8)
            #expect(try client.get("/livez").status == 200)
        }

        @Test(arguments: [
            ("Content-Length: 2\r\nContent-Length: 3", "Content-Length"),
            ("Content-Length: 2\r\nContent-Length: 2", "Content-Length"),
            ("Content-Length: 0\r\nContent-Length: 2", "Content-Length"),
            ("Content-Length: 7\r\nTransfer-Encoding: chunked", "Content-Length"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Content-Length"),
            ("Transfer-Encoding: gzip", "Transfer-Encoding"), ("Transfer-Encoding: gzip, chunked", "Transfer-Encoding"),
            ("Host: y\r\nContent-Length: 2", "Host"),
        ])
        func `a request that could be read in two ways is read in none`(headers: String, field: String) throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(headers)\r\n\r\n{}"
                    .utf8)
            let refused = try client.receive()
            #expect(refused.status == 400)
            #expect(refused["code"] == "invalid-field")
            #expect(refused["field"].string == field)
            #expect(client.isClosedByPeer())
            try expectNothingTaken()
        }

        @Test(arguments: Garbage.all)
        func `what is not HTTP is refused or cut off`(garbage: Garbage) throws {
            let hasty = try daemon.connect()
            try hasty.send(garbage.text.utf8)
            let said = try hasty.receiveUntilClosed()
            #expect(said.isEmpty || said.hasPrefix("HTTP/1.1 4") || said.hasPrefix("HTTP/1.1 505"))
            #expect(said.isEmpty || said.contains("Content-Type: application/problem+json"))
            try expectNothingTaken()
        }
    }
}

/// What a client may send that speaks no HTTP, or only a part of it.
struct Garbage: Sendable, CustomTestStringConvertible {
    let text: String

    var testDescription: String {
        text.replacing("\r\n", with: "↵").prefix(80).description
    }

    static let all =
        [
            "hello\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "POST /transitions/start HTTP/9.9\r\n\r\n",
            "POST /transitions/start HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
            "GET /" + String(repeating: "a", count: 20_000),
            "GET /livez HTTP/1.1\r\nX: " + String(repeating: "a", count: 20_000) + "\r\n\r\n",
        ].map(Garbage.init)
        + [
            "No colon\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 2, 3\r\n\r\n{}",
            "Content-Length: 99999999999999999999\r\n\r\n{}",
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        ].map {
            Garbage(
                text: "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + $0)
        }
}
