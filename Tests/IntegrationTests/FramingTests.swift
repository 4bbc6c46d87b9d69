internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Requests that a proxy may read in another way than the daemon.
    @Suite struct Framing {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private func expectRefusal(field: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let refused = try client.receive()
            #expect(refused.status == 400, sourceLocation: sourceLocation)
            #expect(refused["code"] == "invalid-field", sourceLocation: sourceLocation)
            #expect(refused["field"].string == field, sourceLocation: sourceLocation)
            #expect(client.isClosedByPeer(), sourceLocation: sourceLocation)
            #expect(try daemon.connect().get("/scenes").json == ["scenes": []], sourceLocation: sourceLocation)
        }

        /// A request that the daemon would see if the header field before it did not hide it.
        private static let hidden = "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\n\r\n"

        @Test(arguments: [
            ("Content-Length : \(hidden.utf8.count)", "Content-Length "),
            ("Content-Length\t: \(hidden.utf8.count)", "Content-Length\t"),
            (" Content-Length: 2", "Host"), (": 2", "Content-Type"), ("Content Length: 2", "Content Length"),
            ("X(y): 2", "X(y)"), ("X: a\rContent-Length: 2", "X"), ("X: a\r", "X"), ("X: \u{1}", "X"),
            ("X: \u{7f}", "X"), ("X: a\r\n Content-Length: 2", "Content-Type"),
            ("X: a\r\n\tb\r\nY: c", "Content-Type"), ("X: a\r\n ", "Content-Type"), ("X: a\u{0}b", "X"),
            ("X: a\u{0}", "X"), ("X: a\u{0}\r\nY: b", "X"), ("X: \u{0}Content-Length: 2\r\nY: b", "X"),
            ("\u{0}X: y", "Content-Type"), ("X: a\r\n\u{0}", "X"),
        ])
        func `a header field that is not one line with a name and a value is refused`(line: String, field: String)
            throws
        {
            try client.send(
                "POST /transitions/end HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(line)\r\n\r\n\(Self.hidden)"
                    .utf8)
            try expectRefusal(field: field)
        }

        @Test(arguments: [
            "GET /livez\u{0} HTTP/1.1", "GET /livez\u{0}?a=b HTTP/1.1", "GET /li\u{0}vez HTTP/1.1",
            "GET /livez?a\u{0}b HTTP/1.1", "GET /livez?a\u{0} HTTP/1.1", "GET /livez?\u{0} HTTP/1.1",
            "GET /livez\u{0}HTTP/1.1\u{0}\u{0}?a&b HTTP/1.1", "GET /livez\r HTTP/1.1", "GET /livez\t HTTP/1.1",
            "GET  /livez HTTP/1.1", "GET /li vez HTTP/1.1", "GE\rT /livez HTTP/1.1", "GE\u{0}T /livez HTTP/1.1",
            "G@T /livez HTTP/1.1",
        ])
        func `a request line with control characters or superfluous spaces is refused`(line: String) throws {
            try client.send("\(line)\r\nHost: localhost\r\n\r\n".utf8)
            try expectRefusal(field: nil)
        }

        @Test(arguments: ["13a", "+2", "-2", "0x2", "2 x", "", "2,2", "2;", "٢"])
        func `a length that is not all digits is refused`(length: String) throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n{}".utf8)
            try expectRefusal(field: "Content-Length")
        }

        @Test(arguments: Unreadable.all)
        func `what cannot be read is refused once, as every other request is`(unreadable: Unreadable) throws {
            // The connection has served a request before, and another request would follow.
            try client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n\(unreadable.text)".utf8)
            #expect(try client.receive().status == 200)
            let refused = try client.receive()
            #expect(refused.status == unreadable.status)
            #expect(refused.header("Content-Type") == "application/problem+json; charset=utf-8")
            #expect(refused["status"].integer == unreadable.status)
            #expect(refused["code"].string == unreadable.code)
            #expect(refused["field"].string == unreadable.field)
            #expect(refused.header("Connection") == "close")
            #expect(refused.header("Cache-Control") == "no-store")
            #expect(refused.header("X-Request-Id") != nil)
            #expect(client.isClosedByPeer())
            #expect(try daemon.connect().get("/scenes").json == ["scenes": []])
        }

        @Test func `what cannot be read is refused with the id that its request has`() throws {
            try client.send(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: my-request\r\nContent-Length: x\r\n\r\n".utf8)
            #expect(try client.receive().header("X-Request-Id") == "my-request")
        }

        @Test(arguments: ["", "Host:\r\n"])
        func `a request without a host is refused`(field: String) throws {
            try client.send("GET /livez HTTP/1.1\r\n\(field)\r\n".utf8)
            try expectRefusal(field: "Host")
        }

        @Test func `a field behind the last chunk is held to the same`() throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX : y\r\n\r\n"
                    .utf8)
            try expectRefusal(field: "Transfer-Encoding")
        }

        @Test func `what is right in an unusual way is read`() throws {
            try client.send("GET /livez HTTP/1.1\nHost:localhost\nX!#$%&'*+-.^_`|~:\t\u{e9} \nEmpty:\n\n".utf8)
            #expect(try client.receive().status == 200)
            try client.send("GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n".utf8)
            #expect(try client.receive().status == 200)
        }

        @Test(arguments: [33, 400, 1200, 3000])
        func `a query with too many parameters is refused at once`(count: Int) throws {
            let query = (0..<count).map { "\($0)" }.joined(separator: "&")
            let refused = try client.request("GET", "/transitions?\(query)", within: .seconds(8))
            #expect(refused.status == (query.utf8.count > 12 * 1024 ? 431 : 400))
            if refused.status == 431 { #expect(refused["code"] == "header-fields-too-large") }
            if refused.status == 400 {
                #expect(refused["code"] == "invalid-field")
                #expect(try client.get("/livez").status == 200)
            }
        }

        @Test func `parameters behind NUL do not keep a connection waiting either`() throws {
            let query = (0..<600).map { "\($0)" }.joined(separator: "&")
            try client.send("GET /livez\u{0}?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let said = try client.receiveUntilClosed(within: .seconds(8))
            #expect(said.isEmpty || said.hasPrefix("HTTP/1.1 400"))
        }

        @Test(arguments: [16 * 1024, 64 * 1024, 1024 * 1024], [0, 1, 40])
        func `a chunk with a long extension is refused at once`(size: Int, chunksBefore: Int) throws {
            try client.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .utf8)
            // Another connection of the same kind, whose body is valid.
            let other = try daemon.connect()
            try other.send(
                "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;"
                    .utf8)
            for _ in 0..<chunksBefore { try client.send("400\r\n\(String(repeating: " ", count: 1024))\r\n".utf8) }
            // It may be refused before it is sent completely.
            try? client.send("2;x=\(String(repeating: "y", count: size))\r\n{}\r\n0\r\n\r\n".utf8)
            let refused = try client.receive(within: .seconds(8))
            #expect(refused.status == 400)
            #expect(refused["field"] == "Transfer-Encoding")
            #expect(refused.header("X-Request-Id") != nil)
            #expect(client.isClosedByPeer())
            try other.send("\r\n{}\r\n0\r\n\r\n".utf8)
            #expect(try other.receive().status == 201)
        }
    }
}

