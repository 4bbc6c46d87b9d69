import ArbiterCore
import Testing

struct AwaitTests {
    private var arbiter = Arbiter()

    @Test(arguments: Milestone.allCases)
    mutating func `an await for a milestone that is reached is answered at once`(milestone: Milestone) throws {
        let a = try arbiter.start()
        let isOver = milestone == .ended || milestone == .interrupted
        if isOver { try arbiter.end(a) }
        let waiter = try arbiter.park(on: a, until: milestone, asOwner: false)
        #expect(arbiter.answers[waiter]?.state == (isOver ? .ended : .running))
        #expect(arbiter.wakes.isEmpty)
    }

    @Test(arguments: Milestone.allCases)
    mutating func `an ended transition has reached every milestone`(milestone: Milestone) throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize()
        try arbiter.end(b, as: .cancelled)
        let waiter = try arbiter.park(on: b, until: milestone)
        #expect(arbiter.answers[waiter]?.outcome == .cancelled)
    }

    @Test mutating func `an await is answered at its milestone and not before`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let granted = try arbiter.park(on: b, until: .granted, asOwner: false)
        let running = try arbiter.park(on: b, until: .running, asOwner: false)
        let ended = try arbiter.park(on: b, until: .ended, asOwner: false)
        #expect(arbiter.wakes.isEmpty)
        try arbiter.end(a)
        #expect(arbiter.wakes == [granted, running])
        try arbiter.end(b)
        #expect(arbiter.wakes == [granted, running, ended])
        #expect(arbiter.answers[granted]?.state == .running)
        #expect(arbiter.answers[ended]?.outcome == .completed)
    }

    @Test(arguments: Milestone.allCases)
    mutating func `an await is answered when its transition ends without ever running`(milestone: Milestone) throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize(ticket: .seconds(2))
        let waiter = try arbiter.park(on: b, until: milestone, asOwner: false)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.answers[waiter]?.outcome == .expired(.abandoned))
    }

    @Test mutating func `an await that does not park is answered at once`() throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize()
        #expect(try arbiter.look(at: b, until: .ended).state == .queued)
        #expect(arbiter.stillParked.isEmpty)
    }

    @Test mutating func `an await whose wait has run out is answered, and the ticket keeps its place`() throws {
        let a = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(client: "b", parked: true, wait: .seconds(7))
        let c = try arbiter.serialize(client: "c", parked: true)
        arbiter.advance(by: .seconds(7) - .nanoseconds(1))
        #expect(arbiter.answer(to: b) == nil)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.answer(to: b)?.state == .queued)
        #expect(arbiter.answer(to: b)?.position == 1)
        try arbiter.park(on: b)
        try arbiter.end(a)
        #expect([b, c].map(arbiter.state(of:)) == [.running, .queued])
    }

    @Test mutating func `an await with a wait of zero is answered at once`() throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize(parked: true, wait: .zero)
        #expect(arbiter.answer(to: b)?.state == .queued)
    }

    @Test mutating func `an await whose wait has run out is not answered again`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(parked: true, wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        try arbiter.end(b)
        #expect(arbiter.wakes == [b.waiter])
    }

    @Test mutating func `an await that has left is not answered`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(parked: true)
        let stranger = try arbiter.park(on: b, asOwner: false)
        try arbiter.leave(stranger)
        try arbiter.end(a)
        #expect(arbiter.wakes == [b.waiter])
        arbiter.advance(by: .seconds(200))
        #expect(!arbiter.wakes.contains(stranger))
    }

    @Test mutating func `a second leave, or that of an unknown waiter, changes nothing`() throws {
        let a = try arbiter.start()
        try arbiter.leave(WaiterID(rawValue: 999))
        let waiter = try arbiter.park(on: a, until: .ended)
        try arbiter.leave(waiter)
        try arbiter.leave(waiter)
        #expect(arbiter.state(of: a) == .running)
    }

    @Test mutating func `an await for the end is answered when the lease has run out`() throws {
        let a = try arbiter.start(lease: .seconds(2))
        let stranger = try arbiter.park(on: a, until: .ended, asOwner: false)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.wakes == [stranger])
        #expect(arbiter.answers[stranger]?.outcome == .expired(.lease))
    }

    @Test mutating func `while its owner is parked a lease does not run, and then it is full`() throws {
        let a = try arbiter.start(lease: .seconds(2))
        let first = try arbiter.park(on: a, until: .ended)
        let second = try arbiter.park(on: a, until: .ended)
        arbiter.advance(by: .seconds(20))
        try arbiter.leave(first)
        arbiter.advance(by: .seconds(9))
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(2))
        try arbiter.leave(second)
        arbiter.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(arbiter.state(of: a) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test mutating func `nothing prolongs the longest hold`() throws {
        var request = TransitionRequest(lease: .seconds(10))
        request.maxHold = .seconds(12)
        let a = try arbiter.start(request)
        arbiter.advance(by: .seconds(9))
        try arbiter.renew(a)
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(3))
        let owner = try arbiter.park(on: a, until: .ended)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.wakes == [owner])
        #expect(arbiter.outcome(of: a) == .expired(.hold))
    }

    @Test mutating func `a ticket whose request had a key has two seconds to come back after a cut`() throws {
        _ = try arbiter.start(lease: .seconds(100))
        let key = IdempotencyKey("0123456789abcdef")
        let b = try arbiter.serialize(TransitionRequest(idempotencyKey: key), parked: true)
        try arbiter.leave(b.waiter)
        arbiter.advance(by: .milliseconds(1999))
        let again = try arbiter.serialize(TransitionRequest(idempotencyKey: key), parked: true)
        #expect(arbiter.state(of: b) == .queued)
        arbiter.advance(by: .seconds(50))
        try arbiter.leave(again.waiter)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }
}

// MARK: - Draining

extension AwaitTests {
    @Test mutating func `a drain answers every parked await with the current state`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(parked: true)
        let stranger = try arbiter.park(on: a, until: .ended, asOwner: false)
        try arbiter.drain()
        #expect(arbiter.stillParked.isEmpty)
        #expect(arbiter.answers[stranger]?.state == .running)
        #expect(arbiter.answer(to: b)?.state == .queued)
        #expect(arbiter.answer(to: b)?.position == 1)
    }

    @Test mutating func `no await parks after a drain`() throws {
        let a = try arbiter.start()
        try arbiter.drain()
        let b = try arbiter.serialize(parked: true)
        let waiter = try arbiter.park(on: a, until: .ended)
        #expect(arbiter.answer(to: b)?.state == .queued)
        #expect(arbiter.answers[waiter]?.state == .running)
        #expect(arbiter.wakes.isEmpty)
    }

    @Test mutating func `tickets are granted and expire after a drain as before`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(parked: true)
        let c = try arbiter.serialize(ticket: .seconds(30), parked: true)
        try arbiter.drain()
        try arbiter.end(a)
        #expect(arbiter.state(of: b) == .running)
        try arbiter.renew(b)
        arbiter.advance(by: .seconds(9))
        try arbiter.renew(b)
        #expect(arbiter.state(of: c) == .queued)
        arbiter.advance(by: .seconds(9))
        try arbiter.renew(b)
        arbiter.advance(by: .seconds(9))
        try arbiter.renew(b)
        #expect(arbiter.state(of: c) == .queued)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.outcome(of: c) == .expired(.abandoned))
    }
}
