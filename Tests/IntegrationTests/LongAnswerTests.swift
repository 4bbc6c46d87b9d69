internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Answers that are too long to be sent in one piece, over the wire.
    @Suite struct LongAnswers {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let names = (0..<9999).map { "c" + String(repeating: "x", count: 100) + String($0) }

        init() throws {
            daemon = try DaemonProcess(["--threads", "1"])
            client = try daemon.connect()
            let children = names.map { "\"\($0)\"" }.joined(separator: ",")
            let body = #"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#
            let declared = try client.request("PUT", "/scenes/main/storyboard", body: body)
            #expect(declared.status == 200)
        }

        private func isWhole(_ storyboard: JSONValue) -> Bool {
            storyboard["root"]["children"].elements.map { $0["id"].string } == names
        }

        @Test func `a long answer comes in chunks, and its connection is good for more`() throws {
            for _ in 0..<2 {
                let shown = try client.get("/scenes/main/storyboard")
                #expect(shown.status == 200)
                #expect(shown.header("Transfer-Encoding") == "chunked")
                #expect(shown.header("ETag") == "\"1\"")
                #expect(isWhole(shown.json))
            }
            #expect(try client.get("/livez").status == 200)
        }

        @Test func `a client that closes its sending side gets a long answer whole`() throws {
            try client.send("GET", "/scenes/main/storyboard")
            client.closeSending()
            #expect(isWhole(try client.receive().json))
        }

        @Test func `a client of HTTP 1.0 gets a long answer up to its end`() throws {
            try client.send("GET /scenes/main/storyboard HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".utf8)
            let text = try client.receiveUntilClosed()
            let parts = try #require(text.firstRange(of: "\r\n\r\n"))
            #expect(text.contains("\r\nETag: \"1\"\r\n"))
            #expect(isWhole(try #require(JSONValue(text[parts.upperBound...].utf8))))
        }

        @Test func `HEAD is answered with the head of a long answer alone`() throws {
            let head = try client.request("HEAD", "/scenes/main/storyboard")
            #expect(head.status == 200)
            #expect(head.header("ETag") == "\"1\"")
            #expect(head.body.isEmpty)
        }

        @Test(arguments: ["GET", "HEAD"])
        func `whoever has a document already gets none, and its connection is good for more`(method: String) throws {
            for tags in ["\"1\"", "W/\"1\", \"7\""] {
                let known = try client.request(
                    method, "/scenes/main/storyboard", headers: ["If-None-Match: \(tags)"])
                #expect(known.status == 304)
                #expect(known.header("ETag") == "\"1\"")
                #expect(known.body.isEmpty)
            }
            #expect(isWhole(try client.get("/scenes/main/storyboard").json))
        }

        @Test func `a long answer that is not taken keeps nobody else waiting on its thread`() throws {
            let idle = try daemon.connect()
            try idle.send("GET", "/scenes/main/storyboard")
            #expect(try idle.receiveHead().status == 200)
            let started = try client.start([:])
            #expect(started.status == 201)
            #expect(try client.get("/scenes").status == 200)
        }
    }
}
