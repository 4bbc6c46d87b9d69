import ArbiterCore
import ArbiterRelay
import Testing

@testable import ArbiterHTTP

/// Invalid members of gestures, sessions, participants and coalescing are refused by name, and change nothing.
struct StrictCooperationTests {
    private static let notStrings = ["1", "true", "null", "[]", "{}"]
    private static let notNumbers = [#""1""#, "true", "null", "[]", "{}", #""NaN""#]
    private static let notBooleans = ["0", "1", #""true""#, "null", "[]", "{}"]
    private static let notObjects = ["1", "true", "null", "[]", #""fraction""#]
    private static let infinite = ["1e309", "-1e309", "1e999"]
    private static let tooLong = String(repeating: "x", count: 129)

    private static let many = (0...Limits.participants).map { "\"\($0)\"" }.joined(separator: ",")

    static let asked: [Refusal] =
        Refusal.values(notBooleans, for: "interactive") + Refusal.values(notObjects, for: "policy")
        + Refusal.values(notNumbers + ["-0.001", "60.001", "1e9", "1e999"], for: "readySeconds")
        + Refusal.values(notStrings + [#""Abort""#, #""wait""#, #""""#], for: "onUnready")
        + Refusal.values(notObjects, for: "coalesce")
        + Refusal.values(["1", "true", "null", "{}", #""master""#], for: "participants")
        + [
            Refusal(#"{"policy": {}}"#, .missingField, "policy.by"),
            Refusal(#"{"policy": {"threshold": 0.5}}"#, .missingField, "policy.by"),
            Refusal(#"{"policy": {"by": "speed"}}"#, .invalidField, "policy.by"),
            Refusal(#"{"policy": {"by": 1}}"#, .invalidField, "policy.by"),
            Refusal(#"{"policy": {"by": "fraction", "by": "fraction"}}"#, .invalidField, "policy.by"),
            Refusal(#"{"policy": {"by": "fraction", "limit": 1}}"#, .unknownField, "policy.limit"),
            Refusal(#"{"policy": {"by": "velocity", "threshold": 0}}"#, .invalidField, "policy.threshold"),
            Refusal(#"{"participants": [{}]}"#, .missingField, "participants[0].client"),
            Refusal(#"{"participants": ["a", {"required": true}]}"#, .missingField, "participants[1].client"),
            Refusal(#"{"participants": ["a", ""]}"#, .invalidField, "participants[1]"),
            Refusal(#"{"participants": ["a", 1]}"#, .invalidField, "participants[1]"),
            Refusal(#"{"participants": [null]}"#, .invalidField, "participants[0]"),
            Refusal(#"{"participants": [["a"]]}"#, .invalidField, "participants[0]"),
            Refusal(#"{"participants": [{"client": "\#(tooLong)"}]}"#, .invalidField, "participants[0].client"),
            Refusal(#"{"participants": [{"client": 1}]}"#, .invalidField, "participants[0].client"),
            Refusal(
                #"{"participants": [{"client": "a", "required": 1}]}"#, .invalidField, "participants[0].required"),
            Refusal(
                #"{"participants": [{"client": "a", "mayVeto": "yes"}]}"#, .invalidField, "participants[0].mayVeto"),
            Refusal(#"{"participants": [{"client": "a", "state": "ready"}]}"#, .unknownField, "participants[0].state"),
            Refusal(#"{"participants": ["a", {"client": "a"}]}"#, .invalidField, "participants[1]"),
            Refusal(#"{"participants": [\#(many)]}"#, .invalidField, "participants"),
            Refusal(#"{"coalesce": {}}"#, .missingField, "coalesce.key"),
            Refusal(#"{"coalesce": {"keep": "first"}}"#, .missingField, "coalesce.key"),
            Refusal(#"{"coalesce": {"key": ""}}"#, .invalidField, "coalesce.key"),
            Refusal(#"{"coalesce": {"key": 1}}"#, .invalidField, "coalesce.key"),
            Refusal(#"{"coalesce": {"key": "a\u0000"}}"#, .invalidField, "coalesce.key"),
            Refusal(#"{"coalesce": {"key": "\#(tooLong)"}}"#, .invalidField, "coalesce.key"),
            Refusal(#"{"coalesce": {"key": "a", "keep": "last"}}"#, .invalidField, "coalesce.keep"),
            Refusal(#"{"coalesce": {"key": "a", "keep": null}}"#, .invalidField, "coalesce.keep"),
            Refusal(#"{"coalesce": {"key": "a", "scene": "b"}}"#, .unknownField, "coalesce.scene"),
            Refusal(#"{"interactive": true, "interactive": true}"#, .invalidField, "interactive"),
            Refusal(#"{"interaction": {}}"#, .unknownField, "interaction"),
            Refusal(#"{"session": "s-0000000000001"}"#, .unknownField, "session"),
        ]
        + (notNumbers + ["-0.001", "1.001", "1e999"]).map { threshold in
            Refusal(#"{"policy": {"by": "fraction", "threshold": \#(threshold)}}"#, .invalidField, "policy.threshold")
        }

    @Test(arguments: ["/transitions/start", "/transitions/serialize"], asked)
    func `a request with fields that cannot be takes no lock`(target: String, refusal: Refusal) throws {
        try Service().refuses(refusal, target)
    }

    @Test(arguments: ["/transitions/start", "/transitions/serialize"])
    func `as many participants as there may be are taken`(target: String) throws {
        let clients = (1...Limits.participants).map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try Service().ask(
            "POST", target,
            #"{"participants": [\#(clients)], "readySeconds": 60, "coalesce": {"key": "\#(Self.tooLong.dropLast())"}}"#)
        #expect(answer.status == 201)
        #expect(answer.body["participants"]?.elements.count == Limits.participants)
    }

    private static let moved: [Refusal] =
        Refusal.values(notNumbers + infinite, for: "fraction") + Refusal.values(notNumbers + infinite, for: "velocity")
    private static let numbered = Refusal.values(
        notNumbers + infinite + ["-1", "0.5", "9007199254740993", "1e300"], for: "sequence")

    private static let driven: [(String, Refusal)] =
        (moved + numbered).map { ("progress", $0) } + moved.map { ("release", $0) }
        + Refusal.values(notBooleans, for: "cancelled").map { ("release", $0) }
        + Refusal.values(notStrings + [#""Finish""#, #""completed""#, #""""#], for: "decision").map { ("release", $0) }
        + [
            ("progress", Refusal("{}", .missingField, "fraction")),
            ("progress", Refusal(#"{"velocity": 1}"#, .missingField, "fraction")),
            ("progress", Refusal(#"{"fraction": 0.1, "fraction": 0.1}"#, .invalidField, "fraction")),
            ("progress", Refusal(#"{"fraction": 0.1, "decision": "finish"}"#, .unknownField, "decision")),
            ("release", Refusal(#"{"decision": "finish", "decision": "finish"}"#, .invalidField, "decision")),
            ("release", Refusal(#"{"sequence": 1}"#, .unknownField, "sequence")),
            ("progress", Refusal(#"{"fraction": NaN}"#, .malformedJSON)),
            ("progress", Refusal(#"{"fraction": Infinity}"#, .malformedJSON)),
            ("release", Refusal(#"{"velocity": -Infinity}"#, .malformedJSON)),
        ]

    @Test(arguments: driven)
    func `a finger is somewhere and goes somewhere`(action: String, refusal: Refusal) throws {
        let service = try Service()
        let owner = try service.started(#"{"interactive": true}"#)
        let more = String(decoding: refusal.bytes.dropFirst().dropLast(), as: UTF8.self)
        try service.refuses(Refusal(owner.acting(more), refusal.code, refusal.field), "/transitions/\(action)")
        #expect(try service.shown(owner)["interaction"] == ["phase": "began"])
    }

    @Test(arguments: ["progress", "release"], StrictFieldsTests.acted)
    func `who drives a transition names it properly`(action: String, refusal: Refusal) throws {
        try Service().refuses(refusal, "/transitions/\(action)")
    }

    @Test(arguments: [
        Refusal("", .missingField, "id"), Refusal("{}", .missingField, "id"),
        Refusal(#"{"client": "a"}"#, .missingField, "id"),
        Refusal(#"{"id": "s-0000000000001", "client": "a"}"#, .invalidField, "id"),
        Refusal(#"{"id": "t-0000000000001", "client": ""}"#, .invalidField, "client"),
        Refusal(#"{"id": "t-0000000000001", "client": null}"#, .invalidField, "client"),
        Refusal(#"{"id": "t-0000000000001", "client": "a", "client": "a"}"#, .invalidField, "client"),
        Refusal(#"{"id": "t-0000000000001", "client": "a", "token": "0"}"#, .unknownField, "token"),
        Refusal(#"{"id": "t-0000000000001", "ready": 0}"#, .invalidField, "ready"),
        Refusal(#"{"id": "t-0000000000001", "ready": false, "reason": ""}"#, .invalidField, "reason"),
        Refusal(#"{"id": "t-0000000000001", "reason": "it is not saved"}"#, .invalidField, "reason"),
        Refusal(#"{"id": "t-0000000000001", "client": "a""#, .malformedJSON),
    ])
    func `who is ready says who and for what`(refusal: Refusal) throws {
        try Service().refuses(refusal, "/transitions/ready")
    }

    @Test(
        arguments: Refusal.values(notStrings + [#""""#, #""a\nb""#, "\"\(tooLong)\""], for: "client")
            + Refusal.values(notNumbers + infinite + ["0", "0.999", "-1", "3600.001"], for: "ttlSeconds")
            + [
                Refusal(#"{"ttl": 1}"#, .unknownField, "ttl"), Refusal(#"{"token": "0"}"#, .unknownField, "token"),
                Refusal(#"{"client": "a", "client": "a"}"#, .invalidField, "client"), Refusal("[]", .malformedJSON),
            ])
    func `a session that cannot be is not begun`(refusal: Refusal) throws {
        try Service().refuses(refusal, "/sessions")
    }

    @Test(arguments: ["/sessions/renew", "/sessions/end"])
    func `a session is named by its header field and by nothing else`(target: String) throws {
        let service = try Service()
        let session = try service.opened()
        try service.refuses(Refusal(#"{"token": "\#(session.token)"}"#, .unknownField, "token"), target)
        try service.refuses(Refusal(#"{"id": "\#(session.id)"}"#, .unknownField, "id"), target)
        let query = try service.ask("POST", target + "?x=1", headers: session.headers)
        #expect(query.status == 400 && query.code == "unknown-field" && query.field == "x")
        #expect(try service.ask("POST", target, "{}", headers: session.headers).status == 200)
    }

    @Test(arguments: [
        "/sessions", "/transitions/perform", "/transitions/progress", "/transitions/release", "/transitions/ready",
    ])
    func `a parameter where there is none to give is refused by name`(target: String) throws {
        let answer = try Service().ask("POST", target + "?wait=1")
        #expect(answer.status == 400 && answer.code == "unknown-field" && answer.field == "wait")
    }

    @Test(arguments: ["", "x", String(nobodysToken.dropLast()), nobodysToken + "0", "s-0000000000001"])
    func `what is no token in the header field is refused by its name, and not repeated`(token: String) throws {
        let service = try Service()
        try service.opened()
        let ready = #"{"id": "t-0000000000001", "client": "a"}"#
        for (method, target, body) in [
            ("POST", "/transitions/start", ""), ("POST", "/transitions/serialize", ""),
            ("POST", "/transitions/ready", ready), ("POST", "/sessions/renew", ""), ("POST", "/sessions/end", ""),
            ("GET", "/scenes/main/events", ""), ("HEAD", "/scenes/main/events", ""),
        ] {
            let exchange = service.send(method, target, body, headers: [.session: token])
            let answer = try exchange.answer()
            #expect(answer.status == 400 && answer.code == "invalid-field" && answer.field == "Arbiter-Session")
            #expect(exchange.reservations == 0)
        }
        #expect(try service.transitions().isEmpty)
    }
}
