import Testing

@testable import ArbiterHTTP

/// `operations` of a start, a serialize, a dry run and a perform.
struct ListedOperationsTests {
    private let service: Service

    init() throws {
        service = try Service()
        let root =
            #"{"id": "tabs", "kind": "tabs", "children": ["feed", {"id": "nav", "kind": "navigation", "children": ["list", "draft"]}]}"#
        let segue = #"{"identifier": "edit", "source": "list", "kind": "show", "destination": "editor"}"#
        try service.ask("PUT", "/scenes/main/storyboard", #"{"root": \#(root), "segues": [\#(segue)]}"#)
    }

    private static let pop = #"{"type": "pop", "navigation": "nav"}"#
    private static let select = #"{"type": "select", "tabs": "tabs", "controller": "nav"}"#

    private static func push(_ id: String) -> String {
        #"{"type": "push", "navigation": "nav", "controller": "\#(id)"}"#
    }

    private static func body(_ operations: String...) -> String {
        #"{"operations": [\#(operations.joined(separator: ", "))]}"#
    }

    @Test func `several operations are one transition with the events of the whole`() throws {
        let link = try service.started(
            Self.body(Self.select, Self.pop, Self.push("passing"), Self.pop, Self.push("item")))
        let body = link.answer.body
        #expect(body["operations"]?.elements.count == 5 && body["operation"] == nil)
        let appearing = body["appearance"]?.elements.filter { $0["event"] == "willAppear" }
        #expect(appearing?.map { $0["controller"]?.text } == ["nav", "item"])
        #expect(
            try service.ask("GET", "/transitions").body["transitions"]?.elements.first?["operations"]?.elements.count
                == 5)
        let ended = try service.ended(link).body
        #expect(ended["inserted"] == ["item"] && ended["removed"] == ["draft"] && ended["revision"] == 2)
    }

    @Test func `a list of one is that operation`() throws {
        let popped = try service.started(Self.body(Self.pop))
        #expect(popped.answer.body["operation"]?["type"] == "pop" && popped.answer.body["operations"] == nil)
    }

    @Test func `the first that is impossible refuses all, by its index`() throws {
        let body = Self.body(Self.pop, Self.push("item"), Self.push("list"))
        let refused = try service.ask("POST", "/transitions/start", body)
        #expect(refused.status == 422 && refused.code == "already-on-stack" && refused.body["index"] == 2)
        let rejected = try service.ask("POST", "/transitions/serialize", body)
        #expect(rejected.body["reason"] == "invalid-operation" && rejected.body["index"] == 2)
        #expect(try service.ask("GET", "/scenes/main").body["revision"] == 1)
        let single = try service.ask("POST", "/transitions/start", Self.body(Self.push("list")))
        #expect(single.status == 422 && single.body["index"] == nil)
    }

    @Test func `segues of a list say what they became, each in its place`() throws {
        let edit = #"{"type": "segue", "source": "list", "identifier": "edit"}"#
        let asked = try service.started(Self.body(Self.select, Self.pop, edit))
        let resolved = asked.answer.body["resolved"]?.elements ?? []
        #expect(resolved.map { $0["type"]?.text } == ["select", "pop", "push"])
        #expect(resolved.last?["navigation"] == "nav" && resolved.last?["controller"]?["id"] == "editor")
        let summary = try service.ask("GET", "/transitions").body["transitions"]?.elements.first
        #expect(summary?["operations"] != nil && summary?["resolved"] == nil)
    }

    @Test func `what changes nothing in the whole is a no-op`() throws {
        let body = Self.body(Self.push("passing"), Self.pop)
        let passed = try service.ask("POST", "/transitions/start", body)
        #expect(passed.status == 200 && passed.body["noop"] == true && passed.body["state"] == "ended")
        #expect(try service.ask("POST", "/transitions/start?dryRun=true", body).body["noop"] == true)
        // Another instance is a change.
        let again = try service.started(Self.body(Self.pop, Self.push("draft")))
        #expect(try service.ended(again).body["removed"] == ["draft"])
    }

    @Test func `a transition without an operation may be given several`() throws {
        let held = try service.started("{}")
        let operations = "\"operations\": [\(Self.pop), \(Self.push("item"))]"
        let performed = try service.ask("POST", "/transitions/perform", held.acting(operations))
        #expect(
            performed.status == 200 && performed.body["inserted"] == ["item"] && performed.body["removed"] == ["draft"])
        let both = try service.ask(
            "POST", "/transitions/perform", held.acting(operations + ", \"operation\": \(Self.pop)"))
        #expect(both.status == 400 && both.body["field"] == "operation")
        let none = try service.ask("POST", "/transitions/perform", held.acting())
        #expect(none.status == 400 && none.code == "missing-field")
    }

    static let malformed = [
        Refusal(#"{"operations": []}"#, .invalidField, "operations"),
        Refusal(#"{"operations": {"type": "pop", "navigation": "nav"}}"#, .invalidField, "operations"),
        Refusal(body(pop, "{}"), .missingField, "operations[1].type"),
        Refusal(body(pop, "[\(pop)]"), .invalidField, "operations[1]"),
        Refusal(#"{"operation": \#(pop), "operations": [\#(pop)]}"#, .invalidField, "operations"),
        Refusal(
            #"{"operations": [\#(Array(repeating: pop, count: 17).joined(separator: ","))]}"#, .invalidField,
            "operations"),
        Refusal(#"{"operations": null}"#, .invalidField, "operations"),
    ]

    @Test(arguments: ["/transitions/start", "/transitions/serialize"], malformed)
    func `what is no list of operations is refused by name`(target: String, refusal: Refusal) throws {
        try service.refuses(refusal, target)
    }

    @Test func `a list does not bring in more than a tree can have`() throws {
        let stack = (0..<5_001).map { #""c\#($0)""# }.joined(separator: ",")
        let whole = #"{"type": "setStack", "navigation": "nav", "controllers": [\#(stack)]}"#
        let refused = try service.ask("POST", "/transitions/start", Self.body(whole, whole))
        #expect(refused.status == 400 && refused.body["field"] == "operations[1]")
    }
}
