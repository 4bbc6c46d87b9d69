import ArbiterCore
import Testing

/// An `end` before the grant.
struct EndOfTicketTests {
    private var arbiter = Arbiter()

    @Test mutating func `a cancelled ticket leaves the queue at once`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", parked: true)
        let c = try arbiter.serialize(client: "c", parked: true)
        let view = try arbiter.end(b, as: .cancelled)
        #expect(view.outcome == .cancelled)
        #expect(view.fence == nil)
        #expect(arbiter.answer(to: b)?.outcome == .cancelled)
        #expect(arbiter.view(of: c)?.position == 1)
        try arbiter.end(a)
        #expect(arbiter.state(of: c) == .running)
        #expect(arbiter.fence(of: c) == Fence(rawValue: 2))
    }

    @Test mutating func `a completed ticket keeps its place`() throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let c = try arbiter.serialize(client: "c")
        let view = try arbiter.end(b, as: .completed)
        #expect(view.state == .queued)
        #expect(view.position == 1)
        #expect(arbiter.view(of: c)?.position == 2)
    }

    @Test mutating func `a completed ticket is granted and ends in the same turn`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let c = try arbiter.serialize(client: "c", parked: true)
        try arbiter.end(b)
        arbiter.advance(by: .seconds(2))
        try arbiter.end(a)
        #expect(arbiter.outcome(of: b) == .completed)
        #expect(arbiter.fence(of: b) == Fence(rawValue: 2))
        #expect(arbiter.view(of: b)?.grant?.grantedAt == Timestamp(milliseconds: 2000))
        #expect(arbiter.state(of: c) == .running)
        #expect(arbiter.fence(of: c) == Fence(rawValue: 3))
    }

    @Test mutating func `several completed tickets end in one turn and in order`() throws {
        let a = try arbiter.start()
        var row: [Owner] = []
        for _ in 0..<10 { row.append(try arbiter.serialize()) }
        let last = try arbiter.serialize(parked: true)
        for owner in row.reversed() { try arbiter.end(owner) }
        try arbiter.end(a)
        #expect(row.map(arbiter.outcome(of:)) == Array(repeating: .completed, count: 10))
        #expect(row.map(arbiter.fence(of:)) == (2...11).map { Fence(rawValue: $0) })
        #expect(arbiter.state(of: last) == .running)
    }

    @Test(arguments: [false, true])
    mutating func `a completed ticket does not expire when its owner is silent`(parked: Bool) throws {
        let a = try arbiter.start(lease: .seconds(100))
        let b = try arbiter.serialize(client: "b", ticket: .seconds(1), parked: parked)
        try arbiter.end(b)
        if parked { try arbiter.leave(b.waiter) }
        arbiter.advance(by: .seconds(50))
        #expect(arbiter.state(of: b) == .queued)
        try arbiter.end(a)
        #expect(arbiter.outcome(of: b) == .completed)
    }

    @Test mutating func `awaits parked on a completed ticket are answered at its end`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", parked: true)
        let stranger = try arbiter.park(on: b, until: .ended, asOwner: false)
        try arbiter.end(b)
        #expect(arbiter.answer(to: b) == nil)
        try arbiter.end(a)
        #expect(arbiter.answer(to: b)?.outcome == .completed)
        #expect(arbiter.answers[stranger]?.outcome == .completed)
        #expect(arbiter.stillParked.isEmpty)
    }

    @Test mutating func `a repeated completion of a ticket gets the same answer`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let first = try arbiter.end(b)
        #expect(try arbiter.end(b) == first)
        try arbiter.end(a)
        #expect(try arbiter.end(b).outcome == .completed)
    }

    @Test mutating func `a completed ticket cannot be cancelled`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        try arbiter.end(b, as: .completed)
        let early = #expect(throws: ArbiterError.self) { try arbiter.end(b, as: .cancelled) }
        #expect(early?.alreadyEnded?.state == .queued)
        try arbiter.end(a)
        let late = #expect(throws: ArbiterError.self) { try arbiter.end(b, as: .cancelled) }
        #expect(late?.alreadyEnded?.outcome == .completed)
    }

    @Test mutating func `a cancelled ticket cannot be completed`() throws {
        _ = try arbiter.start()
        let b = try arbiter.serialize(client: "b")
        let view = try arbiter.end(b, as: .cancelled)
        let error = #expect(throws: ArbiterError.self) { try arbiter.end(b, as: .completed) }
        #expect(error?.alreadyEnded == view)
        #expect(try arbiter.end(b, as: .cancelled) == view)
    }

    @Test mutating func `a lease that runs out ends the completed tickets behind it`() throws {
        let a = try arbiter.start(lease: .seconds(10))
        let b = try arbiter.serialize(client: "b")
        let c = try arbiter.serialize(client: "c", parked: true)
        try arbiter.end(b)
        arbiter.advance(by: .seconds(10))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
        #expect(arbiter.outcome(of: b) == .completed)
        #expect(arbiter.state(of: c) == .running)
    }
}
