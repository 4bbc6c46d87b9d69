import ArbiterRelay
import Testing

@testable import ArbiterHTTP

/// An invalid value is refused with the name of its field, and changes nothing.
struct StrictFieldsTests {
    private static let notStrings = ["1", "-1", "1.5", "true", "false", "null", "[]", "{}", #"["main"]"#]
    private static let notNumbers = [#""1""#, "true", "false", "null", "[]", "{}", "[1]", #""""#, #""NaN""#]
    private static let tooLong = String(repeating: "x", count: 129)
    /// 65 characters in 130 bytes.
    private static let tooManyBytes = String(repeating: "é", count: 65)
    private static let manyDigits = String(repeating: "9", count: 50_000)

    static let asked: [Refusal] =
        ["scene", "client"].flatMap { Refusal.values(notStrings, for: $0) }
        + ["leaseSeconds", "ticketSeconds", "queueSeconds"].flatMap { Refusal.values(notNumbers, for: $0) }
        + [("leaseSeconds", "300.001"), ("ticketSeconds", "3600.001")].flatMap { field, tooLong in
            Refusal.values(
                [
                    "0", "-1", "0.09", "0.099999", tooLong, "3601", "1e4", "1e18", "1e19", "1e999", "-1e999", "-0",
                    "1e-999",
                ],
                for: field)
        }
        + Refusal.values(notNumbers + ["0.5", "-1001", "1001", "1e4", "1e999", manyDigits], for: "priority")
        + Refusal.values(
            ["-0.001", "-1", "86400.001", "1e6", "9.3e9", "9223372036854775808", "1e300", "1e999", "-1e999"],
            for: "queueSeconds")
        + Refusal.values(
            [
                #""""#, #""a b""#, #""a/b""#, #""ä""#, #""\ud83d\ude00""#, #""main\n""#, #""\u0000""#,
                "\"\(tooLong.prefix(65))\"",
            ], for: "scene")
        + Refusal.values(
            [
                #""""#, #""a\nb""#, #""\u0000""#, #""\u001b[2J""#, #""\u007f""#, "\"\(tooLong)\"",
                "\"\(tooManyBytes)\"",
            ], for: "client")
        + Refusal.values(
            [#""""#, #""Scene""#, #""operation""#, #""scene ""#, "1", "true", "null", "[]"], for: "scope")
        + [
            Refusal(#"{"sceen": "main"}"#, .unknownField, "sceen"),
            Refusal(#"{"scenes": "main"}"#, .unknownField, "scenes"),
            Refusal(#"{"id": "t-0000000000000"}"#, .unknownField, "id"),
            Refusal(#"{"Scene": "main"}"#, .unknownField, "Scene"),
            Refusal(#"{"": 1}"#, .unknownField, ""),
            Refusal(#"{"token": "0"}"#, .unknownField, "token"),
            Refusal(#"{"a\u0000\"\n": 1}"#, .unknownField, "a\0\"\n"),
            Refusal(#"{"scene": "main", "x": {"scene": 1}}"#, .unknownField, "x"),
            Refusal(#"{"scene": "main", "scene": "main"}"#, .invalidField, "scene"),
            Refusal(#"{"scene": "a", "sc\u0065ne": "b"}"#, .invalidField, "scene"),
            Refusal(#"{"leaseSeconds": 1, "client": "x", "leaseSeconds": 1}"#, .invalidField, "leaseSeconds"),
        ]

    static let waiting =
        Refusal.values(notNumbers, for: "wait")
        + Refusal.values(["-0.001", "-1", "120.001", "121", "1e9", "1e999", "-1e999", manyDigits], for: "wait")
        + [Refusal(#"{"wait": 1, "wait": 1}"#, .invalidField, "wait")]

    private static let id = #""id": "t-0000000000001", "#
    private static let token = #""token": "00000000000000000000000000000001", "#

    static let acted: [Refusal] =
        Refusal.values(notStrings, for: "id") + Refusal.values(notStrings, for: "token", beside: id)
        + Refusal.values(
            [
                #""""#, #""t-""#, #""t-000000000000""#, #""t-00000000000000""#, #""T-0000000000001""#,
                #""t-000000000000A""#, #""t-000000000000i""#, #""t-000000000000l""#, #""t-000000000000o""#,
                #""t-000000000000u""#, #""t-g000000000000""#, #""0000000000001""#, #""t-000000000000é""#,
            ], for: "id")
        + Refusal.values(
            [#""""#, "\"\(tooLong.prefix(31))\"", "\"\(tooLong.prefix(32))\"", "\"0\(tooLong.prefix(32))\""],
            for: "token", beside: id)
        + [
            Refusal("", .missingField, "id"),
            Refusal("{}", .missingField, "id"),
            Refusal("{\(token.dropLast(2))}", .missingField, "id"),
            Refusal("{\(id.dropLast(2))}", .missingField, "token"),
            Refusal("{\(id)\(token)\(id.dropLast(2))}", .invalidField, "id"),
            Refusal(#"{\#(id)\#(token)"scene": "main"}"#, .unknownField, "scene"),
        ]

    @Test(arguments: ["/transitions/start", "/transitions/serialize"], asked)
    func `a request with a field that cannot be takes no lock`(target: String, refusal: Refusal) throws {
        try Service().refuses(refusal, target)
    }

    @Test(arguments: waiting)
    func `a wait that cannot be takes no place`(refusal: Refusal) throws {
        let service = try Service()
        try service.started()
        try service.refuses(refusal, "/transitions/serialize")
    }

    @Test(
        arguments: [
            ("wait=x", .invalidField, "wait"), ("wait=", .invalidField, "wait"), ("wait=-1", .invalidField, "wait"),
            ("wait=121", .invalidField, "wait"), ("wait=nan", .invalidField, "wait"),
            ("wait=inf", .invalidField, "wait"), ("wait=1e999", .invalidField, "wait"),
            ("wait=0x10", .invalidField, "wait"), ("wait=%2b1", .invalidField, "wait"),
            ("wait=%31%zz", .invalidField, "wait"), ("wait=1&wait=2", .invalidField, "wait"),
            ("wiat=1", .unknownField, "wiat"), ("%00=1", .unknownField, "\0"),
        ] as [(String, Problem.Code, String)])
    func `a query that cannot be makes no ticket`(query: String, code: Problem.Code, field: String) throws {
        let service = try Service()
        try service.started()
        try service.refuses(Refusal("", code, field), "/transitions/serialize?" + query)
    }

    @Test func `start knows no wait`() throws {
        try Service().refuses(Refusal(#"{"wait": 1}"#, .unknownField, "wait"), "/transitions/start")
    }

    @Test(arguments: ["/transitions/end", "/transitions/renew", "/transitions/await"], acted)
    func `who acts on a transition names it properly`(target: String, refusal: Refusal) throws {
        let service = try Service()
        try service.started()
        try service.refuses(refusal, target)
    }

    @Test(arguments: ["outcome", "until"])
    func `a word that is none of those there are is refused`(field: String) throws {
        let target = field == "outcome" ? "/transitions/end" : "/transitions/await"
        let service = try Service()
        let holder = try service.started()
        let words = ["\"\"", "\"Completed\"", "\"expired\"", "\"queued\"", "\"ended \""] + Self.notStrings
        for word in words {
            let body = holder.acting(#""\#(field)": \#(word)"#)
            try service.refuses(Refusal(body, .invalidField, field), target)
        }
        #expect(try service.ask("GET", "/transitions/\(holder.id)").body["state"] == "running")
    }

    @Test(arguments: waiting)
    func `an owner's wait that cannot be is refused`(refusal: Refusal) throws {
        let service = try Service()
        let holder = try service.started()
        let body = String(decoding: refusal.bytes.dropFirst().dropLast(), as: UTF8.self)
        try service.refuses(
            Refusal(holder.acting(body), refusal.code, refusal.field), "/transitions/await")
    }

    @Test(arguments: [
        ("", "missing-field", "id"), ("id=x", "invalid-field", "id"), ("until=ended", "missing-field", "id"),
        ("id=t-0000000000001&until=x", "invalid-field", "until"),
        ("id=t-0000000000001&wait=x", "invalid-field", "wait"),
        ("id=t-0000000000001&wait=", "invalid-field", "wait"),
        ("id=t-0000000000001&wait=nan", "invalid-field", "wait"),
        ("id=t-0000000000001&wait=inf", "invalid-field", "wait"),
        ("id=t-0000000000001&wait=120.5", "invalid-field", "wait"),
        ("id=t-0000000000001&wait=-1", "invalid-field", "wait"),
        ("id=t-0000000000001&id=t-0000000000001", "invalid-field", "id"),
        ("id=t-0000000000001&token=0", "unknown-field", "token"),
    ])
    func `anybody's await says properly what it wants`(query: String, code: String, field: String) throws {
        let answer = try Service().ask("GET", "/transitions/await?" + query)
        #expect(answer.status == 400)
        #expect(answer.code == code)
        #expect(answer.field == field)
    }
}
