import ArbiterCore
import Testing

struct TicketTests {
    private var arbiter = Arbiter()
    /// The transition that all tickets wait for.
    private let holder: Owner

    init() throws {
        holder = try arbiter.start(client: "holder", lease: .seconds(3600))
    }

    @Test mutating func `a ticket does not expire while its owner is parked`() throws {
        let b = try arbiter.serialize(ticket: .seconds(1), parked: true, wait: .seconds(120))
        arbiter.advance(by: .seconds(119))
        #expect(arbiter.state(of: b) == .queued)
    }

    @Test mutating func `a ticket is abandoned when its owner is silent for the ticket's time`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30))
        arbiter.advance(by: .seconds(30) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .queued)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }

    @Test mutating func `a ticket shows what is left of its times`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30), queue: .seconds(10))
        arbiter.advance(by: .seconds(4))
        let view = try #require(arbiter.view(of: b))
        #expect(view.remaining == TransitionView.Remaining(ticket: .seconds(26), queue: .seconds(6)))
        #expect(view.lasting.remaining == TransitionView.Remaining())
        #expect(arbiter.view(of: holder)?.remaining == TransitionView.Remaining(lease: .seconds(3_596)))
    }

    @Test mutating func `every request of the owner starts the ticket's time again`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30))
        arbiter.advance(by: .seconds(29))
        try arbiter.renew(b)
        arbiter.advance(by: .seconds(29))
        try arbiter.look(at: b)
        arbiter.advance(by: .seconds(29))
        #expect(arbiter.state(of: b) == .queued)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }

    @Test mutating func `an await without the token does not keep a ticket alive`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30))
        let stranger = try arbiter.park(on: b, asOwner: false)
        arbiter.advance(by: .seconds(29))
        try arbiter.look(at: b, asOwner: false)
        #expect(throws: ArbiterError.wrongToken(b.id)) { try arbiter.renew(b.guessing) }
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
        #expect(arbiter.answers[stranger]?.outcome == .expired(.abandoned))
    }

    @Test mutating func `the ticket's time starts when the owner's wait has run out`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30), parked: true, wait: .seconds(60))
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.answer(to: b)?.state == .queued)
        arbiter.advance(by: .seconds(30) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .queued)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }

    @Test mutating func `a ticket is abandoned at once when the connection of its owner closes`() throws {
        let b = try arbiter.serialize(parked: true)
        try arbiter.leave(b.waiter)
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
        #expect(arbiter.answer(to: b) == nil)
    }

    @Test mutating func `a ticket whose owner is gone lets the next one pass`() throws {
        let gone = try arbiter.serialize(parked: true)
        let b = try arbiter.serialize(parked: true)
        try arbiter.leave(gone.waiter)
        #expect(arbiter.view(of: b)?.position == 1)
        try arbiter.end(holder)
        #expect(arbiter.state(of: b) == .running)
        #expect(arbiter.fence(of: b) == Fence(rawValue: 2))
    }

    @Test mutating func `five abandoned tickets do not delay the next one`() throws {
        var dead: [Owner] = []
        for _ in 0..<5 { dead.append(try arbiter.serialize(parked: true)) }
        let alive = try arbiter.serialize(parked: true)
        for owner in dead { try arbiter.leave(owner.waiter) }
        let before = arbiter.now
        try arbiter.end(holder)
        #expect(arbiter.state(of: alive) == .running)
        #expect(arbiter.now == before)
    }

    @Test mutating func `a ticket lives while one of its owner's two connections is open`() throws {
        let b = try arbiter.serialize(ticket: .seconds(1), parked: true)
        let second = try arbiter.park(on: b, until: .ended)
        try arbiter.leave(b.waiter)
        arbiter.advance(by: .seconds(100))
        #expect(arbiter.state(of: b) == .queued)
        try arbiter.leave(second)
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }

    @Test mutating func `a client without the token that leaves does not abandon the ticket`() throws {
        let b = try arbiter.serialize(ticket: .seconds(30))
        let stranger = try arbiter.park(on: b, asOwner: false)
        try arbiter.leave(stranger)
        #expect(arbiter.state(of: b) == .queued)
        try arbiter.end(holder)
        #expect(!arbiter.wakes.contains(stranger))
    }

    @Test mutating func `leaving after the answer changes nothing`() throws {
        let b = try arbiter.serialize(parked: true, wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.leave(b.waiter)
        #expect(arbiter.state(of: b) == .queued)
        let c = try arbiter.serialize(parked: true)
        try arbiter.end(b, as: .cancelled)
        try arbiter.end(holder)
        try arbiter.leave(c.waiter)
        #expect(arbiter.state(of: c) == .running)
    }

    @Test mutating func `an owner that parks again keeps its ticket alive`() throws {
        let b = try arbiter.serialize(ticket: .seconds(5))
        arbiter.advance(by: .seconds(4))
        try arbiter.park(on: b)
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.state(of: b) == .queued)
    }
}
