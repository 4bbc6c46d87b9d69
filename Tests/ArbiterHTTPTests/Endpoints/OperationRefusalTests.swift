import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Impossible operations, scopes and expectations, and their refusals.
struct OperationRefusalTests {
    private let service: Service

    init() throws {
        service = try Service()
        try service.declared()
    }

    private static func push(_ controller: String) -> String {
        #"{"type": "push", "navigation": "nav", "controller": \#(controller)}"#
    }

    private static let refusals = [
        (push(#""list""#), "already-on-stack", "<nav> is pushing the same view controller instance <list> more than"),
        (push(#"{"id": "x", "kind": "tabs"}"#), "cannot-push-container", "Pushing a tab bar controller"),
        (#"{"type": "pop", "navigation": "none"}"#, "unknown-controller", "There is no controller <none>."),
        (#"{"type": "pop", "navigation": "list"}"#, "wrong-kind", "<list> is a view controller, not a navigation"),
        (
            #"{"type": "popTo", "navigation": "nav", "controller": "settings"}"#, "not-on-stack",
            "Tried to pop to a view controller that doesn't exist."
        ),
        (#"{"type": "select", "tabs": "tabs", "index": 9}"#, "index-out-of-range", "Index 9 is none of the tabs"),
        (#"{"type": "select", "tabs": "tabs", "index": -1}"#, "index-out-of-range", "Index -1 is none of the tabs"),
        (
            #"{"type": "select", "tabs": "tabs", "controller": "list"}"#, "not-a-child",
            "Attempting to select a view controller that isn't a child!"
        ),
        (
            #"{"type": "present", "presenter": "settings", "controller": "x"}"#, "not-visible",
            "Attempt to present <x> on <tabs> (from <settings>) whose view is not in the window hierarchy!"
        ),
        (
            #"{"type": "present", "presenter": "list", "controller": "nav"}"#, "already-in-hierarchy",
            "Application tried to present modally an active controller <nav>."
        ),
        (
            #"{"type": "segue", "source": "list", "identifier": "x"}"#, "unknown-segue",
            "Receiver (<list>) has no segue with identifier 'x'"
        ),
    ]

    @Test(arguments: refusals)
    func `a start that UIKit would not do is refused in its words`(operation: String, code: String, words: String)
        throws
    {
        let before = try service.journal.records()
        let answer = try service.ask("POST", "/transitions/start", #"{"operation": \#(operation)}"#)
        #expect(answer.status == 422)
        #expect(answer.code == code)
        #expect(answer.body["detail"]?.text?.hasPrefix(words) == true, "\(answer.body)")
        #expect(try service.journal.records() == before)
    }

    @Test(arguments: refusals)
    func `a serialize that UIKit would not do is rejected at its turn`(operation: String, code: String, words: String)
        throws
    {
        let answer = try service.ask("POST", "/transitions/serialize", #"{"operation": \#(operation)}"#)
        #expect(answer.status == 200)
        #expect(answer.body["outcome"] == "rejected")
        #expect(answer.body["reason"] == "invalid-operation")
        #expect(answer.body["code"] == .string(code))
        #expect(answer.body["detail"]?.text?.hasPrefix(words) == true, "\(answer.body)")
        #expect(answer.body["token"] != nil)
        #expect(answer.body.names.isDisjoint(with: ["fence", "expected", "actual", "noop", "revision"]))
    }

    @Test func `an owner who waits is told of the rejection at its turn, and the next one runs`() throws {
        let operation = #""operation": \#(Self.push(#""editor""#))"#
        let push = try service.started("{\(operation)}")
        let waiting = service.send("POST", "/transitions/serialize", #"{\#(operation), "wait": 60}"#)
        let next = try service.serialized(#"{"expect": {"controller": "editor", "is": "top"}}"#)
        #expect(next.answer.status == 202)
        #expect(waiting.responses.isEmpty)
        try service.ended(push)
        let rejected = try waiting.answer()
        #expect(rejected.status == 200)
        #expect(rejected.body["outcome"] == "rejected")
        #expect(rejected.body["reason"] == "invalid-operation")
        #expect(rejected.body["code"] == "already-on-stack")
        #expect(try service.shown(next)["state"] == "running")
    }

    @Test func `whoever presents already is said, and who would really present`() throws {
        let present = #"{"operation": {"type": "present", "presenter": "list", "controller": "CONTROLLER"}}"#
        try service.ended(try service.started(present.replacing("CONTROLLER", with: "first")))
        let answer = try service.ask("POST", "/transitions/start", present.replacing("CONTROLLER", with: "second"))
        #expect(answer.code == "already-presenting")
        #expect(
            answer.body["detail"]
                == "Attempt to present <second> on <tabs> (from <list>) which is already presenting <first>.")
    }

    @Test(arguments: [
        (#"{"controller": "settings", "is": "visible"}"#, "settings is visible", "not visible"),
        (#"{"controller": "x", "is": "exists"}"#, "x exists", "absent"),
        (#"[{"controller": "list", "is": "top"}, {"revision": 41}]"#, "revision 41", "revision 1"),
        (#"{"revision": 9223372036854775807}"#, "revision 9223372036854775807", "revision 1"),
    ])
    func `what was expected and what was found are told`(expect: String, expected: String, actual: String) throws {
        let body = #"{"expect": \#(expect)}"#
        let started = try service.ask("POST", "/transitions/start", body)
        #expect(started.status == 412)
        #expect(started.code == "expectation-failed")
        #expect(started.field == "expect")
        #expect(started.body["expected"] == .string(expected))
        #expect(started.body["actual"] == .string(actual))
        #expect(started.body["detail"] == .string("Expected: \(expected); found: \(actual)."))

        let serialized = try service.ask("POST", "/transitions/serialize", body)
        #expect(serialized.status == 200)
        #expect(serialized.body["outcome"] == "rejected")
        #expect(serialized.body["reason"] == "expectation-failed")
        #expect(serialized.body["code"] == "expectation-failed")
        #expect(serialized.body["detail"] == started.body["detail"])
        #expect(serialized.body["expected"] == .string(expected))
        #expect(serialized.body["actual"] == .string(actual))
    }

    @Test func `what holds is shown as a list, as it was asked`() throws {
        let granted = try service.started(#"{"expect": {"controller": "list", "is": "visible"}}"#)
        #expect(granted.answer.body["expect"] == [["controller": "list", "is": "visible"]])
        try service.ended(granted)
        #expect(try service.started(#"{"expect": []}"#).answer.body["expect"] == nil)
    }

    @Test(arguments: ["start", "serialize"])
    func `a scope or a type that is not there is refused at once`(verb: String) throws {
        let target = "/transitions/\(verb)"
        let scope = try service.ask("POST", target, #"{"scope": ["list", "none"]}"#)
        #expect(scope.status == 422)
        #expect(scope.code == "unknown-controller")
        let type = try service.ask("POST", target, #"{"animation": {"type": "moon"}}"#)
        #expect(type.status == 422)
        #expect(type.code == "unknown-transition-type")
        #expect(type.field == "animation.type")
        #expect(try service.transitions().isEmpty)
    }

    @Test func `a scope that is gone at its turn is rejected`() throws {
        try service.ended(try service.started(#"{"operation": \#(Self.push(#""editor""#))}"#))
        let pop = try service.started(#"{"operation": {"type": "pop", "navigation": "nav"}}"#)
        let ticket = try service.serialized(#"{"scope": ["editor"]}"#)
        try service.ended(pop)
        let rejected = try service.ask("GET", "/transitions/\(ticket.id)")
        #expect(rejected.body["outcome"] == "rejected")
        #expect(rejected.body["reason"] == "scope-gone")
        #expect(rejected.body["code"] == "unknown-controller")
        #expect(rejected.body["detail"]?.text?.contains("<editor>") == true)
        let acted = try service.ask("POST", "/transitions/end", ticket.acting())
        #expect(acted.status == 410)
        #expect(acted.body["transition"]?["reason"] == "scope-gone")
    }

    static let malformed = [
        Refusal(#"{"scope": "operation"}"#, .invalidField, "scope"),
        Refusal(#"{"scope": ["a b"]}"#, .invalidField, "scope[0]"),
        Refusal(#"{"operation": "push"}"#, .invalidField, "operation"),
        Refusal(#"{"operation": {}}"#, .missingField, "operation.type"),
        Refusal(#"{"operation": {"type": "hop"}}"#, .invalidField, "operation.type"),
        Refusal(#"{"operation": {"type": "pop"}}"#, .missingField, "operation.navigation"),
        Refusal(#"{"operation": {"type": "pop", "navigation": "nav", "tabs": "t"}}"#, .unknownField, "operation.tabs"),
        Refusal(
            #"{"operation": {"type": "push", "navigation": "nav", "controller": {"id": "a", "kind": "b"}}}"#,
            .invalidField, "operation.controller.kind"),
        Refusal(#"{"expect": "visible"}"#, .invalidField, "expect"),
        Refusal(#"{"expect": [{"controller": "a", "is": "here"}]}"#, .invalidField, "expect[0].is"),
        Refusal(#"{"expect": {"revision": -1}}"#, .invalidField, "expect.revision"),
        Refusal(#"{"animation": 1}"#, .invalidField, "animation"),
        Refusal(#"{"animation": {"duration": -1}}"#, .invalidField, "animation.duration"),
        Refusal(#"{"animation": {"speed": 1}}"#, .unknownField, "animation.speed"),
        Refusal(
            #"{"animation": {"userInfo": ""# + String(repeating: "x", count: 4096) + #""}}"#, .invalidField,
            "animation.userInfo"),
        Refusal(#"{"onExpiry": "forget"}"#, .invalidField, "onExpiry"),
        Refusal(#"{"onExpiry": null}"#, .invalidField, "onExpiry"),
    ]

    @Test(arguments: ["/transitions/start", "/transitions/serialize"], malformed)
    func `what cannot be is refused by name, and takes no lock`(target: String, refusal: Refusal) throws {
        try service.refuses(refusal, target)
    }

    @Test func `the same key with another operation is another request`() throws {
        let headers = [HeaderName.idempotencyKey: "0123456789abcdef"]
        let (first, second) = (Self.push(#""a""#), Self.push(#""b""#))
        let body = #"{"operation": \#(first)}"#
        let started = try service.ask("POST", "/transitions/start", body, headers: headers)
        #expect(try service.ask("POST", "/transitions/start", body, headers: headers).body == started.body)
        let other = try service.ask("POST", "/transitions/start", #"{"operation": \#(second)}"#, headers: headers)
        #expect(other.status == 422)
        #expect(other.code == "idempotency-key-reused")
    }
}
