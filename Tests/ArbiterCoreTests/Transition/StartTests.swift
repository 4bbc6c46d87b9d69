import ArbiterCore
import Testing

struct StartTests {
    private var arbiter = Arbiter()

    @Test mutating func `a start in an idle scene runs at once with its full lease`() throws {
        let a = try arbiter.start(lease: .seconds(7))
        let view = try #require(arbiter.view(of: a))
        #expect(view.state == .running)
        #expect(view.leaseRemaining == .seconds(7))
        #expect(view.fence == Fence(rawValue: 1))
        #expect(view.position == nil)
        #expect(view.blockers.isEmpty)
    }

    @Test mutating func `a start is refused with the holder while another transition runs`() throws {
        let a = try arbiter.start(client: "a", lease: .seconds(10))
        arbiter.advance(by: .seconds(4))
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(client: "b") }
        let busy = try #require(error?.busy)
        #expect(busy.holder.transition.id == a.id)
        #expect(busy.holder.transition.request.client?.description == "a")
        #expect(busy.holder.leaseRemaining == .seconds(6))
        #expect(busy.blockers == [a.id])
    }

    @Test mutating func `a refused start changes nothing`() throws {
        let a = try arbiter.start()
        #expect(throws: ArbiterError.self) { try arbiter.start(client: "b") }
        #expect(arbiter.transitions.map(\.transition.id) == [a.id])
        try arbiter.end(a)
        let c = try arbiter.start(client: "c")
        #expect(arbiter.fence(of: c) == Fence(rawValue: 2))
    }

    @Test mutating func `the blockers of a refused start include waiting tickets`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let c = try arbiter.serialize(client: "c")
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(client: "d") }
        #expect(error?.busy?.blockers == [a.id, b.id, c.id])
    }

    @Test mutating func `a start never overtakes a waiting ticket`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        try arbiter.end(a)
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(client: "c") }
        #expect(error?.busy?.holder.transition.id == b.id)
        #expect(arbiter.state(of: b) == .running)
    }

    @Test mutating func `a refusal names at most the limit of blockers, the running one first`() throws {
        let a = try arbiter.start()
        var tickets: [Owner] = []
        for _ in 0..<20 { tickets.append(try arbiter.serialize(client: "b")) }
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(client: "c") }
        let expected = [a.id] + tickets.prefix(Limits.blockersShown - 1).map(\.id)
        #expect(error?.busy?.blockers == expected)
    }

    @Test mutating func `a start is granted again once the scene is idle`() throws {
        for outcome in EndOutcome.allCases {
            let a = try arbiter.start()
            try arbiter.end(a, as: outcome)
            #expect(try arbiter.scene("main").running.isEmpty)
        }
        let b = try arbiter.start()
        #expect(arbiter.state(of: b) == .running)
    }

    @Test mutating func `a start at the instant at which a lease runs out is granted`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(throws: ArbiterError.self) { try arbiter.start(client: "b") }
        arbiter.oversleep(.nanoseconds(1))
        let b = try arbiter.start(client: "b")
        #expect(arbiter.outcome(of: a) == .expired(.lease))
        #expect(arbiter.state(of: b) == .running)
    }

    @Test mutating func `transitions of different scenes never conflict`() throws {
        let a = try arbiter.start(scene: "left")
        let b = try arbiter.start(scene: "right")
        let c = try arbiter.serialize(scene: "right")
        #expect(arbiter.state(of: a) == .running)
        #expect(arbiter.state(of: b) == .running)
        try arbiter.end(a)
        #expect(arbiter.state(of: c) == .queued)
        #expect(arbiter.view(of: c)?.blockers == [b.id])
    }
}