/// Something that the HTTP server cannot read as a request, and how it is refused.
struct Unreadable: Sendable, CustomTestStringConvertible {
    let text: String
    let status: Int
    let code: String
    let field: String?

    private init(_ text: String, _ status: Int, _ code: String, field: String? = nil) {
        self.text = text
        self.status = status
        self.code = code
        self.field = field
    }

    var testDescription: String { text.replacing("\r\n", with: "↵").prefix(80).description }

    private static let head =
        "POST /transitions/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    private static let long = String(repeating: "a", count: 20_000)

    static let all =
        [
            "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /livez?\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "\(long) / HTTP/1.1\r\nHost: localhost\r\n\r\n", head + "X: \(long)\r\n\r\n",
            head + String(repeating: "X: abcdefg\r\n", count: 1_800) + "\r\n",
            head + String(repeating: "X:\r\n", count: 600) + "\r\n", head + "Cookie: \(long.prefix(9_000))\r\n\r\n",
            head + "X: a\r\n \(long.prefix(14_000))\r\n\r\n", chunked + "2\r\n{}\r\n0\r\nX: \(long)\r\n\r\n",
        ].map { Unreadable($0, 431, "header-fields-too-large") }
        + ["No colon\r\n\r\n", "X: a\r\nNo colon\r\n\r\n", "Content-Length: 2 \r\n\r\n{}"].map {
            Unreadable(head + $0, 400, "invalid-field")
        }
        + ["GET /livez\r\n", "GET  HTTP/1.1\r\n\r\n", "GET /livez HTTP/x\r\n\r\n", "GET /livez http/1.1\r\n\r\n"]
        .map { Unreadable($0, 400, "invalid-field") }
        + [
            "zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}x\r\n0\r\n\r\n", "2;\(long)\r\n{}\r\n0\r\n\r\n",
            "2\r\n{}\r\n0\r\nX\r\n\r\n",
        ]
        .map { Unreadable(chunked + $0, 400, "invalid-field", field: "Transfer-Encoding") }
        + [head + "Content-Length: 99999999999999999999\r\n\r\n{}", chunked + "fffffffffffffffff\r\n"]
        .map { Unreadable($0, 413, "body-too-large") }
        + [
            "GET /livez HTTP/0.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "POST /transitions/start HTTP/9.9\r\n\r\n",
        ]
        .map { Unreadable($0, 505, "unsupported-version") }
}
