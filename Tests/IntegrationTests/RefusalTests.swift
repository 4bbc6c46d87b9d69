internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Refusals that depend on the bytes of a request; `ArbiterHTTPTests` has those of everything else.
    @Suite struct Refusals {
        let daemon: DaemonProcess
        let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private func expectNothingTaken() throws {
            #expect(try client.get("/scenes").json == ["scenes": []])
            #expect(try client.get("/transitions").json == ["transitions": []])
        }

        private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

        /// A body whose client has a name of these bytes.
        private static func body(naming client: [UInt8]) -> [UInt8] {
            bytes(#"{"client":""#) + client + bytes(#""}"#)
        }

        private static let nesting = String(repeating: "[", count: 60_000)
        private static let digits = String(repeating: "9", count: 60_000)

        private static let bodies: [([UInt8], String, String?)] = [
            (bytes(#"{"scene":"a","\u0073cene":"b"}"#), "invalid-field", "scene"),
            (bytes(#"{"x":\#(nesting)"#), "unknown-field", "x"),
            (bytes(#"{"scene":\#(nesting)"#), "invalid-field", "scene"),
            (bytes(#"{"wait":\#(digits)}"#), "invalid-field", "wait"), (bytes(nesting), "malformed-json", nil),
            (body(naming: [0xc3, 0x28]), "malformed-json", nil),
            (body(naming: [0xed, 0xa0, 0x80]), "malformed-json", nil),
            (body(naming: [0xff]), "malformed-json", nil), (bytes("{}\0"), "malformed-json", nil),
            (bytes("{\0}\0"), "malformed-json", nil), (bytes("\u{feff}{}"), "malformed-json", nil),
        ]

        @Test func `a body that is wrong is refused by name, takes no lock, and leaves the connection usable`() throws {
            for (bytes, code, field) in Self.bodies {
                let headers = ["Content-Type: application/json", "Content-Length: \(bytes.count)"]
                try client.send("POST", "/transitions/serialize", headers: headers)
                try client.send(bytes)
                let refused = try client.receive()
                let beginning = String(decoding: bytes.prefix(60), as: UTF8.self)
                #expect(refused.status == 400, "\(beginning): \(refused)")
                #expect(refused["code"].string == code, "\(beginning): \(refused)")
                #expect(refused["field"].string == field, "\(beginning): \(refused)")
                #expect(refused.header("Content-Type") == "application/problem+json; charset=utf-8")
            }
            try expectNothingTaken()
        }

        @Test func `a parameter that is not encoded properly, or has NUL in its name, is refused by name`() throws {
            for (query, field) in [("?wait=%31%zz", "wait"), ("?%00=1", "\u{0}")] {
                let refused = try client.post("/transitions/serialize\(query)")
                #expect(refused.status == 400)
                #expect(refused["field"].string == field)
            }
            try expectNothingTaken()
        }

        @Test func `a header field without a value, or with one that is not ASCII, is read as it is`() throws {
            for (method, path, field, value, status) in [
                ("POST", "/transitions/start", "Content-Type", " ", 415),
                ("PUT", "/scenes/main/storyboard", "If-Match", "", 400),
                ("POST", "/transitions/start", "Idempotency-Key", " ", 400),
                ("POST", "/transitions/start", "Idempotency-Key", " ünï0123456789abcdef", 400),
            ] {
                let refused = try client.request(method, path, headers: ["\(field):\(value)"], body: "{}")
                #expect(refused.status == status, "\(field)")
                #expect(refused["field"].string == field)
            }
            try expectNothingTaken()
        }
    }
}
