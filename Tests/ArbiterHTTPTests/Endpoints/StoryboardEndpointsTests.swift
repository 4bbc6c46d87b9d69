import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

struct StoryboardEndpointsTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    @Test func `a storyboard makes its scene, and is read as it is`() throws {
        let declared = try service.declared()
        #expect(declared.status == 200)
        #expect(declared.body == ["name": "main", "revision": 1])
        #expect(declared.headers("ETag") == ["\"1\""])

        let read = try service.ask("GET", "/scenes/main/storyboard")
        #expect(read.status == 200)
        #expect(read.headers("ETag") == ["\"1\""])
        #expect(
            read.body == [
                "root": [
                    "id": "tabs", "kind": "tabs", "selected": 0,
                    "children": [
                        ["id": "nav", "kind": "navigation", "children": [["id": "list", "kind": "view"]]],
                        ["id": "more", "kind": "navigation", "children": [["id": "settings", "kind": "view"]]],
                    ],
                ],
                "segues": [
                    [
                        "identifier": "edit", "source": "list", "kind": "show",
                        "destination": ["id": "editor", "kind": "view"],
                    ]
                ],
                "transitionTypes": [["name": "star", "duration": 1, "curve": "linear"]],
                "defaults": ["duration": 0.25, "curve": "easeInOut", "leaseSeconds": 10, "scope": "scene"],
            ])
    }

    @Test func `what is read can be declared again`() throws {
        try service.declared()
        let read = try service.ask("GET", "/scenes/main/storyboard")
        let text = String(decoding: read.response.body, as: UTF8.self)
        #expect(try service.declared(text).body["revision"] == 2)
        #expect(try service.ask("GET", "/scenes/main/storyboard").body == read.body)
    }

    @Test func `a scene shows its hierarchy, its revision and its newest event`() throws {
        try service.declared()
        let answer = try service.ask("GET", "/scenes/main")
        // What runs and waits changes without a new revision, so the revision is no tag of this answer.
        #expect(answer.headers("ETag").isEmpty)
        #expect(answer.body["revision"] == 1)
        #expect(answer.body["lastEvent"] == 1)
        #expect(answer.body["hierarchy"]?["id"] == "tabs")
        #expect(try service.ask("GET", "/scenes").body["scenes"]?[0]?["revision"] == 1)
    }

    @Test func `a scene without a controller shows none`() throws {
        try service.declared("{}")
        let answer = try service.ask("GET", "/scenes/main")
        #expect(answer.status == 200)
        #expect(answer.body["hierarchy"] == nil)
        #expect(answer.body["revision"] == 1)
    }

    @Test func `the defaults of a storyboard hold where a request is silent`() throws {
        try service.declared(#"{"root": "a", "defaults": {"leaseSeconds": 2.5, "scope": "operation"}}"#)
        #expect(try service.started().answer.body["leaseSeconds"] == 2.5)
        #expect(try service.transitions()[0]["scope"] == "scene")
    }

    @Test(arguments: [
        Refusal("", .malformedJSON), Refusal("[]", .malformedJSON), Refusal("{", .malformedJSON),
        Refusal(#"{"roots": "a"}"#, .unknownField, "roots"), Refusal(#"{"root": 1}"#, .invalidField, "root"),
        Refusal(#"{"root": {"id": "n", "kind": "navigation", "children": ["a", "a"]}}"#, .invalidField, "root"),
        Refusal(#"{"root": {"kind": "view"}}"#, .missingField, "root.id"),
        Refusal(
            #"{"root": {"id": "t", "kind": "tabs", "children": ["a"], "selected": 1}}"#, .invalidField, "root.selected"),
        Refusal(#"{"defaults": {"leaseSeconds": 0}}"#, .invalidField, "defaults.leaseSeconds"),
        Refusal(#"{"transitionTypes": [{"name": "x"}, {"name": "x"}]}"#, .invalidField, "transitionTypes[1].name"),
    ])
    func `what is no storyboard is refused by name, and nothing changes`(refusal: Refusal) throws {
        try service.declared()
        let before = try service.journal.records()
        let answer = try service.send("PUT", "/scenes/main/storyboard", bytes: refusal.bytes).answer()
        #expect(answer.status == 400)
        #expect(answer.code == refusal.code.rawValue)
        #expect(answer.field == refusal.field)
        #expect(try service.journal.records() == before)
    }

    @Test func `a storyboard is checked without being declared`() throws {
        let checked = try service.ask("PUT", "/scenes/main/storyboard?dryRun=true", Service.storyboard)
        #expect(checked.status == 200)
        #expect(try service.ask("GET", "/scenes/main").code == "unknown-scene")
        let refused = try service.ask("PUT", "/scenes/main/storyboard?dryRun=true", #"{"root":{"id":"a","kind":"x"}}"#)
        #expect(refused.status == 400)
        _ = try service.ask("PUT", "/scenes/main/storyboard", Service.storyboard)
        #expect(try service.ask("GET", "/scenes/main/storyboard").body == checked.body)
        #expect(checked.headers("ETag") == [])
    }

    @Test func `a storyboard of another type is refused`() throws {
        let answer = try service.declared("{}", headers: [.contentType: "application/yaml"])
        #expect(answer.status == 415)
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
    }

    @Test(arguments: ["%20", "a%2Fb", "a%00"])
    func `a scene that cannot be is not made`(name: String) throws {
        for (method, target) in Self.calls {
            let answer = try service.ask(method, "/scenes/\(name)\(target)", "{}")
            #expect(answer.status == 404)
            #expect(answer.code == "unknown-scene")
        }
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
    }

    @Test func `a scene that is not there has no storyboard, and is not deleted`() throws {
        #expect(try service.ask("GET", "/scenes/main/storyboard").code == "unknown-scene")
        #expect(try service.ask("DELETE", "/scenes/main").code == "unknown-scene")
    }

    private static let calls = [
        ("PUT", "/storyboard"), ("PATCH", "/storyboard"), ("GET", "/storyboard"), ("DELETE", ""),
    ]

    @Test(arguments: calls)
    func `these calls know no parameter`(method: String, target: String) throws {
        try service.declared()
        let answer = try service.ask(method, "/scenes/main\(target)?force=1", "{}")
        #expect(answer.status == 400)
        #expect(answer.code == "unknown-field")
        #expect(answer.field == "force")
        #expect(try service.ask("GET", "/scenes/main").body["revision"] == 1)
    }

    @Test func `while a transition is unfinished its scene is neither declared nor deleted`() throws {
        try service.declared()
        let holder = try service.started(#"{"client": "menu", "scope": ["nav"]}"#)
        let ticket = try service.serialized(#"{"scope": ["nav"]}"#)
        for (method, target) in [("PUT", "/storyboard"), ("DELETE", "")] {
            let answer = try service.ask(method, "/scenes/main\(target)", "{}")
            #expect(answer.status == 409)
            #expect(answer.code == "busy")
            #expect(answer.body["holder"]?["id"] == .string(holder.id))
            #expect(answer.body["blockers"] == [.string(holder.id), .string(ticket.id)])
            let detail = "menu (\(holder.id)) is unfinished in the scene: ask again when it has ended."
            #expect(answer.body["detail"] == .string(detail))
        }
        #expect(try service.ask("GET", "/scenes/main").body["revision"] == 1)
    }

    @Test func `a scene that is deleted is forgotten, and later revisions are greater`() throws {
        try service.declared()
        let answer = try service.ask("DELETE", "/scenes/main")
        #expect(answer.status == 204)
        #expect(answer.response.body.isEmpty)
        #expect(answer.response.contentType == nil)
        #expect(try service.ask("GET", "/scenes/main").status == 404)
        #expect(try service.declared().body["revision"] == 2)
    }

    @Test func `a scene is made only where there is room for it`() throws {
        var limits = Limits()
        limits.scenes = 1
        let service = try Service(limits: limits)
        try service.declared()
        let answer = try service.ask("PUT", "/scenes/other/storyboard", "{}")
        #expect(answer.status == 429)
        #expect(answer.code == "too-many-scenes")
    }

    @Test func `a journal that has failed is told`() throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        let waiting = service.send("PUT", "/scenes/main/storyboard", "{}")
        #expect(waiting.responses.isEmpty)
        journal.fail(JournalError(reason: "The disk is full."))
        #expect(try waiting.answer().code == "journal-unavailable")
        for (method, target) in Self.calls {
            #expect(try service.ask(method, "/scenes/main\(target)", "{}").code == "journal-unavailable")
        }
    }
}

extension StoryboardEndpointsTests {
    @Test(arguments: ["GET", "HEAD"], [#""1""#, "*", #""9", "1", "3""#, #"W/"1""#, #""x" , W/"1""#])
    func `a client that has the document already gets none`(method: String, tags: String) throws {
        try service.declared()
        let answer = try service.ask(method, "/scenes/main/storyboard", headers: [.ifNoneMatch: tags])
        #expect(answer.status == 304)
        #expect(answer.response.body.isEmpty && answer.response.contentType == nil)
        #expect(answer.headers("ETag") == ["\"1\""])
    }

    @Test(arguments: [#""2""#, #""01""#, #""""#, "", "1", #""1"#, #"*, "1""#])
    func `a client that has another document, or none, gets it`(tags: String) throws {
        try service.declared()
        let answer = try service.ask("GET", "/scenes/main/storyboard", headers: [.ifNoneMatch: tags])
        #expect(answer.status == 200)
        #expect(answer.body["root"]?["id"] == "tabs")
    }

    @Test func `a long document, a refusal and an answer without a tag are sent whatever the client has`() throws {
        let star = [HeaderName.ifNoneMatch: "*"]
        #expect(try service.ask("GET", "/scenes/main/storyboard", headers: star).status == 404)
        try service.declared()
        #expect(try service.ask("GET", "/scenes/main", headers: star).status == 200)
        #expect(try service.ask("GET", "/livez", headers: star).status == 200)
        let children = (0..<9_000).map { "\"controller-\($0)\"" }.joined(separator: ",")
        try service.declared(#"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#)
        let known = service.send("GET", "/scenes/main/storyboard", headers: [.ifNoneMatch: "\"2\""])
        #expect(known.source == nil)
        #expect(try known.answer().status == 304)
        let old = service.send("GET", "/scenes/main/storyboard", headers: [.ifNoneMatch: "\"1\""])
        #expect(try old.answer().status == 200)
    }

    @Test(arguments: [#""1""#, "*", #""9", "1", "3""#, #"W/"1", "1""#])
    func `a revision that is still there is replaced`(tags: String) throws {
        try service.declared()
        let answer = try service.declared("{}", headers: [.ifMatch: tags])
        #expect(answer.status == 200)
        #expect(answer.headers("ETag") == ["\"2\""])
    }

    @Test(arguments: [#""2""#, #""0""#, #"W/"1""#, #""x""#, #""01""#, #""0", "2""#])
    func `a revision that is not there any more is not replaced`(tags: String) throws {
        try service.declared()
        let answer = try service.declared("{}", headers: [.ifMatch: tags])
        #expect(answer.status == 412)
        #expect(answer.code == "revision-mismatch")
        #expect(answer.field == "If-Match")
        #expect(answer.body["expected"] == .string(tags))
        #expect(answer.body["actual"] == "\"1\"")
        #expect(try service.hierarchy()?["id"] == "tabs")
    }

    @Test(arguments: ["*", #""0""#, #""1""#])
    func `nothing matches where there is no scene`(tags: String) throws {
        let answer = try service.declared("{}", headers: [.ifMatch: tags])
        #expect(answer.status == 412)
        #expect(answer.body["actual"] == "absent")
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
    }

    @Test(arguments: ["", "1", "\"1", "1, 2", "*, \"1\"", "\"1\" \"2\""])
    func `a tag that is none is refused`(tags: String) throws {
        try service.declared()
        let answer = try service.declared("{}", headers: [.ifMatch: tags])
        #expect(answer.status == 400)
        #expect(answer.code == "invalid-field")
        #expect(answer.field == "If-Match")
        #expect(try service.hierarchy()?["id"] == "tabs")
    }

    @Test(arguments: [(#""7""#, 412), (#"W/"1""#, 412), ("1", 400), (#""7", "1""#, 204), ("*", 204)])
    func `a scene is deleted only at a revision that is named`(tags: String, status: Int) throws {
        try service.declared()
        #expect(try service.ask("DELETE", "/scenes/main", headers: [.ifMatch: tags]).status == status)
        #expect(try service.ask("GET", "/scenes/main").status == (status == 204 ? 404 : 200))
        #expect(
            try service.ask("DELETE", "/scenes/other", headers: [.ifMatch: tags]).status == (status == 400 ? 400 : 404))
    }

    @Test func `a type that the storyboard lacks is refused`() throws {
        let answer = try service.declared(#"{"root": {"id": "a", "introTransitionType": "swirl"}}"#)
        #expect(answer.status == 422)
        #expect(answer.code == "unknown-transition-type")
        #expect(answer.field == "transitionTypes")
        let known = #"{"root": {"id": "a", "introTransitionType": "swirl"}, "transitionTypes": [{"name": "swirl"}]}"#
        #expect(try service.declared(known).status == 200)
    }

    @Test func `of those that declare what nobody has declared, one does`() throws {
        // A scene that a transition made is not declared yet.
        let holder = try service.started()
        let only: [HeaderName: String] = [.ifNoneMatch: "*"]
        #expect(try service.declared("{}", headers: only).code == "busy")
        try service.ended(holder)
        #expect(try service.declared(#"{"root": "first"}"#, headers: only).status == 200)
        try service.started()
        let late = try service.declared(#"{"root": "second"}"#, headers: only)
        #expect(late.status == 412 && late.code == "already-declared" && late.field == "If-None-Match")
        #expect(try service.hierarchy()?["id"] == "first")
    }

    @Test func `a declaration on another condition than a star is refused`() throws {
        for headers: [HeaderName: String] in [[.ifNoneMatch: "\"1\""], [.ifNoneMatch: "*", .ifMatch: "*"]] {
            let answer = try service.declared("{}", headers: headers)
            #expect(answer.status == 400 && answer.code == "invalid-field" && answer.field == "If-None-Match")
        }
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
    }

    @Test func `another tag is reported before a transition in the way`() throws {
        try service.declared()
        try service.started()
        #expect(try service.declared("{}", headers: [.ifMatch: "\"7\""]).code == "revision-mismatch")
        #expect(try service.declared("{}", headers: [.ifMatch: "\"1\""]).code == "busy")
        #expect(try service.declared("{}", headers: [.ifMatch: "*"]).code == "busy")
    }
}
