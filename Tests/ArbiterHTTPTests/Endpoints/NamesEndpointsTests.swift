import Testing

@testable import ArbiterHTTP

/// Names without a hierarchy, one of several names, and `mode`.
struct NamesEndpointsTests {
    private let service: Service

    init() throws { service = try Service() }

    private static let pool = #"{"scope": {"anyOf": ["a", "b"]}}"#

    @Test func `a ticket shows the names that it may get, and then the one that it has`() throws {
        #expect(try service.ask("POST", "/transitions/start?dryRun=true", Self.pool).body["scope"] == ["a"])
        let first = try service.started(Self.pool)
        #expect(first.answer.body["scope"] == ["a"] && first.answer.body["locks"] == ["a"])
        #expect(try service.started(Self.pool).answer.body["scope"] == ["b"])
        let busy = try service.ask("POST", "/transitions/start", Self.pool)
        #expect(busy.status == 409 && busy.code == "busy")
        let ticket = try service.serialized(Self.pool)
        #expect(ticket.answer.body["scope"]?["anyOf"] == ["a", "b"])
        try service.ended(first)
        #expect(try service.shown(ticket)["scope"] == ["a"])
    }

    @Test func `only what is shared shows its mode, and all that share lock a controller`() throws {
        try service.declared(#"{"root": "list"}"#)
        let shared = try ["scene", "controllers"].map { scope in
            try service.started(#"{"mode": "shared", "scope": \#(scope == "scene" ? #""scene""# : #"["list"]"#)}"#)
        }
        #expect(shared.allSatisfy { $0.answer.body["mode"] == "shared" })
        let lockedBy = try service.ask("GET", "/scenes/main/controllers/list").body["lockedBy"]
        #expect(lockedBy?.elements.map(\.text) == shared.map(\.id))
        #expect(try service.ask("POST", "/transitions/start", #"{"mode": "exclusive"}"#).code == "busy")
        for holder in shared { try service.ended(holder) }
        #expect(try service.started(#"{"mode": "exclusive"}"#).answer.body["mode"] == nil)
    }

    @Test func `what does not go together is refused, and names the field`() throws {
        let operation = #"{"type": "setRoot", "controller": "a"}"#
        let wrong = [
            (#"{"mode": "shared", "operation": \#(operation)}"#, "operation"),
            (#"{"mode": "shared", "operations": [\#(operation)]}"#, "operations"),
            (#"{"mode": "shared", "interactive": true}"#, "interactive"),
            (#"{"mode": "shared", "participants": ["a"]}"#, "participants"),
            (#"{"mode": "both"}"#, "mode"),
            (#"{"scope": {"anyOf": ["a", "b"]}, "mode": "shared"}"#, "mode"),
            (#"{"scope": {"anyOf": ["a", "b"]}, "operation": \#(operation)}"#, "operation"),
            (#"{"scope": {"anyOf": ["a", "b"]}, "whenBusy": "interrupt"}"#, "whenBusy"),
            (#"{"scope": {"anyOf": ["a", "b"]}, "coalesce": "key"}"#, "coalesce"),
            (#"{"scope": {"anyOf": ["a"]}}"#, "scope.anyOf"), (#"{"scope": {"anyOf": ["a", "a"]}}"#, "scope.anyOf"),
            (#"{"scope": {}}"#, "scope.anyOf"), (#"{"scope": {"of": ["a", "b"]}}"#, "scope.of"),
        ]
        for (body, field) in wrong {
            let answer = try service.ask("POST", "/transitions/serialize", body)
            #expect(answer.status == 400 && answer.field == field, "\(body)")
        }
        #expect(try service.ask("GET", "/scenes").body["scenes"]?.elements.isEmpty == true)
    }

    @Test func `one of several names is for a scene without a hierarchy, and what locks names gets no operation`()
        throws
    {
        let holder = try service.started(#"{"scope": ["a"]}"#)
        let performed = try service.ask(
            "POST", "/transitions/perform", holder.acting(#""operation": {"type": "setRoot", "controller": "a"}"#))
        #expect(performed.status == 400 && performed.field == "id")
        try service.ended(holder)
        try service.declared(#"{"root": "a"}"#)
        for call in ["start", "start?dryRun=true"] {
            let answer = try service.ask("POST", "/transitions/\(call)", Self.pool)
            #expect(answer.status == 422 && answer.code == "unknown-controller")
        }
    }

    @Test func `a default type is shown, applies, changes, and has to be declared`() throws {
        func shown() throws -> JSON? { try service.ask("GET", "/scenes/main/storyboard").body["defaults"]?["type"] }
        try service.declared(
            #"{"transitionTypes": [{"name": "star"}, {"name": "flip"}], "defaults": {"type": "star"}}"#)
        #expect(try shown() == "star")
        let started = try service.started(#"{"animation": {"curve": "linear"}}"#)
        #expect(started.answer.body["animation"]?["type"] == "star")
        for (patch, type) in [(#""flip""#, "flip"), ("null", nil)] as [(String, String?)] {
            try service.ask("PATCH", "/scenes/main/storyboard", #"{"defaults": {"type": \#(patch)}}"#)
            #expect(try shown()?.text == type)
        }
        let unknown = try service.ask("PATCH", "/scenes/main/storyboard", #"{"defaults": {"type": "moon"}}"#)
        #expect(unknown.status == 422 && unknown.code == "unknown-transition-type" && unknown.field == "defaults.type")
    }
}
