import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

/// What clients may do where there is access control.
struct AccessControlTests {
    private let service: Service
    private let access: AccessControl

    private static func file(kiosk: String = "main, kiosk-*") -> String {
        """
        principals:
          - {name: kiosk, token: "\(SecretDigest(of: "kiosk"))", roles: [observe, transition], scenes: [\(kiosk)]}
          - {name: other, token: "\(SecretDigest(of: "other"))", roles: [observe, transition], scenes: "*"}
          - {name: designer, token: "\(SecretDigest(of: "designer"))", roles: [design], scenes: main}
          - {name: ops, token: "\(SecretDigest(of: "ops"))", roles: [observe, admin], scenes: "*"}
          - {name: local, user: 1000, roles: [observe], scenes: "*"}
          - {name: hmi, certificate: hmi, roles: [observe], scenes: "*"}
        """
    }

    init() throws {
        access = try AccessControl(Self.file())
        service = try Service(access: access, tellsEvents: true)
    }

    private func headers(_ principal: String?, _ more: [HeaderName: String] = [:]) -> [HeaderName: String] {
        more.merging(principal.map { [.authorization: "Bearer \($0)"] } ?? [:]) { $1 }
    }

    private func ask(
        _ principal: String?, _ method: String, _ target: String, _ body: String = "",
        _ more: [HeaderName: String] = [:]
    ) throws -> Answer {
        try service.ask(method, target, body, headers: headers(principal, more))
    }

    private func started(_ principal: String, _ body: String = "") throws -> Owned {
        try Owned(try ask(principal, "POST", "/transitions/start", body))
    }

    @Test func `every call that needs a role needs a token`() throws {
        for route in service.router.routes {
            let path = route.template.replacing("{scene}", with: "main").replacing("{id}", with: "t-aeqhnfedt3a65")
                .replacing("{module}", with: "words.js")
            let answer = try ask(nil, route.method, path)
            guard route.needsPrincipal else {
                #expect(answer.status == 200, "\(route.name)")
                continue
            }
            #expect(answer.status == 401, "\(route.name)")
            #expect(answer.code == "unauthenticated")
            #expect(answer.field == "Authorization")
            #expect(answer.headers("WWW-Authenticate") == ["Bearer realm=\"arbiterd\""])
        }
    }

