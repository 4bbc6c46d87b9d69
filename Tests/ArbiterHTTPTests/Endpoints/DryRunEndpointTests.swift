import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `?dryRun=true` on start and serialize.
struct DryRunEndpointTests {
    private static let calls = ["/transitions/start", "/transitions/serialize"]

    private let service: Service

    init() throws {
        service = try Service()
    }

    private static func push(_ controller: String = "editor") -> String {
        #"{"operation": {"type": "push", "navigation": "nav", "controller": "\#(controller)"}}"#
    }

    /// Sends a dry run, and expects that it changes nothing.
    private func tried(
        _ target: String, _ body: String = "", headers: [HeaderName: String] = [:],
        at location: SourceLocation = #_sourceLocation
    ) throws -> Answer {
        let before = (try service.journal.records(), service.told.all, try service.ask("GET", "/scenes").body)
        let exchange = service.send("POST", target, body, headers: headers)
        let answer = try exchange.answer(sourceLocation: location)
        #expect(exchange.reservations == 0, sourceLocation: location)
        #expect(try service.journal.records() == before.0, sourceLocation: location)
        #expect(service.told.all == before.1, sourceLocation: location)
        #expect(try service.ask("GET", "/scenes").body == before.2, sourceLocation: location)
        return answer
    }

    private func expectWouldRun(_ body: JSON, at location: SourceLocation = #_sourceLocation) {
        #expect(body["wouldRun"] == true && body["blockers"] == [], "\(body)", sourceLocation: location)
        #expect(
            body.names.isDisjoint(with: ["reason", "id", "token", "fence", "state"]), "\(body)",
            sourceLocation: location)
    }

    @Test(arguments: calls)
    func `a push that would run shows what it would be and change`(target: String) throws {
        try service.declared()
        let body = try tried(target + "?dryRun=true", Self.push()).body
        expectWouldRun(body)
        #expect(body["scene"] == "main" && body["scope"] == "scene" && body["revision"] == 1)
        #expect(body["inserted"] == ["editor"] && body["removed"] == [])
        #expect(body["animation"]?["duration"] == 0.25 && body["animation"]?["reversed"] == false)
        let events = body["appearance"]?.elements.map { "\($0["controller"]?.text ?? "") \($0["event"]?.text ?? "")" }
        #expect(
            events == [
                "list willDisappear", "editor willAppear", "list didDisappear", "editor didAppear",
            ])
        #expect(body.names.isDisjoint(with: ["noop", "presenter", "resolved"]))
        // And so it comes.
        let push = try service.started(Self.push())
        #expect(try service.ended(push).body["appearance"] == body["appearance"])
    }

    @Test(arguments: calls)
    func `a segue shows what it would become, and a presentation who would present`(target: String) throws {
        try service.declared()
        let segue = #"{"scope": "operation", "operation": {"type": "segue", "source": "list", "identifier": "edit"}}"#
        let body = try tried(target + "?dryRun=true", segue).body
        expectWouldRun(body)
        #expect(body["resolved"]?["type"] == "push" && body["resolved"]?["navigation"] == "nav")
        #expect(body["scope"] == "operation")
        let sheet = #"{"operation": {"type": "present", "presenter": "list", "controller": "sheet"}}"#
        #expect(try tried(target + "?dryRun=true", sheet).body["presenter"] == "tabs")
    }

    @Test(arguments: calls)
    func `without a body it asks for the whole scene, which is not made`(target: String) throws {
        let body = try tried(target + "?dryRun=true").body
        expectWouldRun(body)
        #expect(body.names == ["wouldRun", "blockers", "scene", "scope", "revision"])
        #expect(try service.ask("GET", "/scenes").body["scenes"] == [])
        #expect(try service.ask("GET", "/scenes/main").status == 404)
    }

    @Test(arguments: calls)
    func `what would change nothing is a noop`(target: String) throws {
        try service.declared()
        let body = try tried(
            target + "?dryRun=true", #"{"operation": {"type": "pop", "navigation": "nav"}}"#
        ).body
        expectWouldRun(body)
        #expect(body["noop"] == true)
        #expect(body.names.isDisjoint(with: ["inserted", "removed", "appearance", "animation"]))
    }

    @Test(arguments: calls)
    func `who is in the way is no refusal`(target: String) throws {
        try service.declared()
        let holder = try service.started()
        let ticket = try service.serialized()
        for body in ["", Self.push("list"), #"{"expect": [{"revision": 9}]}"#] {
            let answer = try tried(target + "?dryRun=true", body)
            #expect(answer.status == 200)
            #expect(answer.body["wouldRun"] == false && answer.body["reason"] == "busy")
            #expect(answer.body["blockers"] == [.string(holder.id), .string(ticket.id)])
            #expect(answer.body.names == ["wouldRun", "reason", "blockers", "scene", "scope", "revision"])
        }
    }

    @Test(arguments: calls)
    func `what the hierarchy or an expectation refuses is refused`(target: String) throws {
        try service.declared()
        let operation = try tried(target + "?dryRun=true", Self.push("list"))
        #expect(operation.status == 422 && operation.code == "already-on-stack")
        let expectation = try tried(target + "?dryRun=true", #"{"expect": {"controller": "list", "is": "presented"}}"#)
        #expect(expectation.status == 412 && expectation.code == "expectation-failed")
        #expect(expectation.body["expected"] == "list is presented")
        let scope = try tried(target + "?dryRun=true", #"{"scope": ["none"]}"#)
        #expect(scope.status == 422 && scope.code == "unknown-controller")
        let type = try tried(target + "?dryRun=true", #"{"animation": {"type": "none"}}"#)
        #expect(type.status == 422 && type.code == "unknown-transition-type")
        let session = try tried(target + "?dryRun=true", headers: [.session: nobodysToken])
        #expect(session.status == 401 && session.code == "unauthenticated")
        let field = try tried(target + "?dryRun=true", #"{"lease": 3}"#)
        #expect(field.status == 400 && field.field == "lease")
    }

    @Test(arguments: calls)
    func `false is the call itself, and anything else is refused`(target: String) throws {
        for value in ["", "1", "yes", "True", "TRUE", "true%20"] {
            let answer = try tried(target + "?dryRun=\(value)")
            #expect(answer.status == 400 && answer.code == "invalid-field" && answer.field == "dryRun", "\(value)")
        }
        #expect(try tried(target + "?dryRun=true&dryRun=true").field == "dryRun")
        #expect(try service.ask("POST", target + "?dryRun=false").status == 201)
        #expect(try service.transitions().count == 1)
    }

    @Test(arguments: calls)
    func `a key is neither looked at nor bound`(target: String) throws {
        let key: [HeaderName: String] = [.idempotencyKey: "0123456789abcdef"]
        expectWouldRun(try tried(target + "?dryRun=true", headers: key).body)
        // Too short for a key.
        expectWouldRun(try tried(target + "?dryRun=true", headers: [.idempotencyKey: "x"]).body)
        let owner = try Owned(try service.ask("POST", target, #"{"client": "menu"}"#, headers: key))
        let again = try tried(target + "?dryRun=true", headers: key)
        #expect(again.status == 200 && again.body["blockers"] == [.string(owner.id)])
    }

    @Test func `a wait must be valid, and nothing waits`() throws {
        let holder = try service.started()
        let target = "/transitions/serialize?dryRun=true"
        for (query, body, headers) in [
            ("", #"{"wait": 60}"#, [:]), ("&wait=60", "", [:]), ("", "", [.prefer: "wait=60"]),
        ] as [(String, String, [HeaderName: String])] {
            let answer = try tried(target + query, body, headers: headers)
            #expect(answer.body["blockers"] == [.string(holder.id)])
            #expect(answer.headers("Preference-Applied") == [])
        }
        #expect(try tried(target, #"{"wait": 121}"#).field == "wait")
        #expect(try tried(target + "&wait=soon").field == "wait")
        #expect(try tried("/transitions/start?dryRun=true", #"{"wait": 1}"#).code == "unknown-field")
        #expect(try tried("/transitions/start?dryRun=true&wait=1").code == "unknown-field")
    }

    @Test func `an older ticket with its key would remain`() throws {
        _ = try service.started()
        let older = try service.serialized(#"{"coalesce": {"key": "selection"}}"#)
        let newer = #"{"coalesce": {"key": "selection", "keep": "first"}}"#
        let body = try tried("/transitions/serialize?dryRun=true", newer).body
        #expect(body["wouldRun"] == false && body["reason"] == "superseded")
        #expect(body["supersededBy"] == .string(older.id) && body["blockers"] == [])
    }

    @Test(arguments: calls)
    func `it is a word of the session that it names`(target: String) throws {
        let session = try service.opened(#"{"ttlSeconds": 10}"#)
        service.pass(.seconds(8))
        expectWouldRun(try tried(target + "?dryRun=true", headers: session.headers).body)
        service.pass(.seconds(8))
        #expect(try service.ask("POST", "/sessions/renew", headers: session.headers).status == 200)
    }

    @Test func `no other call takes the parameter`() throws {
        let owner = try service.started()
        for target in ["end", "renew", "await"] {
            #expect(
                try service.ask("POST", "/transitions/\(target)?dryRun=true", owner.acting()).code == "unknown-field")
        }
    }

    @Test func `a long answer comes in pieces`() throws {
        let ids = (0..<4_000).map { "controller-\($0)" }
        let children = ids.map { "\"\($0)\"" }.joined(separator: ",")
        try service.declared(#"{"root": {"id": "nav", "kind": "navigation", "children": [\#(children)]}}"#)
        let exchange = service.send(
            "POST", "/transitions/start?dryRun=true", #"{"operation": {"type": "popToRoot", "navigation": "nav"}}"#)
        #expect(exchange.source != nil)
        let body = try exchange.answer().body
        expectWouldRun(body)
        #expect(body["removed"]?.elements.compactMap(\.text) == ids.dropFirst().reversed())
    }
}
