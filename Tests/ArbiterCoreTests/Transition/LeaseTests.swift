import ArbiterCore
import Testing

struct LeaseTests {
    private var arbiter = Arbiter()

    @Test mutating func `a lease runs out at exactly its length`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(arbiter.state(of: a) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test mutating func `an answer contains the remaining lease`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .milliseconds(2500))
        #expect(try arbiter.look(at: a, asOwner: false).leaseRemaining == .milliseconds(7500))
    }

    @Test mutating func `a lease that runs out grants the next ticket in the same turn`() throws {
        _ = try arbiter.start(lease: .seconds(10))
        let b = try arbiter.serialize(client: "b", lease: .seconds(3), parked: true)
        arbiter.advance(by: .seconds(10))
        #expect(arbiter.answer(to: b)?.state == .running)
        #expect(arbiter.answer(to: b)?.leaseRemaining == .seconds(3))
    }

    @Test mutating func `a renewal starts a full lease`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        for _ in 0..<5 {
            arbiter.advance(by: .seconds(9))
            #expect(try arbiter.renew(a).leaseRemaining == .seconds(10))
        }
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(arbiter.state(of: a) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test(arguments: [false, true])
    mutating func `an await of the owner starts a full lease`(parked: Bool) throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(9))
        if parked { try arbiter.park(on: a, until: .ended) } else { try arbiter.look(at: a) }
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(10))
        arbiter.advance(by: .seconds(9))
        #expect(arbiter.state(of: a) == .running)
    }

    @Test(arguments: [false, true])
    mutating func `an await without the token does not change the lease`(parked: Bool) throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(9))
        if parked {
            try arbiter.park(on: a, until: .ended, asOwner: false, wait: .milliseconds(500))
        } else {
            try arbiter.look(at: a, asOwner: false)
        }
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(1))
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test mutating func `a renewal with a wrong token does not lengthen the lease`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(9))
        #expect(throws: ArbiterError.wrongToken(a.id)) { try arbiter.renew(a.guessing) }
        #expect(throws: ArbiterError.wrongToken(a.id)) { try arbiter.look(at: a.guessing) }
        #expect(throws: ArbiterError.wrongToken(a.id)) { try arbiter.park(on: a.guessing, until: .ended) }
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(1))
    }

    @Test mutating func `an ended transition cannot be renewed`() throws {
        let a = try arbiter.start(lease: .seconds(1))
        arbiter.advance(by: .seconds(1))
        let expired = #expect(throws: ArbiterError.self) { try arbiter.renew(a) }
        #expect(expired?.endedWithoutOwner?.outcome == .expired(.lease))
        for outcome in EndOutcome.allCases {
            let b = try arbiter.start()
            let view = try arbiter.end(b, as: outcome)
            let ended = #expect(throws: ArbiterError.self) { try arbiter.renew(b) }
            #expect(ended?.alreadyEnded == view)
        }
    }

    @Test mutating func `a connection that closes does not shorten a lease`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        let waiter = try arbiter.park(on: a, until: .ended)
        try arbiter.leave(waiter)
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(10))
        #expect(arbiter.state(of: a) == .running)
    }

    @Test mutating func `an ended transition never expires`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        try arbiter.end(a)
        arbiter.advance(by: .seconds(1000))
        #expect(arbiter.outcome(of: a) == .completed)
        #expect(arbiter.machine.nextDeadline == nil)
    }

    @Test(arguments: [Duration.seconds(86_400), .seconds(-86_400)])
    mutating func `a jump of the wall clock changes nothing but the timestamps`(jump: Duration) throws {
        let a = try arbiter.start(lease: .seconds(10))
        let b = try arbiter.serialize(ticket: .seconds(5))
        arbiter.jumpWallClock(by: jump)
        arbiter.advance(by: .seconds(5) - .nanoseconds(1))
        #expect([a, b].map(arbiter.state(of:)) == [.running, .queued])
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test mutating func `a late turn does what is due in the order of the deadlines`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(5))
        try arbiter.renew(a)
        let b = try arbiter.serialize(client: "b", queue: .seconds(7), parked: true)
        arbiter.oversleep(.seconds(100))
        #expect(arbiter.outcome(of: b) == .expired(.queueTimeout))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }
}
