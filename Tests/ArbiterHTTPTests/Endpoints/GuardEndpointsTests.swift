import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// `/scenes/{scene}/guards`, and what transitions show of guards.
struct GuardEndpointsTests {
    private static let access = """
        principals:
          - {name: editor, token: "\(SecretDigest(of: "editor"))", roles: [transition, observe], scenes: main}
          - {name: owner, token: "\(SecretDigest(of: "owner"))", roles: [transition], scenes: "*"}
          - {name: designer, token: "\(SecretDigest(of: "designer"))", roles: [transition, design], scenes: "*"}
          - {name: admin, token: "\(SecretDigest(of: "admin"))", roles: [transition, admin], scenes: "*"}
        """
    private static let pop = #""operation": {"type": "pop", "navigation": "nav"}"#

    private let service: Service
    private let editor: OwnedSession

    init() throws {
        service = try Service()
        try service.declared(#"{"root": {"id": "nav", "kind": "navigation", "children": ["list", "editor"]}}"#)
        editor = try service.opened(#"{"client": "editor"}"#)
    }

    private func guarding(
        _ body: String = #"{"controllers": ["editor"], "onSilence": "abort"}"#, by session: OwnedSession? = nil
    ) throws -> Answer {
        try service.ask("POST", "/scenes/main/guards", body, headers: (session ?? editor).headers)
    }

    @Test func `a guard is shown with its scene until it is removed`() throws {
        #expect(try service.ask("GET", "/scenes/main").body["guards"] == nil)
        let added = try guarding()
        #expect(added.status == 201)
        let id = try #require(added.body["id"]?.text)
        #expect(id.hasPrefix("g-"))
        #expect(added.body["client"] == "editor" && added.body["onSilence"] == "abort")
        #expect(added.body["controllers"] == ["editor"])
        #expect(try service.ask("GET", "/scenes/main").body["guards"] == [added.body])
        #expect(try guarding().body == added.body, "the same again is the same guard")
        #expect(try guarding(#"{"controllers": ["list"]}"#).body["onSilence"] == "proceed")
        #expect(try service.ask("DELETE", "/scenes/main/guards/\(id)", headers: editor.headers).status == 204)
        #expect(try service.ask("GET", "/scenes/main").body["guards"]?.elements.count == 1)
        #expect(try service.ask("DELETE", "/scenes/main/guards/\(id)").code == "not-found")
    }

    @Test func `a transition that removes what is guarded shows whom it asks`() throws {
        let id = try guarding().body["id"]
        let dryRun = try service.ask("POST", "/transitions/start?dryRun=true", "{\(Self.pop)}")
        #expect(dryRun.body["participants"]?[0]?["guard"] == id)
        let owner = try service.started("{\(Self.pop)}")
        let body = owner.answer.body
        #expect(body["state"] == "preparing" && body["readySeconds"] == 2 && body["readyRemaining"] == 2)
        #expect(
            body["participants"]
                == [["client": "editor", "required": true, "mayVeto": true, "guard": id ?? "", "state": "waiting"]])
        let ended = try service.ask("POST", "/transitions/end", owner.acting())
        #expect(ended.status == 200 && ended.body["state"] == "preparing" && ended.body["endRequested"] == "completed")
        #expect(ended.body["leaseRemaining"] == nil)
        let no = #"{"id": "\#(owner.id)", "ready": false, "reason": "it is not saved"}"#
        let vetoed = try service.ask("POST", "/transitions/ready", no, headers: editor.headers)
        #expect(vetoed.body["reason"] == "vetoed" && vetoed.body["vetoedBy"] == "editor")
        let forced = try service.started(#"{"ignoreGuards": true, \#(Self.pop)}"#)
        #expect(forced.answer.body["state"] == "running" && forced.answer.body["ignoreGuards"] == true)
    }

    @Test func `what runs is refused an operation that removes what is guarded`() throws {
        _ = try guarding()
        let owner = try service.started()
        let refused = try service.ask("POST", "/transitions/perform", owner.acting(Self.pop))
        #expect(refused.status == 409 && refused.code == "guarded")
        #expect(
            try service.ask("POST", "/transitions/perform", owner.acting("\(Self.pop), \"ignoreGuards\": true")).status
                == 200)
    }

    @Test(arguments: [
        ("{}", "missing-field", "controllers"),
        (#"{"controllers": []}"#, "invalid-field", "controllers"),
        (#"{"controllers": "editor"}"#, "invalid-field", "controllers"),
        (#"{"controllers": ["a", ""]}"#, "invalid-field", "controllers[1]"),
        (#"{"controllers": ["a", "a"]}"#, "invalid-field", "controllers[1]"),
        (#"{"controllers": ["a"], "onSilence": "wait"}"#, "invalid-field", "onSilence"),
        (#"{"controllers": ["a"], "silence": "abort"}"#, "unknown-field", "silence"),
    ])
    func `a bad guard is refused by name`(body: String, code: String, field: String) throws {
        let refused = try guarding(body)
        #expect(refused.status == 400 && refused.code == code && refused.body["field"]?.text == field)
        #expect(try service.ask("GET", "/scenes/main").body["guards"] == nil)
    }

    @Test func `a guard needs a session that has a name, and has a limit`() throws {
        #expect(try service.ask("POST", "/scenes/main/guards", #"{"controllers": ["a"]}"#).status == 401)
        let nameless = try guarding(by: try service.opened())
        #expect(nameless.status == 403 && nameless.code == "forbidden")
        let many = (0..<Limits.guardedControllers).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try guarding(#"{"controllers": [\#(many)]}"#).status == 201)
        let full = try guarding()
        #expect(full.status == 429 && full.code == "queue-full" && full.headers("Retry-After") == ["1"])
        #expect(try guarding(#"{"controllers": [\#(many), "more"]}"#).code == "invalid-field")
        #expect(try service.ask("POST", "/scenes/a%20b/guards", "{}", headers: editor.headers).code == "unknown-scene")
    }

    @Test func `who may remove a guard, and who may ignore it`() throws {
        let service = try Service(access: try AccessControl(Self.access))
        func headers(_ name: String, _ session: OwnedSession? = nil) -> [HeaderName: String] {
            (session?.headers ?? [:]).merging([.authorization: "Bearer \(name)"]) { $1 }
        }
        func opened(_ name: String) throws -> OwnedSession {
            try OwnedSession(
                try service.ask("POST", "/sessions", #"{"client": "\#(name)"}"#, headers: headers(name)))
        }
        let (editor, owner) = (try opened("editor"), try opened("owner"))
        let guarding = #"{"controllers": ["editor"]}"#
        let path = "/scenes/main/guards"
        #expect(try service.ask("POST", path, guarding, headers: headers("owner", editor)).status == 401)
        #expect(
            try service.ask("POST", "/scenes/other/guards", guarding, headers: headers("editor", editor)).status == 403)
        var known = try service.ask("POST", path, guarding, headers: headers("editor", editor)).body["id"]?.text ?? ""
        #expect(try service.ask("DELETE", "\(path)/\(known)", headers: headers("owner", owner)).status == 403)
        #expect(try service.ask("DELETE", "\(path)/\(known)", headers: headers("owner")).status == 401)
        #expect(try service.ask("DELETE", "\(path)/\(known)", headers: headers("admin")).status == 204)
        known = try service.ask("POST", path, guarding, headers: headers("editor", editor)).body["id"]?.text ?? ""
        #expect(try service.ask("DELETE", "\(path)/\(known)", headers: headers("editor", editor)).status == 204)
        let forced = #"{"ignoreGuards": true}"#
        let refused = try service.ask("POST", "/transitions/start", forced, headers: headers("owner"))
        #expect(refused.status == 403 && refused.body["field"] == "ignoreGuards")
        #expect(try service.ask("POST", "/transitions/start", forced, headers: headers("designer")).status == 201)
    }
}
