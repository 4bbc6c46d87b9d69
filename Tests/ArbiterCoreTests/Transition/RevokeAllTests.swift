import Testing

@testable import ArbiterCore

/// All of a scene, or of a client, revoked in one step.
struct RevokeAllTests {
    private var arbiter = Arbiter()

    private static func of(_ client: String, by principal: String? = nil) -> TransitionRequest {
        TransitionRequest(
            client: ClientName(unchecked: client), principal: principal.map { PrincipalName(unchecked: $0) })
    }

    private static let revoked = TransitionOutcome.revoked(Revocation(GivenReason(unchecked: "it is cleaned")))

    @Test mutating func `all of a client end before anything is granted`() throws {
        let holder = try arbiter.start(Self.of("view"))
        let first = try arbiter.serialize(Self.of("view"))
        let other = try arbiter.serialize(Self.of("other"))
        let last = try arbiter.serialize(Self.of("view"))
        let elsewhere = try arbiter.start(scene: "elsewhere")
        #expect(try arbiter.revokeAll(of: "view") == [holder, first, last].map(\.id))
        #expect([holder, first, last].allSatisfy { arbiter.outcome(of: $0) == Self.revoked })
        #expect([holder, first, last].map { arbiter.fence(of: $0) != nil } == [true, false, false])
        #expect(arbiter.state(of: other) == .running)
        #expect(arbiter.state(of: elsewhere) == .running)
        try arbiter.restart()
        #expect(try arbiter.revokeAll() == [other.id])
        #expect(try arbiter.revokeAll() == [])
    }

    @Test mutating func `what is set aside or ended before its turn is revoked too`() throws {
        try arbiter.declare("nav[list]")
        let aside = try arbiter.serialize(
            TransitionRequest(
                expectations: [.controller(id("list"), is: .absent)], queue: .seconds(60), unmet: .wait))
        let holder = try arbiter.start()
        let ended = try arbiter.serialize()
        try arbiter.end(ended)
        #expect(try arbiter.revokeAll() == [holder, ended, aside].map(\.id))
        #expect(arbiter.outcome(of: ended) == Self.revoked)
        try arbiter.restart()
    }

    @Test mutating func `somebody who is no administrator ends only its own`() throws {
        let own = try arbiter.start(Self.of("view", by: "kiosk"))
        let others = try arbiter.serialize(Self.of("view", by: "garage"))
        let kiosk = PrincipalName(unchecked: "kiosk")
        #expect(throws: ArbiterError.foreignTransition(others.id)) {
            try arbiter.perform { machine, step throws(ArbiterError) in
                try machine.revoke(
                    others.id, ownedBy: kiosk, Revocation(GivenReason(unchecked: "mine")), in: &step)
            }
        }
        #expect(try arbiter.revokeAll(ownedBy: kiosk) == [own.id])
        #expect(arbiter.state(of: others) == .running)
    }

    @Test mutating func `there has to be such a scene, and rules that know it`() throws {
        #expect(throws: ArbiterError.unknownScene(.main)) { try arbiter.revokeAll() }
        var first = Arbiter(rules: .first)
        let holder = try first.start()
        #expect(throws: ArbiterError.olderRules) { try first.revokeAll() }
        #expect(first.state(of: holder) == .running)
    }
}
