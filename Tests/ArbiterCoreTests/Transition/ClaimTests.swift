import ArbiterCore
import Testing

/// Turns that come while nobody is looking.
struct ClaimTests {
    private var arbiter = Arbiter()

    /// A transition whose turn has just come unseen.
    private mutating func unclaimed(lease: Duration) throws -> Owner {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", lease: lease)
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        #expect(arbiter.state(of: b) == .running)
        return b
    }

    @Test mutating func `a turn that comes unseen gets a short first lease`() throws {
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

    @Test mutating func `the first lease is as long as the arbiter is set to`() throws {
        var limits = Limits()
        limits.claim = .seconds(1)
        arbiter = Arbiter(limits: limits)
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `one dead waiter costs the next one a short lease at most`() throws {
        let b = try unclaimed(lease: .seconds(3600))
        let c = try arbiter.serialize(client: "c", parked: true)
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
        #expect(arbiter.answer(to: c)?.state == .running)
    }

    @Test(arguments: ["renew", "look", "park"])
    mutating func `any word of the owner makes it a full lease`(word: String) throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        switch word {
        case "renew": try arbiter.renew(b)
        case "look": try arbiter.look(at: b)
        default: try arbiter.park(on: b, until: .ended)
        }
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(10))
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.lease))
    }

    @Test mutating func `a stranger claims nothing`() throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        try arbiter.look(at: b, asOwner: false)
        try arbiter.park(on: b, until: .ended, asOwner: false)
        #expect(throws: ArbiterError.wrongToken(b.id)) { try arbiter.renew(b.guessing) }
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.unclaimed))
    }

    @Test mutating func `a stranger who is parked does not make a turn a seen one`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10))
        try arbiter.park(on: b, asOwner: false)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
    }

    @Test mutating func `an owner who is parked until the end is looking`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10))
        try arbiter.park(on: b, until: .ended)
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(10))
    }

    @Test mutating func `an owner whose wait has run out is not looking`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(lease: .seconds(10), parked: true, wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        #expect(arbiter.view(of: b)?.leaseRemaining == .seconds(5))
    }

    @Test mutating func `a first lease is enough to end`() throws {
        let b = try unclaimed(lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        #expect(try arbiter.end(b).outcome == .completed)
    }
}
