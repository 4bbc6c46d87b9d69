import Testing

@testable import ArbiterHTTP

/// `unmet` of a serialize, and `GET /scenes/{scene}/controllers/{id}/await`.
struct WaitingForStateEndpointsTests {
    private let service: Service

    init() throws {
        service = try Service()
        let root =
            #"{"id": "nav", "kind": "navigation", "children": [{"id": "home", "kind": "view"}], "presented": {"id": "first", "kind": "view"}}"#
        try service.ask("PUT", "/scenes/main/storyboard", #"{"root": \#(root)}"#)
    }

    private static let alert = #"""
        "operation": {"type": "present", "presenter": "nav", "controller": {"id": "second", "kind": "view"}},
        "expect": {"controller": "nav", "is": "presenting", "not": true}, "unmet": "wait"
        """#

    @Test func `a ticket that is set aside says what it waits for`() throws {
        let ticket = try service.serialized(#"{\#(Self.alert), "queueSeconds": 60}"#)
        let body = ticket.answer.body
        #expect(ticket.answer.status == 202 && body["unmet"] == "wait" && body["awaits"] == "expectation")
        #expect(body["unmetExpectation"]?["expected"] == "nav is not presenting")
        #expect(body["unmetExpectation"]?["actual"] == "presenting")
        #expect(body["position"] == nil && body["blockers"] == nil && body["queueRemaining"] != nil)
        #expect(try service.ask("GET", "/scenes/main").body["queue"]?.elements.map { $0["id"]?.text } == [ticket.id])
        try service.ended(try service.started(#"{"operation": {"type": "dismiss", "controller": "nav"}}"#))
        #expect(try service.shown(ticket)["state"] == "running" && service.shown(ticket)["awaits"] == nil)
        try service.ended(ticket)
        let last = try service.serialized(#"{\#(Self.alert), "queueSeconds": 60}"#)
        #expect(try service.ask("DELETE", "/scenes/main").status == 204)
        #expect(try service.shown(last)["reason"] == "scope-gone" && service.shown(last)["code"] == "unknown-scene")
    }

    @Test func `it needs a limit, and a start does not know it`() throws {
        let unlimited = try service.ask("POST", "/transitions/serialize", "{\(Self.alert)}")
        #expect(unlimited.status == 400 && unlimited.body["code"] == "missing-field")
        #expect(unlimited.body["field"] == "queueSeconds")
        let started = try service.ask("POST", "/transitions/start", #"{"unmet": "wait", "queueSeconds": 1}"#)
        #expect(started.status == 400 && started.body["code"] == "unknown-field")
        let odd = try service.ask("POST", "/transitions/serialize", #"{"unmet": "maybe"}"#)
        #expect(odd.status == 400 && odd.body["code"] == "invalid-field")
        let dryRun = try service.ask(
            "POST", "/transitions/serialize?dryRun=true", #"{\#(Self.alert), "queueSeconds": 60}"#)
        #expect(dryRun.status == 200 && dryRun.body["wouldRun"] == false && dryRun.body["reason"] == "unmet")
        #expect(dryRun.body["awaits"] == "expectation" && dryRun.body["unmetExpectation"]?["actual"] == "presenting")
    }

    @Test func `an await of a controller is answered when its condition holds`() throws {
        let target = "/scenes/main/controllers/nav/await"
        let closed = service.send("GET", target + "?not=presenting&wait=60")
        #expect(closed.responses.isEmpty && closed.reservations == 1)
        try service.ended(try service.started(#"{"operation": {"type": "dismiss", "controller": "nav"}}"#))
        let body = try closed.answer().body
        #expect(body["holds"] == true && body["revision"] == 2 && body["controller"]?["id"] == "nav")
        #expect(body["controller"]?["presenting"] == false && body["controller"]?["children"] == ["home"])
        let missing = service.send("GET", "/scenes/main/controllers/nobody/await?is=visible&wait=2")
        service.pass(.seconds(2))
        #expect(try missing.answer().body == ["holds": false, "revision": 2])
        #expect(try service.ask("GET", "/scenes/no/controllers/a/await?is=absent").body["holds"] == true)
    }

    @Test(arguments: [
        ("nav/await", 400, "missing-field"), ("nav/await?is=open", 400, "invalid-field"),
        ("nav/await?is=top&not=top", 400, "invalid-field"), ("nav/await?is=top&quietSeconds=1", 400, "unknown-field"),
        ("n%20v/await?is=top", 404, "unknown-controller"),
    ])
    func `a wrong question is refused`(path: String, status: Int, code: String) throws {
        let answer = try service.ask("GET", "/scenes/main/controllers/" + path)
        #expect(answer.status == status && answer.body["code"]?.text == code)
    }
}
