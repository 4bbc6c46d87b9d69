import ArbiterCore
import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `PATCH /scenes/{scene}/storyboard`.
struct StoryboardPatchTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private func patch(_ body: String, headers: [HeaderName: String] = [:]) throws -> Answer {
        try service.ask("PATCH", "/scenes/main/storyboard", body, headers: headers)
    }

    private var document: JSON {
        get throws { try service.ask("GET", "/scenes/main/storyboard").body }
    }

    @Test func `entries are added, replaced and removed by name, and the hierarchy stays`() throws {
        try service.declared()
        let before = try document
        let added = try patch(
            #"{"segues": {"list": {"edit": {"kind": "present", "destination": "sheet"}, "up": {"kind": "unwind", "#
                + #""destination": "list"}}}, "transitionTypes": {"flip": {}}, "#
                + #""defaults": {"leaseSeconds": 3, "duration": null}}"#)
        #expect(added.status == 200)
        #expect(added.body == ["name": "main", "revision": 1])
        #expect(added.headers("ETag") == ["\"1.1\""])
        let segue: JSON = [
            "identifier": "edit", "source": "list", "kind": "present", "destination": ["id": "sheet", "kind": "view"],
        ]
        let after = try document
        #expect(after["root"] == before["root"])
        #expect(after["segues"]?[0] == segue)
        #expect(after["segues"]?[1]?["identifier"] == "up")
        #expect(after["transitionTypes"]?[1] == ["name": "flip"])
        #expect(
            after["defaults"] == ["duration": 0.35, "curve": "easeInOut", "leaseSeconds": 3, "scope": "scene"])

        let removed = try patch(
            #"{"segues": {"list": {"edit": null, "never": null}, "nobody": {}}, "transitionTypes": {"star": null}}"#)
        #expect(removed.headers("ETag") == ["\"1.2\""])
        #expect(try document["segues"]?[0]?["identifier"] == "up")
        #expect(try document["transitionTypes"] == [["name": "flip"]])
        #expect(try patch(#"{"defaults": null}"#).headers("ETag") == ["\"1.3\""])
        #expect(try document["defaults"]?["leaseSeconds"] == 10)
    }

    @Test func `what changes nothing leaves the tag and the journal as they are`() throws {
        try service.declared()
        let before = try service.journal.records()
        for body in ["{}", #"{"segues": {}}"#, #"{"transitionTypes": {"star": {"duration": 1, "curve": "linear"}}}"#] {
            #expect(try patch(body).headers("ETag") == ["\"1\""])
        }
        #expect(try service.journal.records() == before)
    }

    @Test func `what a transition uses is not changed, and what it does not use is`() throws {
        try service.declared()
        let user = try service.started(
            #"{"client": "menu", "operation": {"type": "segue", "source": "list", "identifier": "edit"}}"#)
        let refused = try patch(#"{"segues": {"list": {"edit": null}}}"#)
        #expect(refused.status == 409)
        #expect(refused.code == "in-use")
        #expect(refused.field == "segues")
        #expect(refused.body["holder"]?["id"] == .string(user.id))
        #expect(
            refused.body["detail"]
                == .string(
                    "menu (\(user.id)) uses the segue \"edit\" from \"list\": change that when it has ended."))
        #expect(try patch(#"{"segues": {"more": {"edit": {"kind": "show", "destination": "x"}}}}"#).status == 200)
    }

    @Test func `a scene is declared before it is changed`() throws {
        let body = #"{"transitionTypes": {"flip": {}}}"#
        #expect(try patch(body).code == "unknown-scene")
        try service.started()
        let undeclared = try patch(body)
        #expect(undeclared.status == 404)
        #expect(undeclared.code == "not-found")
        #expect(try service.ask("GET", "/scenes/main/storyboard").code == "not-found")
    }

    @Test func `the tag of a patch is that of the next one, and the old one is refused`() throws {
        try service.declared()
        let first = try patch(#"{"transitionTypes": {"flip": {}}}"#, headers: [.ifMatch: "\"1\""])
        #expect(first.status == 200)
        let late = try patch(#"{"transitionTypes": {"turn": {}}}"#, headers: [.ifMatch: "\"1\""])
        #expect(late.status == 412)
        #expect(late.body["actual"] == "\"1.1\"")
        let tag = try #require(first.headers("ETag").first)
        #expect(try patch(#"{"transitionTypes": {"turn": {}}}"#, headers: [.ifMatch: tag]).status == 200)
        #expect(try service.ask("DELETE", "/scenes/main", headers: [.ifMatch: tag]).code == "revision-mismatch")
        #expect(try patch("{}", headers: [.ifNoneMatch: "*"]).code == "already-declared")
    }

    @Test func `a type that the document still names is not removed`() throws {
        try service.declared(
            #"{"root": {"id": "a", "introTransitionType": "star"}, "transitionTypes": [{"name": "star"}]}"#)
        let refused = try patch(#"{"transitionTypes": {"star": null}}"#)
        #expect(refused.status == 422)
        #expect(refused.code == "unknown-transition-type")
    }

    @Test(arguments: [
        Refusal("", .malformedJSON), Refusal("[]", .malformedJSON), Refusal("null", .malformedJSON),
        Refusal(#"{"root": "a"}"#, .unknownField, "root"), Refusal(#"{"segues": []}"#, .invalidField, "segues"),
        Refusal(#"{"segues": null}"#, .invalidField, "segues"),
        Refusal(#"{"segues": {"a b": {}}}"#, .invalidField, "segues.a b"),
        Refusal(#"{"segues": {"a": null}}"#, .invalidField, "segues.a"),
        Refusal(#"{"segues": {"a": {"x": 1}}}"#, .invalidField, "segues.a.x"),
        Refusal(#"{"segues": {"a": {"x": {"kind": "show"}}}}"#, .missingField, "segues.a.x.destination"),
        Refusal(#"{"segues": {"a": {"x": {"destination": "b"}}}}"#, .missingField, "segues.a.x.kind"),
        Refusal(#"{"segues": {"a": {"x": null, "x": null}}}"#, .invalidField, "segues.a.x"),
        Refusal(
            #"{"segues": {"a": {"x": {"kind": "show", "destination": "b", "source": "a"}}}}"#, .unknownField,
            "segues.a.x.source"),
        Refusal(#"{"transitionTypes": {"": {}}}"#, .invalidField, "transitionTypes."),
        Refusal(#"{"transitionTypes": {"x": {"duration": -1}}}"#, .invalidField, "transitionTypes.x.duration"),
        Refusal(#"{"transitionTypes": {"x": {"duration": null}}}"#, .invalidField, "transitionTypes.x.duration"),
        Refusal(#"{"defaults": {"leaseSeconds": 0}}"#, .invalidField, "defaults.leaseSeconds"),
        Refusal(#"{"defaults": {"lease": 1}}"#, .unknownField, "defaults.lease"),
    ])
    func `what is no patch is refused by name, and nothing changes`(refusal: Refusal) throws {
        try service.declared()
        let before = try service.journal.records()
        let answer = try service.send("PATCH", "/scenes/main/storyboard", bytes: refusal.bytes).answer()
        #expect(answer.status == 400)
        #expect(answer.code == refusal.code.rawValue)
        #expect(answer.field == refusal.field)
        #expect(try service.journal.records() == before)
    }

    @Test func `a storyboard does not grow beyond what can be declared`() throws {
        try service.declared("{}")
        let many = (0..<Limits.segues).map { #""s\#($0)": {"kind": "show", "destination": "x"}"# }
        #expect(try patch(#"{"segues": {"a": {\#(many.joined(separator: ","))}}}"#).status == 200)
        let more = try patch(#"{"segues": {"b": {"one": {"kind": "show", "destination": "x"}}}}"#)
        #expect(more.status == 400)
        #expect(more.field == "segues")
        let tooMany = many + [#""t": null"#]
        #expect(try patch(#"{"segues": {"a": {\#(tooMany.joined(separator: ","))}}}"#).field == "segues.a")
    }
}
