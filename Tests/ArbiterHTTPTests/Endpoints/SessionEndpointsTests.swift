import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// `/sessions`, and what is bound to them.
struct SessionEndpointsTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private func renew(_ session: OwnedSession) throws -> Answer {
        try service.ask("POST", "/sessions/renew", headers: session.headers)
    }

    private func end(_ session: OwnedSession) throws -> Answer {
        try service.ask("POST", "/sessions/end", headers: session.headers)
    }

    private func isUnauthenticated(_ answer: Answer) -> Bool {
        answer.status == 401 && answer.code == "unauthenticated" && answer.field == "Arbiter-Session"
            && answer.headers("WWW-Authenticate") == ["Arbiter-Session"]
    }

    // MARK: The life of a session

    @Test func `a session is begun, with everything by default or as it was asked`() throws {
        let plain = try service.opened()
        #expect(plain.answer.status == 201)
        #expect(plain.answer.body.names == ["id", "token", "ttlSeconds", "remaining"])
        #expect(plain.answer.body["ttlSeconds"] == 30)
        #expect(plain.answer.body["remaining"] == 30)
        #expect(plain.id.hasPrefix("s-") && plain.id.count == 15)
        #expect(plain.token.count == 32)
        let named = try service.opened(#"{"client": "master", "ttlSeconds": 1}"#)
        #expect(named.answer.body["client"] == "master")
        #expect(named.answer.body["ttlSeconds"] == 1)
        #expect(named.id != plain.id && named.token != plain.token)
    }

    @Test func `a renew gives it its full time again, and shows no token`() throws {
        let session = try service.opened(#"{"client": "master", "ttlSeconds": 5}"#)
        service.pass(.seconds(4))
        let answer = try renew(session)
        #expect(answer.status == 200)
        #expect(answer.body == ["id": .string(session.id), "client": "master", "ttlSeconds": 5, "remaining": 5])
        service.pass(.seconds(5))
        #expect(isUnauthenticated(try renew(session)))
        #expect(isUnauthenticated(try end(session)))
    }

    @Test func `a session is ended once`() throws {
        let session = try service.opened()
        let answer = try end(session)
        #expect(answer.status == 200)
        #expect(answer.body == ["id": .string(session.id), "ttlSeconds": 30, "remaining": 0])
        #expect(isUnauthenticated(try end(session)))
        #expect(isUnauthenticated(try renew(session)))
    }

    @Test func `who names no session is told to`() throws {
        for target in ["/sessions/renew", "/sessions/end"] {
            #expect(isUnauthenticated(try service.ask("POST", target)))
        }
        let ready = try service.ask("POST", "/transitions/ready", #"{"id": "t-0000000000001", "client": "a"}"#)
        #expect(isUnauthenticated(ready))
    }

    @Test func `a session of which nobody knows binds nothing`() throws {
        let headers = [HeaderName.session: nobodysToken]
        for target in ["start", "serialize", "serialize?wait=60"] {
            let exchange = service.send("POST", "/transitions/\(target)", headers: headers)
            #expect(isUnauthenticated(try exchange.answer()))
        }
        #expect(try service.transitions().isEmpty)
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
    }

    @Test func `the token of a session may be written in capitals`() throws {
        let session = try service.opened()
        let headers = [HeaderName.session: session.token.uppercased()]
        #expect(try service.ask("POST", "/sessions/renew", headers: headers).status == 200)
    }

    @Test func `there is an end to the sessions`() throws {
        var limits = Limits()
        limits.sessions = 1
        let service = try Service(limits: limits)
        let session = try service.opened()
        let answer = try service.ask("POST", "/sessions")
        #expect(answer.status == 429 && answer.code == "too-many-sessions")
        try service.ask("POST", "/sessions/end", headers: session.headers)
        #expect(try service.ask("POST", "/sessions").status == 201)
        try service.started()
        #expect(try service.ask("GET", "/scenes/main").body["limits"]?["sessions"] == 1)
    }

    // MARK: What is bound to them

    @Test func `what is bound to a session shows whose it is, and ends with it`() throws {
        let session = try service.opened()
        let holder = try service.started(in: session)
        let ticket = try service.serialized(#"{"scene": "main"}"#, in: session)
        let remembered = try service.serialized(in: session)
        try service.ended(remembered)
        let other = try service.serialized()
        for bound in [holder, ticket] { #expect(bound.answer.body["session"]?.text == session.id) }
        #expect(other.answer.body["session"] == nil)

        #expect(try end(session).status == 200)

        for bound in [holder, ticket] {
            let shown = try service.shown(bound)
            #expect(shown["outcome"] == "expired" && shown["reason"] == "session-lost")
        }
        #expect(try service.shown(remembered)["outcome"] == "completed")
        #expect(try service.shown(other)["state"] == "running")
        let late = try service.ended(holder)
        #expect(late.status == 410 && late.body["transition"]?["reason"] == "session-lost")
    }

    @Test func `an owner who is parked is told that the session is over`() throws {
        let session = try service.opened(#"{"ttlSeconds": 5}"#)
        try service.started(#"{"leaseSeconds": 300}"#)
        let parked = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#, headers: session.headers)
        service.pass(.seconds(50))
        #expect(try service.transitions().last?["state"] == "queued", "a parked request keeps its session alive")
        #expect(try end(session).status == 200)
        let answer = try parked.answer()
        #expect(answer.status == 200)
        #expect(answer.body["reason"] == "session-lost")
    }

    @Test func `a ticket whose connection is cut is kept while its session lives`() throws {
        let session = try service.opened()
        let holder = try service.started()
        let parked = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#, headers: session.headers)
        parked.abandon()
        let ticket = try #require(try service.transitions().last)
        #expect(ticket["state"] == "queued")
        try service.ended(holder)
        #expect(try service.transitions().last?["leaseRemaining"] == 10, "it is claimed as well")
    }

    @Test func `a request in a session is a word of its client`() throws {
        let session = try service.opened(#"{"ttlSeconds": 5}"#)
        service.pass(.seconds(4))
        let holder = try service.started(#"{"leaseSeconds": 60}"#, in: session)
        service.pass(.seconds(4))
        let ticket = try service.serialized(in: session)
        service.pass(.seconds(4))
        #expect(try service.shown(holder)["state"] == "running")
        service.pass(.seconds(1))
        #expect(try service.shown(holder)["reason"] == "session-lost")
        #expect(try service.shown(ticket)["reason"] == "session-lost")
    }

    @Test(arguments: ["start", "serialize"])
    func `the client of a transition is that of its session, unless the body names one`(verb: String) throws {
        let (session, anonymous) = (try service.opened(#"{"client": "detail"}"#), try service.opened())
        func client(_ body: String, _ session: OwnedSession) throws -> JSON? {
            let owned = try Owned(
                try service.ask("POST", "/transitions/\(verb)", body, headers: session.headers))
            try service.ended(owned)
            return try service.shown(owned)["client"]
        }
        #expect(try client("", session) == "detail")
        #expect(try client(#"{"client": "other"}"#, session) == "other")
        #expect(try client("", anonymous) == nil)
        #expect(try service.ask("GET", "/transitions?client=detail").body["transitions"]?.elements.count == 1)
    }

    @Test func `a request is the same after the end of its session, without a client of its own`() throws {
        let session = try service.opened(#"{"client": "detail"}"#)
        let headers = [HeaderName.idempotencyKey: "0123456789abcdef", .session: session.token]
        let first = try Owned(try service.ask("POST", "/transitions/start", headers: headers))
        try service.ask("POST", "/sessions/end", headers: session.headers)
        let again = try Owned(try service.ask("POST", "/transitions/start", headers: headers))
        #expect(again.id == first.id && again.answer.body["client"] == "detail")
        #expect(again.answer.body["reason"] == "session-lost")
    }

    @Test func `a key is known again only in the same session`() throws {
        let (session, other) = (try service.opened(), try service.opened())
        let headers = [HeaderName.idempotencyKey: "0123456789abcdef", .session: session.token]
        let first = try Owned(try service.ask("POST", "/transitions/start", headers: headers))
        let again = try Owned(try service.ask("POST", "/transitions/start", headers: headers))
        #expect(again.id == first.id && again.token == first.token)
        for reused in [
            [HeaderName.idempotencyKey: "0123456789abcdef"],
            [.idempotencyKey: "0123456789abcdef", .session: other.token],
        ] {
            let answer = try service.ask("POST", "/transitions/start", headers: reused)
            #expect(answer.status == 422 && answer.code == "idempotency-key-reused")
        }
    }
}
