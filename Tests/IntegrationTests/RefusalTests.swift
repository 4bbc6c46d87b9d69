internal import ArbiterTestKit
internal import Testing

/// A body that is refused, and the reason.
struct BadBody: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let code: String
    let field: String?
    let testDescription: String

    init(_ text: String, _ code: String, field: String? = nil) {
        self.init(Array(text.utf8), code, field: field, description: text)
    }

    init(_ bytes: [UInt8], _ code: String, field: String? = nil, description: String) {
        self.bytes = bytes
        self.code = code
        self.field = field
        testDescription = String(description.prefix(60))
    }

    static let unknownOrTwice = [
        BadBody(#"{"scenes":"a"}"#, "unknown-field", field: "scenes"),
        BadBody(#"{"Scene":"a"}"#, "unknown-field", field: "Scene"),
        BadBody(#"{"id":"t-0000000000000"}"#, "unknown-field", field: "id"),
        BadBody(#"{"":1}"#, "unknown-field", field: ""),
        BadBody(#"{"x":"# + String(repeating: "[", count: 60_000), "unknown-field", field: "x"),
        BadBody(#"{"scene":"a","scene":"a"}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":"a","\u0073cene":"b"}"#, "invalid-field", field: "scene"),
    ]

    static let wrongValues = [
        BadBody(#"{"scene":1}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":null}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":["a"]}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":""}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":"a b"}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":"a\u0000b"}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":"\uD83D\uDE00"}"#, "invalid-field", field: "scene"),
        BadBody(#"{"scene":""# + String(repeating: "a", count: 65) + #""}"#, "invalid-field", field: "scene"),
        BadBody(#"{"client":{}}"#, "invalid-field", field: "client"),
        BadBody(#"{"client":""}"#, "invalid-field", field: "client"),
        BadBody(#"{"client":"a\u0000"}"#, "invalid-field", field: "client"),
        BadBody(#"{"client":"\u001b[2J"}"#, "invalid-field", field: "client"),
        BadBody(#"{"client":""# + String(repeating: "é", count: 65) + #""}"#, "invalid-field", field: "client"),
        BadBody(#"{"scope":"everything"}"#, "invalid-field", field: "scope"),
        BadBody(#"{"scene":"# + String(repeating: "[", count: 60_000), "invalid-field", field: "scene"),
    ]

    static let wrongNumbers = [
        BadBody(#"{"leaseSeconds":"10"}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":true}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":0}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":-1}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":1e999}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":-1e999}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"leaseSeconds":300.001}"#, "invalid-field", field: "leaseSeconds"),
        BadBody(#"{"ticketSeconds":1e-999}"#, "invalid-field", field: "ticketSeconds"),
        BadBody(#"{"queueSeconds":9223372036854775808}"#, "invalid-field", field: "queueSeconds"),
        BadBody(#"{"wait":120.1}"#, "invalid-field", field: "wait"),
        BadBody(
            #"{"wait":"# + String(repeating: "9", count: 50_000) + "}", "invalid-field", field: "wait"),
    ]

    static let malformed =
        [
            "[", "null", "\"scene\"", "{", "{}}", "{} {}", #"{"scene"}"#, #"{"scene":}"#, #"{"scene":"a",}"#,
            #"{scene:"a"}"#, #"{'scene':'a'}"#, #"{"scene":"a"#, #"{"scene":"\x41"}"#, #"{"scene":"\u00"}"#,
            #"{"scene":"\uD800"}"#, #"{"scene":"\uDC00"}"#, #"{"scene":"\uD800\u0041"}"#, #"{"client":"\uDBFF"}"#,
            "{\"client\":\"a\nb\"}", #"{"wait":01}"#, #"{"wait":1.}"#, #"{"wait":.5}"#, #"{"wait":+1}"#,
            #"{"wait":NaN}"#, #"{"wait":Infinity}"#, #"{"wait":0x1}"#, #"{"wait":-}"#, #"{"wait":1e}"#,
            String(repeating: "[", count: 60_000), #"{"scene":"a"}// done"#, "\u{feff}{}",
        ].map { BadBody($0, "malformed-json") } + [
            BadBody(
                Array(#"{"client":""#.utf8) + [0xc3, 0x28] + Array(#""}"#.utf8), "malformed-json", description: "c3 28"),
            BadBody(
                Array(#"{"client":""#.utf8) + [0xed, 0xa0, 0x80] + Array(#""}"#.utf8), "malformed-json",
                description: "ed a0 80"),
            BadBody(Array(#"{"client":"\n"#.utf8) + [0xff] + Array(#""}"#.utf8), "malformed-json", description: "ff"),
            BadBody(Array("{}".utf8) + [0], "malformed-json", description: "{} NUL"),
            BadBody(
                Array("{}".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }), "malformed-json",
                description: "UTF-16"),
        ]
}

extension Integration {
    /// Invalid requests are refused with the field's name, and take no lock.
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

        @Test(arguments: [BadBody.unknownOrTwice, BadBody.wrongValues, BadBody.wrongNumbers, BadBody.malformed])
        func `a body that is wrong is refused by name, and takes no lock`(bodies: [BadBody]) throws {
            for body in bodies {
                let head =
                    "POST /transitions/serialize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.bytes.count)\r\n\r\n"
                try client.send(head.utf8 + body.bytes)
                let refused = try client.receive()
                #expect(refused.status == 400, "\(body.testDescription): \(refused)")
                #expect(refused["code"].string == body.code, "\(body.testDescription): \(refused)")
                #expect(refused["field"].string == body.field, "\(body.testDescription): \(refused)")
                #expect(refused["detail"].string?.isEmpty == false)
                #expect(refused.header("Content-Type") == "application/problem+json; charset=utf-8")
            }
            try expectNothingTaken()
        }

        @Test func `start does not wait`() throws {
            let refused = try client.start(["wait": 1])
            #expect(refused.status == 400)
            #expect(refused["field"] == "wait")
            #expect(try client.post("/transitions/start?wait=1")["code"] == "unknown-field")
            try expectNothingTaken()
        }

        @Test(arguments: [
            ("?wait=x", "wait"), ("?wait=", "wait"), ("?wait=-1", "wait"), ("?wait=121", "wait"), ("?wait=nan", "wait"),
            ("?wait=inf", "wait"), ("?wait=1e999", "wait"), ("?wait=1&wait=2", "wait"), ("?wiat=1", "wiat"),
            ("?wait=%31%zz", "wait"), ("?%00=1", "\u{0}"), ("?wait=0x10", "wait"), ("?wait=%2b1", "wait"),
        ])
        func `a parameter that is wrong is refused by name`(query: String, field: String) throws {
            let refused = try client.post("/transitions/serialize\(query)")
            #expect(refused.status == 400)
            #expect(refused["field"].string == field)
            try expectNothingTaken()
        }

        @Test(arguments: [
            "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json; charset=latin1",
            "multipart/form-data; boundary=x", "",
        ])
        func `a body that is not JSON is not read`(type: String) throws {
            let refused = try client.post("/transitions/start", headers: ["Content-Type: \(type)"])
            #expect(refused.status == 415)
            #expect(refused["code"] == "unsupported-media-type")
            try expectNothingTaken()
        }

        @Test(arguments: [
            "application/json", "Application/JSON", "application/json;charset=UTF-8",
            "application/json; charset=\"utf-8\"",
        ])
        func `JSON is read by whatever spelling`(type: String) throws {
            #expect(try client.post("/transitions/start", headers: ["Content-Type: \(type)"]).status == 201)
        }

        @Test func `who accepts something else gets nothing, and takes nothing`() throws {
            let refused = try client.post("/transitions/start", headers: ["Accept: text/html, application/json;q=0"])
            #expect(refused.status == 406)
            #expect(refused["code"] == "not-acceptable")
            try expectNothingTaken()
        }

        @Test func `acting needs an id and a token, and both need to be ones`() throws {
            let held = try client.start()
            for (body, code, field) in [
                ([:], "missing-field", "id"), (["id": held["id"]], "missing-field", "token"),
                (["id": "t-none", "token": held["token"]], "invalid-field", "id"),
                (["id": held["id"], "token": "short"], "invalid-field", "token"),
                (held.credentials.adding(["outcome": "expired"]), "invalid-field", "outcome"),
            ] as [(JSONValue, String, String)] {
                let refused = try client.post("/transitions/end", body)
                #expect(refused.status == 400)
                #expect(refused["code"].string == code)
                #expect(refused["field"].string == field)
            }
            let unknown = try client.post("/transitions/end", held.credentials.adding(["id": "t-0000000000000"]))
            #expect(unknown.status == 404)
            #expect(unknown["code"] == "unknown-transition")
            #expect(try client.record(of: held["id"])["state"] == "running")
        }
    }
}
