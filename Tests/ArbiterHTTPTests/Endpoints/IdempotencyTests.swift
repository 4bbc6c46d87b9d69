import Testing

@testable import ArbiterHTTP

/// Requests that are repeated because their client does not know whether the first one arrived.
struct IdempotencyTests {
    private static let key = "0123456789abcdef"
    private static let another = "fedcba9876543210"

    private let service: Service

    init() throws {
        service = try Service()
    }

    private func ask(
        _ verb: String, _ body: String = #"{"client": "view"}"#, key: String = IdempotencyTests.key
    ) throws -> Answer {
        try service.ask("POST", "/transitions/\(verb)", body, headers: [.idempotencyKey: key])
    }

    @Test(arguments: ["start", "serialize"])
    func `the same key and body give the same transition and token`(verb: String) throws {
        let first = try Owned(try ask(verb))
        let again = try Owned(try ask(verb))
        #expect([first.answer.status, again.answer.status] == [201, 201])
        #expect(again.id == first.id && again.token == first.token)
        #expect(again.answer.body["fence"] == 1)
        #expect(try service.transitions().count == 1)
        #expect(try ask(verb, key: Self.another).status == (verb == "start" ? 409 : 202))
    }

    @Test func `a ticket is the same ticket, and at its end the same end`() throws {
        let holder = try service.started()
        let ticket = try Owned(try ask("serialize"))
        let again = try Owned(try ask("serialize"))
        #expect([ticket.answer.status, again.answer.status] == [202, 202])
        #expect(again.id == ticket.id && again.token == ticket.token)
        #expect(again.answer.body["position"] == 1)
        #expect(try service.ask("POST", "/transitions/end", ticket.acting(#""outcome": "cancelled""#)).status == 200)
        let ended = try ask("serialize")
        #expect(ended.status == 200)
        #expect(ended.body["id"] == .string(ticket.id))
        #expect(ended.body["outcome"] == "cancelled")
        #expect(try service.ended(holder).status == 200)
    }

    @Test func `another body, or another call, with the same key is refused`() throws {
        let first = try Owned(try ask("start"))
        for (verb, body) in [
            ("start", #"{"client": "another"}"#), ("start", "{}"),
            ("start", #"{"client": "view", "leaseSeconds": 11}"#), ("serialize", #"{"client": "view"}"#),
        ] {
            let refused = try ask(verb, body)
            #expect(refused.status == 422, "\(verb) \(body)")
            #expect(refused.code == "idempotency-key-reused")
        }
        #expect(try service.transitions().count == 1)
        #expect(try service.shown(first)["state"] == "running")
    }

    @Test func `the same key in another scene is another key`() throws {
        let first = try Owned(try ask("start"))
        let body = #"{"client": "view", "scene": "other"}"#
        let other = try Owned(try ask("start", body))
        #expect([first.answer.status, other.answer.status] == [201, 201])
        #expect(other.id != first.id)
        #expect(try Owned(try ask("start", body)).id == other.id)
        #expect(try Owned(try ask("start")).id == first.id)
        let refused = try ask("start", #"{"client": "view", "scene": "other", "leaseSeconds": 11}"#)
        #expect(refused.code == "idempotency-key-reused")
    }

    @Test(arguments: [
        "", "two words of sixteen", "ünï0123456789abcdef", String(repeating: "k", count: 15),
        String(repeating: "k", count: 129),
    ])
    func `a key that is none, or that somebody could guess, is refused`(key: String) throws {
        let refused = try ask("start", key: key)
        #expect(refused.status == 400)
        #expect(refused.code == "invalid-field")
        #expect(refused.field == "Idempotency-Key")
        #expect(
            refused.body["detail"]?.text
                == "An idempotency key must have 16 to 128 visible ASCII characters. "
                + "Draw it at random: whoever has it gets the token.")
        #expect(try service.transitions().isEmpty)
    }

    @Test(arguments: [16, 128])
    func `the shortest key and the longest are keys`(length: Int) throws {
        let key = String(repeating: "~", count: length)
        let first = try Owned(try ask("start", key: key))
        #expect(first.answer.status == 201)
        #expect(try Owned(try ask("start", key: key)).id == first.id)
    }
}