    @Test(arguments: [
        ("Bearer wrong", #"Bearer realm="arbiterd", error="invalid_token""#),
        ("Basic a2lvc2s6", #"Bearer realm="arbiterd""#),
        ("Bearer", #"Bearer realm="arbiterd""#), ("kiosk", #"Bearer realm="arbiterd""#),
        ("Bearer kiosk kiosk", #"Bearer realm="arbiterd""#),
    ])
    func `what is no token of anybody is refused`(credentials: String, challenge: String) throws {
        let answer = try service.ask("GET", "/transitions", headers: [.authorization: credentials])
        #expect(answer.status == 401)
        #expect(answer.headers("WWW-Authenticate") == [challenge])
    }

    @Test(arguments: ["Bearer kiosk", "bearer kiosk", "BEARER  kiosk"])
    func `a token is accepted however its scheme is written`(credentials: String) throws {
        #expect(try service.ask("GET", "/transitions", headers: [.authorization: credentials]).status == 200)
    }

    @Test func `a client is told as whom it is known, whatever its roles`() throws {
        #expect(
            try ask("kiosk", "GET", "/whoami").body == [
                "principal": "token:kiosk", "roles": ["observe", "transition"], "scenes": ["main", "kiosk-*"],
                "version": "",
            ])
        #expect(
            try ask("designer", "GET", "/whoami").body == [
                "principal": "token:designer", "roles": ["design"], "scenes": ["main"], "version": "",
            ])
        #expect(
            try Service().ask("GET", "/whoami").body == [
                "roles": ["observe", "transition", "design", "admin"], "version": "",
            ])
    }

    @Test func `a call needs its role`() throws {
        for (principal, method, target) in [
            ("designer", "POST", "/transitions/start"), ("designer", "GET", "/scenes/main"),
            ("kiosk", "DELETE", "/scenes/main"), ("designer", "POST", "/transitions/revoke"),
            ("ops", "POST", "/sessions"),
        ] {
            let answer = try ask(principal, method, target)
            #expect(answer.status == 403)
            #expect(answer.code == "forbidden")
        }
        #expect(try ask("designer", "PUT", "/scenes/main/storyboard", Service.storyboard).status == 200)
    }

    @Test func `a scene that a client may not use is forbidden, whether or not there is one`() throws {
        _ = try started("other", #"{"scene": "garage"}"#)
        var details: Set<String> = []
        for scene in ["garage", "nowhere"] {
            for (method, target, body) in [
                ("GET", "/scenes/\(scene)", ""), ("GET", "/scenes/\(scene)/storyboard", ""),
                ("GET", "/scenes/\(scene)/events", ""), ("GET", "/scenes/\(scene)/await", ""),
                ("GET", "/scenes/\(scene)/controllers/x", ""), ("GET", "/transitions?scene=\(scene)", ""),
                ("POST", "/transitions/start", #"{"scene": "\#(scene)"}"#),
                ("POST", "/transitions/serialize", #"{"scene": "\#(scene)"}"#),
                ("POST", "/transitions/start?dryRun=true", #"{"scene": "\#(scene)"}"#),
            ] {
                let answer = try ask("kiosk", method, target, body)
                #expect(answer.status == 403, "\(method) \(target)")
                details.insert(try #require(answer.body["detail"]?.text).replacing(scene, with: "-"))
            }
        }
        #expect(details == ["token:kiosk may not use the scene -."])
    }

    @Test func `a transition in a scene that a client may not use is unknown to it`() throws {
        let garage = try started("other", #"{"scene": "garage"}"#)
        let unknown = "t-aeqhnfedt3a65"
        func answers(_ id: String) throws -> [String] {
            try [
                ask("kiosk", "GET", "/transitions/\(id)"), ask("kiosk", "GET", "/transitions/await?id=\(id)&wait=0"),
                ask("kiosk", "POST", "/transitions/end", #"{"id": "\#(id)", "token": "\#(garage.token)"}"#),
                ask("kiosk", "POST", "/transitions/renew", #"{"id": "\#(id)", "token": "\#(garage.token)"}"#),
                ask("kiosk", "POST", "/transitions/await", #"{"id": "\#(id)", "token": "\#(garage.token)"}"#),
                ask(
                    "kiosk", "POST", "/transitions/progress",
                    #"{"id": "\#(id)", "token": "\#(garage.token)", "fraction": 0.5}"#),
                ask("kiosk", "POST", "/transitions/release", #"{"id": "\#(id)", "token": "\#(garage.token)"}"#),
                ask(
                    "kiosk", "POST", "/transitions/perform",
                    #"{"id": "\#(id)", "token": "\#(garage.token)", "operation": {"type": "dismiss", "controller": "a"}}"#
                ),
            ].map { "\($0.status) \($0.body["detail"]?.text ?? "")".replacing(id, with: "-") }
        }
        let known = try answers(garage.id)
        #expect(known == (try answers(unknown)))
        #expect(known.allSatisfy { $0.hasPrefix("404") })
        #expect(try ask("other", "POST", "/transitions/end", garage.acting()).status == 200)
    }

    @Test func `lists contain what a client may see`() throws {
        for scene in ["main", "garage", "kiosk-1"] { _ = try started("other", #"{"scene": "\#(scene)"}"#) }
        let scenes = try ask("kiosk", "GET", "/scenes").body["scenes"]?.elements
        #expect(scenes?.compactMap { $0["name"]?.text } == ["kiosk-1", "main"])
        let transitions = try ask("kiosk", "GET", "/transitions").body["transitions"]?.elements
        #expect(transitions?.compactMap { $0["scene"]?.text } == ["main", "kiosk-1"])
        let page = try ask("kiosk", "GET", "/scenes?limit=1")
        #expect(page.headers("Link").first?.contains("after=kiosk-1") == true)
    }

    @Test func `the stream of all scenes tells what a client may see`() throws {
        let stream = service.following("/events", headers: headers("kiosk"))
        for scene in ["garage", "main", "garage2", "kiosk-1"] { _ = try started("other", #"{"scene": "\#(scene)"}"#) }
        service.hub.settle()
        #expect(try stream.events().map { $0.json["scene"].string } == ["main", "kiosk-1"])
        let reset = service.following("/events?since=c0", headers: headers("kiosk"))
        let resumed = service.following("/events?since=c99", headers: headers("kiosk"))
        service.hub.settle()
        #expect(try reset.events().map { $0.json["scene"].string } == ["main", "kiosk-1"])
        let scenes = try resumed.events().filter { $0.name == "reset" }.map { $0.json["scene"].string }
        #expect(scenes == ["kiosk-1", "main"])
    }

    @Test func `sessions and keys belong to their principal`() throws {
        let session = try OwnedSession(try ask("kiosk", "POST", "/sessions", #"{"client": "a"}"#))
        for (method, target) in [
            ("POST", "/sessions/renew"), ("POST", "/sessions/end"), ("POST", "/transitions/start"),
        ] {
            let answer = try ask("other", method, target, "", session.headers)
            #expect(answer.status == 401)
            #expect(answer.field == "Arbiter-Session")
        }
        #expect(try ask("other", "GET", "/scenes/main/events", "", session.headers).status == 401)
        let owned = try ask("kiosk", "POST", "/transitions/start", "", session.headers)
        #expect(owned.body["principal"] == "token:kiosk")
        #expect(try ask("kiosk", "POST", "/sessions/end", "", session.headers).status == 200)

        let key: [HeaderName: String] = [.idempotencyKey: "0123456789abcdef"]
        let first = try ask("kiosk", "POST", "/transitions/start", "", key)
        #expect(first.status == 201)
        #expect(try ask("kiosk", "POST", "/transitions/start", "", key).body["token"] == first.body["token"])
        let stranger = try ask("other", "POST", "/transitions/start", "", key)
        #expect(stranger.code == "busy")
        #expect(stranger.body["token"] == nil)
    }

    @Test func `another principal's words do not keep a session alive`() throws {
        let session = try OwnedSession(try ask("kiosk", "POST", "/sessions", #"{"ttlSeconds": 5}"#))
        service.pass(.seconds(4))
        _ = try ask("other", "GET", "/transitions", "", session.headers)
        service.pass(.seconds(1))
        #expect(try ask("kiosk", "POST", "/sessions/renew", "", session.headers).status == 401)
    }

    @Test func `a revocation says who made it`() throws {
        let held = try started("kiosk")
        let stream = service.following(headers: headers("ops"))
        let body = #"{"id": "\#(held.id)", "reason": "it hangs"}"#
        let foreign = try ask("other", "POST", "/transitions/revoke", body)
        #expect(foreign.status == 403 && foreign.field == "id")
        let own = try started("kiosk", #"{"scene": "kiosk-1"}"#)
        let all = #"{"scene": "kiosk-1", "reason": "it hangs"}"#
        #expect(try ask("kiosk", "POST", "/transitions/revoke", all).body == ["revoked": [.string(own.id)]])
        #expect(try ask("ops", "POST", "/transitions/revoke", body).body["revokedBy"] == "token:ops")
        service.hub.settle()
        let ended = try #require(try stream.events().first { $0.name == "transition.ended" })
        #expect(ended.json["revokedBy"].string == "token:ops")
        #expect(ended.json["principal"].string == "token:kiosk")
    }

    @Test func `the peers of a Unix socket and certificates have their entries`() throws {
        func status(_ peer: Peer) throws -> Int {
            let exchange = RecordingExchange()
            let fields: [HeaderName: String] = [.host: "localhost"]
            service.router.handle(
                Request(method: "GET", path: "/transitions", headers: DictionaryHeaders(fields: fields), peer: peer),
                exchange)
            return try exchange.answer().status
        }
        #expect(try status(.local(LocalUser(user: 1000, groups: []))) == 200)
        #expect(try status(.local(LocalUser(user: 1001, groups: []))) == 401)
        #expect(try status(.encrypted(address: "::1", certificate: PeerCertificate(commonName: "hmi"))) == 200)
        #expect(try status(.encrypted(address: "::1", certificate: PeerCertificate(commonName: "hm"))) == 401)
        #expect(try status(.encrypted(address: "::1", certificate: nil)) == 401)
    }

    @Test func `entries that are replaced count from then on, and streams of those that are gone end`() throws {
        let (kept, ended) = (
            service.following(headers: headers("ops")), service.following(headers: headers("kiosk"))
        )
        try access.replace(with: Self.file(kiosk: "garage"))
        service.hub.endRevoked()
        service.hub.settle()
        _ = try kept.events()
        _ = try ended.events()
        #expect(kept.source?.read(upTo: 10) == .nothing)
        #expect(ended.source?.read(upTo: 10) == .end)
        #expect(try ask("kiosk", "GET", "/scenes/main").status == 403)
        #expect(throws: SettingsFile.Malformed.self) { try access.replace(with: "principals: 7") }
        #expect(try ask("kiosk", "GET", "/scenes/main").status == 403)
        #expect(try ask("ops", "GET", "/transitions").status == 200)
    }

    @Test(arguments: ["", "{}", "principals:", "principals: []"])
    func `a file without entries is a mistake unless it is said that it may have none`(text: String) throws {
        #expect(throws: SettingsFile.Malformed.self) { try access.replace(with: text) }
        #expect(try ask("ops", "GET", "/transitions").status == 200)
        #expect(throws: SettingsFile.Malformed.self) { try AccessControl(text) }
        #expect(try AccessControl(text, allowsNoOne: true).entryCount == 0)
        let emptied = try AccessControl(Self.file(), allowsNoOne: true)
        try emptied.replace(with: text)
        #expect(emptied.entryCount == 0)
    }

    @Test(
        arguments: [
            ("{name: own, user: 1000, roles: observe, scenes: a}", "", true),
            ("{name: first, group: 8, roles: observe, scenes: b}", "", true),
            ("{name: other, user: 1001, roles: observe, scenes: a}", "", true),
            ("", "{name: token, certificate: x, roles: observe, scenes: a}", false),
        ])
    func `a stream ends where another entry may count`(before: String, after: String, isEnded: Bool) throws {
        func file(_ before: String, _ after: String) -> String {
            let group = "{name: members, group: 7, roles: observe, scenes: main}"
            return "principals: [" + [before, group, after].filter { !$0.isEmpty }.joined(separator: ", ") + "]"
        }
        try access.replace(with: file("", ""))
        let member = Request(
            method: "GET", path: "/events", headers: DictionaryHeaders(fields: [.host: "localhost"]),
            peer: .local(LocalUser(user: 1000, groups: [7, 8])))
        let permission = try access.permission(for: member)
        try access.replace(with: file("", ""))
        #expect(!permission.isRevoked)
        try access.replace(with: file(before, after))
        #expect(permission.isRevoked == isEnded)
    }

    @Test func `a stream ends that begins after its permission was revoked`() throws {
        let permission = try access.permission(
            for: Request(method: "GET", path: "/events", headers: DictionaryHeaders(fields: headers("kiosk"))))
        try access.replace(with: Self.file(kiosk: "garage"))
        service.hub.endRevoked()
        let source = service.hub.subscribe(
            to: .scene(.main), after: nil, permission: permission, outlet: RecordingExchange(), reset: { _ in })
        service.hub.settle()
        #expect(eventually { source.read(upTo: 10) == .end })
    }

    @Test func `without access control a user's sessions are the user's own`() throws {
        let open = try Service()
        func ask(_ user: UInt32, _ target: String, _ more: [HeaderName: String] = [:]) throws -> Answer {
            let exchange = RecordingExchange()
            let fields = more.merging([.host: "localhost"]) { $1 }
            open.router.handle(
                Request(
                    method: "POST", path: target, headers: DictionaryHeaders(fields: fields),
                    peer: .local(LocalUser(user: user, groups: []))), exchange)
            return try exchange.answer()
        }
        let session = try OwnedSession(try ask(1000, "/sessions"))
        #expect(try ask(1001, "/sessions/renew", session.headers).status == 401)
        #expect(try open.ask("POST", "/sessions/renew", headers: session.headers).status == 401)
        #expect(try ask(1000, "/sessions/renew", session.headers).status == 200)
    }

    @Test func `a trace is kept with the transition, and what is none is ignored`() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let traced = try ask("kiosk", "POST", "/transitions/start", "", [.traceParent: trace])
        #expect(traced.body["traceparent"] == .string(trace))
        let other = try ask("kiosk", "POST", "/transitions/start", #"{"scene": "kiosk-1"}"#, [.traceParent: "nonsense"])
        #expect(other.status == 201)
        #expect(other.body["traceparent"] == nil)
    }
}
