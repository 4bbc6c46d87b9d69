import ArbiterCore
import Testing

/// An administrator ends a transition instead of its owner.
struct RevokeTests {
    private static let reason = GivenReason("it hangs")

    @Test func `a revocation ends a transition that is always renewed, and grants the next one`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let next = try arbiter.serialize(parked: true)
        arbiter.advance(by: .seconds(9))
        try arbiter.renew(holder)
        let view = try arbiter.revoke(holder)
        #expect(view.outcome == Self.reason.map { TransitionOutcome.revoked(Revocation($0)) })
        #expect(arbiter.state(of: next) == .running)
        #expect(arbiter.wakes == [try #require(next.waiter)])
        let error = #expect(throws: ArbiterError.self) { try arbiter.renew(holder) }
        guard case .endedWithoutOwner(let view)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(view.outcome == Self.reason.map { TransitionOutcome.revoked(Revocation($0)) })
    }

    @Test func `a ticket can be revoked, even if its owner has already completed it`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(parked: true)
        let remembered = try arbiter.serialize()
        try arbiter.end(remembered)
        try arbiter.revoke(ticket)
        try arbiter.revoke(remembered)
        #expect(arbiter.wakes == [try #require(ticket.waiter)])
        try arbiter.end(holder)
        for owner in [ticket, remembered] {
            #expect(arbiter.outcome(of: owner) == Self.reason.map { TransitionOutcome.revoked(Revocation($0)) })
        }
    }

    @Test(arguments: [true, false])
    func `a revocation does not change the hierarchy`(isPreparing: Bool) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        var request = TransitionRequest(
            operation: .push(navigation: id("nav"), controller: try .outlined("editor")), onExpiry: .complete)
        if isPreparing { request.participants = [Participant(client: try #require(ClientName("master")))] }
        let owner = try arbiter.start(request)
        #expect(arbiter.state(of: owner) == (isPreparing ? .preparing : .running))
        let view = try arbiter.revoke(owner)
        #expect(view.change == nil)
        // Every view that got an event of the start has got one of the end.
        #expect(view.transition.ending?.appearance.isEmpty == isPreparing)
        #expect(arbiter.revision == 1)
        // The scope is free.
        try arbiter.end(arbiter.start(request.withoutParticipants))
    }

    @Test func `a second revocation changes nothing, and the first reason stays`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start()
        try arbiter.revoke(owner, because: "first")
        let kept = arbiter.journal.count
        let first = Revocation(GivenReason(unchecked: "first"))
        #expect(try arbiter.revoke(owner, because: "second").outcome == .revoked(first))
        #expect(arbiter.journal.count == kept)
    }

    @Test func `an ended transition cannot be revoked`() throws {
        var arbiter = Arbiter()
        let ended = try arbiter.start()
        try arbiter.end(ended, as: .cancelled)
        let expired = try arbiter.start()
        arbiter.advance(by: Limits.defaultLease)
        let error = #expect(throws: ArbiterError.self) { try arbiter.revoke(ended) }
        guard case .alreadyEnded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let other = #expect(throws: ArbiterError.self) { try arbiter.revoke(expired) }
        guard case .endedWithoutOwner? = other else {
            Issue.record("\(String(describing: other))")
            return
        }
        let nobody = Owner(id: TransitionID(rawValue: 12_345), token: Token(high: 0, low: 0))
        #expect(throws: ArbiterError.unknownTransition(nobody.id)) { try arbiter.revoke(nobody) }
    }

    @Test(arguments: ["", "a\nb", "\u{7f}", String(repeating: "ü", count: 129)])
    func `a text that is empty, too long or not one line is not a reason`(text: String) {
        #expect(GivenReason(text) == nil)
    }

    // MARK: Notices

    @Test func `the operator is notified of revocations, expiries and ended sessions only`() throws {
        var arbiter = Arbiter()
        try arbiter.end(arbiter.start())
        try arbiter.end(arbiter.start(), as: .cancelled)
        #expect(arbiter.notices.isEmpty)
        let revoked = try arbiter.start()
        try arbiter.revoke(revoked)
        let expired = try arbiter.start()
        arbiter.advance(by: Limits.defaultLease)
        let session = try arbiter.openSession()
        arbiter.advance(by: Limits.defaultSession)
        let told = arbiter.notices.map { notice in
            switch notice {
            case .ended(let view): "\(view.transition.id)"
            case .sessionEnded(let session, let ending): "\(session.id) \(ending.rawValue)"
            case .resumed: "resumed"
            }
        }
        #expect(told == ["\(revoked.id)", "\(expired.id)", "\(session.id) expired"])
    }
}

extension TransitionRequest {
    fileprivate var withoutParticipants: TransitionRequest {
        var request = self
        request.participants = []
        return request
    }
}

extension Transition {
    fileprivate var ending: Ending? {
        if case .ended(let ending) = phase { ending } else { nil }
    }
}
