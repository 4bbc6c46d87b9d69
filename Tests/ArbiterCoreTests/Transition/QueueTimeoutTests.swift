import ArbiterCore
import Testing

struct QueueTimeoutTests {
    private var arbiter = Arbiter()

    @Test(arguments: [false, true])
    mutating func `a ticket waits no longer than its queue timeout`(parked: Bool) throws {
        _ = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(queue: .seconds(3), parked: parked)
        arbiter.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(arbiter.state(of: b) == .queued)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.queueTimeout))
        #expect(arbiter.answer(to: b)?.outcome == (parked ? .expired(.queueTimeout) : nil))
    }

    @Test mutating func `no request of the owner extends the queue timeout`() throws {
        _ = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(queue: .seconds(3))
        arbiter.advance(by: .seconds(2))
        try arbiter.renew(b)
        try arbiter.park(on: b)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: b) == .expired(.queueTimeout))
    }

    @Test mutating func `a silent owner's ticket can expire before its queue timeout`() throws {
        _ = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(ticket: .seconds(2), queue: .seconds(3))
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: b) == .expired(.abandoned))
    }

    @Test mutating func `a granted transition has no queue timeout`() throws {
        let a = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(lease: .seconds(100), queue: .seconds(3), parked: true)
        arbiter.advance(by: .seconds(2))
        try arbiter.end(a)
        arbiter.advance(by: .seconds(50))
        #expect(arbiter.state(of: b) == .running)
    }

    @Test mutating func `a ticket with a queue timeout of zero expires at once behind another transition`() throws {
        let a = try arbiter.serialize(queue: .zero)
        #expect(arbiter.state(of: a) == .running)
        let b = try arbiter.serialize(queue: .zero, parked: true)
        #expect(arbiter.answer(to: b)?.outcome == .expired(.queueTimeout))
    }

    @Test mutating func `later tickets move up when a ticket's queue timeout has passed`() throws {
        let a = try arbiter.start(lease: .seconds(100))
        _ = try arbiter.serialize(queue: .seconds(3))
        let c = try arbiter.serialize(parked: true)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.view(of: c)?.position == 1)
        #expect(arbiter.view(of: c)?.blockers == [a.id])
    }
}
