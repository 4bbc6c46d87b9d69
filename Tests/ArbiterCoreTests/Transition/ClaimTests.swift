import ArbiterCore
import Testing

/// Grants that come while the owner is not waiting.
struct ClaimTests {
    private var arbiter = Arbiter()

    /// A transition that was just granted while its owner was not waiting.
    private mutating func unclaimed(lease: Duration) throws -> Owner {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", lease: lease)
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        #expect(arbiter.state(of: b) == .running)
        return b
    }

    @Test mutating func `a grant while the owner is not waiting begins with a short first lease`() throws {
        let b = try unclaimed(lease: .seconds(10))
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
        arbiter.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `a first lease is never longer than the lease`() throws {
        let b = try unclaimed(lease: .seconds(2))
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(2))
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `the length of the first lease is a setting`() throws {
        var limits = Limits()
        limits.claim = .seconds(1)
        arbiter = Arbiter(limits: limits)
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `a dead owner delays the next ticket by the first lease at most`() throws {
        let b = try unclaimed(lease: .seconds(3600))
        let c = try arbiter.serialize(client: "c", parked: true)
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
        #expect(arbiter.answer(to: c)?.state == .running)
    }

    @Test(arguments: ["renew", "look", "park"])
    mutating func `any request of the owner claims the transition and starts a full lease`(word: String) throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        switch word {
        case "renew": try arbiter.renew(b)
        case "look": try arbiter.look(at: b)
        default:
            let waiter = try arbiter.park(on: b, until: .ended)
            arbiter.advance(by: .seconds(60))
            #expect(arbiter.state(of: b) == .running, "while its owner is parked, the lease does not run")
            try arbiter.leave(waiter)
        }
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(10))
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.lease))
    }

    @Test mutating func `a row of dead owners costs the time of one claim`() throws {
        let first = try arbiter.start(lease: .seconds(300))
        let dead = try (1...3).map { _ in try arbiter.serialize(ticket: .seconds(600)) }
        let ended = try arbiter.serialize(ticket: .seconds(600))
        try arbiter.end(ended)
        let last = try arbiter.serialize(ticket: .seconds(600))
        let parked = try arbiter.serialize(parked: true)
        let behind = try arbiter.serialize(ticket: .seconds(600))
        arbiter.advance(by: .seconds(1))
        try arbiter.end(first)
        arbiter.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(arbiter.state(of: dead[0]) == .running)
        arbiter.advance(by: .nanoseconds(1))
        for owner in dead + [last] { #expect(arbiter.outcome(of: owner) == .expired(.unclaimed)) }
        #expect(arbiter.outcome(of: ended) == .completed, "its end was remembered")
        #expect(arbiter.state(of: parked) == .running)
        #expect(arbiter.state(of: behind) == .queued, "its turn has not come")
        #expect(arbiter.view(of: ended)?.transition.grant != nil, "it was granted after the others had ended")
    }

    @Test mutating func `who has spoken since the grant is not taken for dead`() throws {
        let first = try arbiter.start(lease: .seconds(300))
        let (dead, alive) = (try arbiter.serialize(), try arbiter.serialize())
        try arbiter.end(first)
        arbiter.advance(by: .seconds(2))
        try arbiter.renew(alive)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.outcome(of: dead) == .expired(.unclaimed))
        #expect(arbiter.state(of: alive) == .running)
    }

    @Test mutating func `a client without the token cannot claim a transition`() throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        try arbiter.look(at: b, asOwner: false)
        try arbiter.park(on: b, until: .ended, asOwner: false)
        #expect(throws: ArbiterError.wrongToken(b.id)) { try arbiter.renew(b.guessing) }
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `a parked client without the token does not count as a waiting owner`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10))
        try arbiter.park(on: b, asOwner: false)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
    }

    @Test mutating func `an owner that is parked until the end has a full lease at the grant`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10))
        try arbiter.park(on: b, until: .ended)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(10))
    }

    @Test mutating func `an owner whose wait has run out has to claim its transition`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10), parked: true, wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
    }

    // MARK: Owners that say that they claim their grants

    /// A client that has died behind a proxy keeps its session, and its parked request, for a while.
    @Test(arguments: [Duration.seconds(1), .seconds(120)])
    mutating func `an owner that claims its grants has to, whether it is parked or has a session`(wait: Duration) throws
    {
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        let a = try arbiter.start(lease: .seconds(3600))
        let ghost = try arbiter.serialize(TransitionRequest(lease: .seconds(60), session: session.token))
        try arbiter.park(on: ghost, until: .running, claims: true, wait: wait)
        let next = try arbiter.serialize(client: "c", parked: true)
        arbiter.advance(by: .seconds(10))
        try arbiter.end(a)
        #expect(arbiter.view(of: ghost)?.leaseRemaining == .seconds(5))
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.outcome(of: ghost) == .expired(.unclaimed))
        #expect(arbiter.answer(to: next)?.state == .running)
    }

    @Test mutating func `its next word makes the lease full`() throws {
        let a = try arbiter.start(lease: .seconds(3600))
        let b = try arbiter.serialize(lease: .seconds(60))
        try arbiter.park(on: b, until: .running, claims: true)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
        try arbiter.renew(b)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(60))
    }

    @Test mutating func `a request that is parked beyond the grant has to be followed by a word`() throws {
        let a = try arbiter.start(lease: .seconds(3600))
        let b = try arbiter.serialize(lease: .seconds(60))
        try arbiter.park(on: b, until: .ended, claims: true, wait: .seconds(20))
        try arbiter.end(a)
        // Until its wait has run out, it may still be there.
        arbiter.advance(by: .seconds(20))
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
        try arbiter.park(on: b, until: .ended, wait: .seconds(20))
        arbiter.advance(by: .seconds(20))
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(60))
    }

    @Test mutating func `its last request counts`() throws {
        let a = try arbiter.start(lease: .seconds(3600))
        let b = try arbiter.serialize(lease: .seconds(60))
        try arbiter.park(on: b, until: .running, claims: true, wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.park(on: b, until: .running)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(60))
    }

    @Test mutating func `an owner can end its transition during the first lease`() throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        #expect(try arbiter.end(b).outcome == .completed)
    }
}
