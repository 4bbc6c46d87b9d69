import Testing

@testable import ArbiterHTTP

/// `GET /scenes/{scene}/controllers/{id}`.
struct ControllerEndpointTests {
    private let service: Service

    init() throws {
        service = try Service()
        try service.declared()
    }

    private func shown(_ id: String) throws -> JSON {
        let answer = try service.ask("GET", "/scenes/main/controllers/\(id)")
        #expect(answer.status == 200)
        return answer.body
    }

    /// The conditions that hold of a controller.
    private func conditions(_ id: String) throws -> Set<String> {
        let body = try shown(id)
        return Set(["visible", "top", "selected", "presented", "presenting"].filter { body[$0] == true })
    }

    @Test func `a controller shows its place and its children`() throws {
        let nav = try shown("nav")
        #expect(nav["id"] == "nav" && nav["kind"] == "navigation" && nav["container"] == "tabs")
        #expect(nav["path"] == ["tabs", "nav"] && nav["children"] == ["list"])
        #expect(nav["revision"] == 1 && nav["lockedBy"] == [])
        #expect(nav["presenter"] == nil)
        let root = try shown("tabs")
        #expect(root["path"] == ["tabs"] && root["children"] == ["nav", "more"])
        #expect(root.names.isDisjoint(with: ["container", "presenter"]))
        #expect(try shown("list")["children"] == [])
    }

    @Test func `what holds of a controller is told`() throws {
        #expect(try conditions("tabs") == ["visible"])
        #expect(try conditions("nav") == ["visible", "selected"])
        #expect(try conditions("list") == ["visible", "top"])
        #expect(try conditions("more") == [])
        #expect(try conditions("settings") == ["top"])
    }

    @Test func `a controller inside a presented one is presented, and its layer's presenter presents`() throws {
        let sheet = #"{"id": "sheet", "kind": "navigation", "presentationStyle": "formSheet", "children": ["form"]}"#
        try service.ended(
            try service.started(
                #"{"operation": {"type": "present", "presenter": "list", "controller": \#(sheet)}}"#))
        #expect(try conditions("sheet") == ["visible", "presented"])
        #expect(try conditions("form") == ["visible", "top", "presented"])
        #expect(try conditions("list") == ["visible", "top", "presenting"])
        #expect(try conditions("tabs") == ["visible", "presenting"])
        let shown = try shown("sheet")
        #expect(shown["presenter"] == "tabs" && shown["container"] == nil)
        #expect(shown["path"] == ["tabs", "sheet"])
        #expect(try self.shown("form")["path"] == ["tabs", "sheet", "form"])
        #expect(try self.shown("form")["presentedBy"] == "tabs" && self.shown("list")["presents"] == "sheet")
        #expect(try self.shown("form")["presents"] == nil && self.shown("list")["presentedBy"] == nil)
        #expect(try service.ask("GET", "/scenes/main").body["front"] == "sheet")
    }

    @Test func `the granted transitions that lock a controller are named, and no others`() throws {
        let push = try service.started(
            #"{"scope": "operation", "operation": {"type": "push", "navigation": "nav", "controller": "editor"}}"#)
        let pair = try service.started(#"{"scope": ["settings"]}"#)
        let ticket = try service.serialized()
        for (id, locks) in [
            ("tabs", []), ("nav", [push.id]), ("list", [push.id]), ("more", []), ("settings", [pair.id]),
        ] {
            #expect(try shown(id)["lockedBy"] == .array(locks.map { .string($0) }), "\(id)")
        }
        try service.ended(push)
        try service.ended(pair)
        for id in ["tabs", "editor", "settings"] { #expect(try shown(id)["lockedBy"] == [.string(ticket.id)]) }
        try service.ended(ticket)
        #expect(try shown("editor")["lockedBy"] == [])
        #expect(try shown("editor")["revision"] == 2)
    }

    @Test(arguments: ["editor", "a b", "%20", "x%2fy"])
    func `a controller that is not there is not found`(id: String) throws {
        let answer = try service.ask("GET", "/scenes/main/controllers/\(id)")
        #expect(answer.status == 404 && answer.code == "unknown-controller")
    }

    @Test(arguments: ["nowhere", "a%20b"])
    func `a scene that is not there is not found`(scene: String) throws {
        let answer = try service.ask("GET", "/scenes/\(scene)/controllers/list")
        #expect(answer.status == 404 && answer.code == "unknown-scene")
    }

    @Test func `HEAD, a query and an allowed page are as everywhere`() throws {
        #expect(try service.ask("HEAD", "/scenes/main/controllers/list").status == 200)
        #expect(try service.ask("GET", "/scenes/main/controllers/list?x=1").code == "unknown-field")
        let access = WebAccess(origins: [try #require(Origin("http://kiosk.example"))])
        let open = try Service(web: access)
        try open.declared()
        let origin: [HeaderName: String] = [.origin: "http://kiosk.example"]
        let answer = try open.ask("GET", "/scenes/main/controllers/list", headers: origin)
        #expect(answer.headers("Access-Control-Allow-Origin") == ["http://kiosk.example"])
        let preflight = try open.ask(
            "OPTIONS", "/scenes/main/controllers/list", headers: origin.merging([.requestedMethod: "GET"]) { $1 })
        #expect(preflight.status == 204)
        #expect(preflight.headers("Access-Control-Allow-Methods") == ["GET, HEAD"])
    }

    @Test func `a long list of children comes in pieces`() throws {
        let ids = (0..<9_000).map { "controller-\($0)" }
        let children = ids.map { "\"\($0)\"" }.joined(separator: ",")
        try service.declared(#"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#)
        let exchange = service.send("GET", "/scenes/main/controllers/nav")
        #expect(exchange.source != nil)
        #expect(try exchange.answer().body["children"]?.elements.compactMap(\.text) == ids)
    }
}
