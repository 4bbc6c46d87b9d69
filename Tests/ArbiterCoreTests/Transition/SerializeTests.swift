import ArbiterCore
import Testing

struct SerializeTests {
    private var arbiter = Arbiter()

    @Test(arguments: [false, true])
    mutating func `a serialize in an idle scene is granted in the same turn`(parked: Bool) throws {
        let a = try arbiter.serialize(lease: .seconds(8), parked: parked)
        #expect(arbiter.state(of: a) == .running)
        #expect(arbiter.view(of: a)?.leaseRemaining == .seconds(8))
        #expect(arbiter.answer(to: a)?.state == (parked ? .running : nil))
        #expect(arbiter.wakes.isEmpty)
    }

    @Test mutating func `a serialize waits for an earlier transition`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", parked: true)
        let view = try #require(arbiter.view(of: b))
        #expect(view.state == .queued)
        #expect(view.leaseRemaining == nil)
        #expect(view.fence == nil)
        #expect(view.blockers == [a.id])
        #expect(arbiter.answer(to: b) == nil)
    }

    @Test mutating func `conflicting tickets are granted strictly in request order`() throws {
        let first = try arbiter.start()
        var waiting: [Owner] = []
        for number in 0..<20 { waiting.append(try arbiter.serialize(client: "\(number)", parked: true)) }
        try arbiter.end(first)
        for (rank, owner) in waiting.enumerated() {
            #expect(waiting.map(arbiter.state(of:)).count { $0 == .running } == 1)
            #expect(arbiter.state(of: owner) == .running)
            #expect(arbiter.wakes == waiting.prefix(rank + 1).compactMap(\.waiter))
            try arbiter.end(owner, as: rank.isMultiple(of: 3) ? .cancelled : .completed)
        }
    }

    @Test mutating func `positions count from one and decrease when an earlier ticket ends`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize()
        let c = try arbiter.serialize()
        let d = try arbiter.serialize()
        #expect([a, b, c, d].map { arbiter.view(of: $0)?.position } == [nil, 1, 2, 3])
        try arbiter.end(c, as: .cancelled)
        #expect([a, b, c, d].map { arbiter.view(of: $0)?.position } == [nil, 1, nil, 2])
        try arbiter.end(a)
        #expect([b, d].map { arbiter.view(of: $0)?.position } == [nil, 1])
    }

    @Test mutating func `positions are counted per scene`() throws {
        _ = try arbiter.start(scene: "left")
        _ = try arbiter.start(scene: "right")
        _ = try arbiter.serialize(scene: "left")
        let b = try arbiter.serialize(scene: "right")
        #expect(arbiter.view(of: b)?.position == 1)
    }

    @Test mutating func `a ticket's blockers are earlier transitions only`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize()
        let c = try arbiter.serialize()
        _ = try arbiter.serialize()
        #expect(arbiter.view(of: c)?.blockers == [a.id, b.id])
        try arbiter.end(a)
        #expect(arbiter.view(of: c)?.blockers == [b.id])
        try arbiter.end(b)
        #expect(arbiter.view(of: c)?.blockers == [])
    }

    @Test mutating func `a parked serialize is answered once, at its grant`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", lease: .seconds(9), parked: true)
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        let answer = try #require(arbiter.answer(to: b))
        #expect(answer.state == .running)
        #expect(answer.leaseRemaining == .seconds(9))
        #expect(answer.grant?.grantedAt == arbiter.moment.timestamp)
        try arbiter.end(b)
        #expect(arbiter.wakes == [b.waiter])
    }

    @Test mutating func `a transition stores its request unchanged`() throws {
        arbiter.advance(by: .seconds(3))
        let a = try arbiter.serialize(
            client: "reader", scene: "left", lease: .seconds(2), ticket: .seconds(4), queue: .seconds(6))
        let transition = try #require(arbiter.view(of: a)?.transition)
        #expect(transition.request.client?.description == "reader")
        #expect(transition.request.scene.description == "left")
        #expect(transition.request.lease == .seconds(2))
        #expect(transition.request.ticket == .seconds(4))
        #expect(transition.request.queue == .seconds(6))
        #expect(transition.requestedAt == arbiter.moment)
    }
}
