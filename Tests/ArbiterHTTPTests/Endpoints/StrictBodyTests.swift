import ArbiterRelay
import Testing

@testable import ArbiterHTTP

/// A body that is not JSON, or not a single object, is refused and changes nothing.
struct StrictBodyTests {
    static let malformed: [Refusal] =
        [
            " ", "\n", "[", "[]", "[{}]", #""main""#, "1", "null", "true", "{", "}", "{{}}", "{,}", #"{"scene"}"#,
            #"{"scene"#, #"{"scene""#, #"{"scene":"#, #"{"scene":}"#, #"{"scene":"main""#, #"{"scene":"main"#,
            #"{"scene":"main",}"#, #"{"scene":"main",,"client":"x"}"#, #"{,"scene":"main"}"#, #"{"scene"="main"}"#,
            #"{"scene":"main" "client":"x"}"#, #"{"scene":"main";"client":"x"}"#, #"{scene:"main"}"#,
            #"{'scene':'main'}"#, #"{"scene":main}"#, #"{1:"main"}"#, #"{null:1}"#, #"{"scene":'main'}"#,
            #"{"scene":"main"}}"#, #"{"scene":"main"} x"#, "{}{}", "{} {}", "{},", "{}\0", "\0{}", "\u{feff}{}",
            "{\0}\0", "\u{a0}{}", "{\u{a0}}", "{\u{c}}", #"{/**/"scene":"main"}"#, "// x\n{}", #"{"scene":"main"}#"#,
            #"{"leaseSeconds":NaN}"#, #"{"leaseSeconds":Infinity}"#, #"{"leaseSeconds":-Infinity}"#,
            #"{"leaseSeconds":+1}"#, #"{"leaseSeconds":.5}"#, #"{"leaseSeconds":5.}"#, #"{"leaseSeconds":5.e1}"#,
            #"{"leaseSeconds":5e}"#, #"{"leaseSeconds":5e+}"#, #"{"leaseSeconds":-}"#, #"{"leaseSeconds":--1}"#,
            #"{"leaseSeconds":5x}"#, #"{"leaseSeconds":5 5}"#, #"{"leaseSeconds":1_000}"#, #"{"leaseSeconds":1,5}"#,
            #"{"queueSeconds":05}"#, #"{"queueSeconds":-05}"#, #"{"queueSeconds":0x10}"#, #"{"queueSeconds":00}"#,
            #"{"leaseSeconds":١}"#, #"{"leaseSeconds":}"#, #"{"leaseSeconds":,}"#,
        ].map { Refusal($0, .malformedJSON) }

    static let malformedStrings: [Refusal] =
        [
            #"\ud800"#, #"\udc00"#, #"\ud800x"#, #"\ud800\n"#, #"\ud800\u0041"#, #"\ud800\ud800"#, #"\udc00\ud800"#,
            #"\udbff\ue000"#, #"\ud83d\"#, #"\ud83d\u"#, #"\ud83d\ude0"#, #"\u"#, #"\u1"#, #"\u12"#, #"\u123"#,
            #"\u123g"#, #"\u+123"#, #"\U0041"#, #"\x41"#, #"\a"#, #"\'"#, #"\0"#, #"\ "#, #"\"#, "\n", "\r", "\t",
            "\0", "\u{1f}", "a\u{1}b", #"\u00e9"# + "\u{1}",
        ].map { Refusal(#"{"client": "\#($0)"}"#, .malformedJSON) }
        + [
            [0xff], [0x80], [0xc3], [0xc3, 0x28], [0xc0, 0x80], [0xc1, 0xbf], [0xe2, 0x82], [0xe0, 0x80, 0x80],
            [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x9f, 0x9a], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80],
            [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe], Array(#"\n"#.utf8) + [0xff],
        ].flatMap { (octets: [UInt8]) in
            [
                Refusal(Array(#"{"client": "x"#.utf8) + octets + Array(#"y"}"#.utf8), .malformedJSON),
                Refusal(Array(#"{"x"#.utf8) + octets + Array(#"": 1}"#.utf8), .malformedJSON),
            ]
        }

    @Test(arguments: malformed + malformedStrings)
    func `what is not one JSON object is malformed and takes no lock`(refusal: Refusal) throws {
        let service = try Service()
        try service.refuses(refusal, "/transitions/start")
        try service.refuses(refusal, "/transitions/serialize")
    }

    @Test(
        arguments: [
            ("", "[", .malformedJSON, nil), ("", #"{"a":"#, .unknownField, "a"), (#"{"x":"#, "[", .unknownField, "x"),
            ("", #"{"scene":["#, .invalidField, "scene"), (#"{"scene":"#, "[", .invalidField, "scene"),
        ] as [(String, String, Problem.Code, String?)])
    func `nesting without end is refused without a crash`(
        beginning: String, opening: String, code: Problem.Code, field: String?
    ) throws {
        let depth = (ServerLimits.bodyBytes - beginning.utf8.count) / opening.utf8.count
        let body = beginning + String(repeating: opening, count: depth)
        try Service().refuses(Refusal(body, code, field), "/transitions/start")
    }

    @Test func `a body as large as may be is read`() throws {
        let space = String(repeating: " ", count: ServerLimits.bodyBytes - 2)
        #expect(try Service().ask("POST", "/transitions/start", "{\(space)}").status == 201)
        let digits = String(repeating: "0", count: ServerLimits.bodyBytes - 24)
        #expect(try Service().ask("POST", "/transitions/start", #"{"leaseSeconds": 10.\#(digits)}"#).status == 201)
    }

    @Test(arguments: [
        #"{"\u0073cene":"\u006dain"}"#, #"{"client":"\ud83d\ude80"}"#, #"{"client":"\"\\\/"}"#,
        #"{"client":"\u00e9é🧑‍🚀"}"#, "{\"client\":\"\u{a0}\u{ffff}\u{10ffff}\"}", "\t\r\n {\t\r\n } \t\r\n",
        #"{ "client" : "x" , "scene" : "main" }"#, #"{"leaseSeconds":1E1}"#, #"{"leaseSeconds":1e+1}"#,
        #"{"leaseSeconds":100e-1}"#, #"{"leaseSeconds":10.000}"#, #"{"queueSeconds":-0}"#, #"{"queueSeconds":-0.0e9}"#,
        #"{"queueSeconds":0e999}"#, #"{"leaseSeconds":0.1}"#, #"{"leaseSeconds":300}"#, #"{"ticketSeconds":300.0}"#,
        #"{"queueSeconds":0}"#, #"{"queueSeconds":86400}"#,
    ])
    func `what is JSON is read, however it is written`(body: String) throws {
        #expect(try Service().ask("POST", "/transitions/start", body).status == 201)
    }

    @Test func `a refusal says where it stumbled`() throws {
        let answer = try Service().ask("POST", "/transitions/start", #"{"scene": "a" "client": "b"}"#)
        let text = "The body is not valid JSON: a comma or the end of the object is expected at byte 14."
        #expect(answer.body["detail"] == .string(text))
    }

    @Test func `a field with a long name is refused with the beginning of it`() throws {
        let name = String(repeating: "n", count: 1000)
        let answer = try Service().ask("POST", "/transitions/start", #"{"\#(name)": 1}"#)
        #expect(answer.code == "unknown-field")
        #expect((answer.body["detail"]?.text?.count ?? .max) < 150)
    }
}
