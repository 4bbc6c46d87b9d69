import ArbiterCore
import Testing

struct EndTests {
    private var arbiter = Arbiter()

    @Test mutating func `an end completes or cancels a running transition`() throws {
        let a = try arbiter.start()
        #expect(try arbiter.end(a, as: .completed).outcome == .completed)
        let b = try arbiter.start()
        #expect(try arbiter.end(b, as: .cancelled).outcome == .cancelled)
        #expect(arbiter.outcome(of: a) == .completed)
        #expect(arbiter.outcome(of: b) == .cancelled)
    }

    @Test mutating func `an ended transition keeps its grant and has the time of its end`() throws {
        let a = try arbiter.start()
        arbiter.advance(by: .seconds(3))
        let view = try arbiter.end(a)
        #expect(view.fence == Fence(rawValue: 1))
        #expect(view.grant?.grantedAt == Timestamp(milliseconds: 0))
        #expect(view.leaseRemaining == nil)
        guard case .ended(let ending) = view.transition.phase else {
            Issue.record("not ended: \(view)")
            return
        }
        #expect(ending.endedAt == arbiter.moment)
    }

    @Test(arguments: EndOutcome.allCases)
    mutating func `an end grants the next ticket in the same turn`(outcome: EndOutcome) throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(client: "b", parked: true)
        try arbiter.end(a, as: outcome)
        #expect(arbiter.wakes == [b.waiter])
        #expect(arbiter.state(of: b) == .running)
        #expect(throws: ArbiterError.self) { try arbiter.start(client: "c") }
    }

    @Test(arguments: EndOutcome.allCases)
    mutating func `a repeated end gets the same answer`(outcome: EndOutcome) throws {
        let a = try arbiter.start()
        let first = try arbiter.end(a, as: outcome)
        arbiter.advance(by: .seconds(20))
        #expect(try arbiter.end(a, as: outcome) == first)
    }

    @Test mutating func `a repeated end does not release the scope of the next holder`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(parked: true)
        let c = try arbiter.serialize(parked: true)
        try arbiter.end(a)
        try arbiter.end(a)
        #expect(arbiter.state(of: b) == .running)
        #expect(arbiter.state(of: c) == .queued)
    }

    @Test(arguments: [(EndOutcome.completed, EndOutcome.cancelled), (.cancelled, .completed)])
    mutating func `an end with another outcome is refused with the first outcome`(
        first: EndOutcome, second: EndOutcome
    ) throws {
        let a = try arbiter.start()
        let ended = try arbiter.end(a, as: first)
        let error = #expect(throws: ArbiterError.self) { try arbiter.end(a, as: second) }
        #expect(error?.alreadyEnded == ended)
        #expect(try arbiter.end(a, as: first) == ended)
    }

    @Test(arguments: EndOutcome.allCases)
    mutating func `an end after the lease has run out is refused`(outcome: EndOutcome) throws {
        let a = try arbiter.start(lease: .seconds(1))
        arbiter.advance(by: .seconds(1))
        let error = #expect(throws: ArbiterError.self) { try arbiter.end(a, as: outcome) }
        #expect(error?.endedWithoutOwner?.outcome == .expired(.lease))
        #expect(arbiter.outcome(of: a) == .expired(.lease))
    }

    @Test(arguments: EndOutcome.allCases)
    mutating func `a wrong token never ends anything`(outcome: EndOutcome) throws {
        let ended = try arbiter.start()
        try arbiter.end(ended)
        let running = try arbiter.start()
        let queued = try arbiter.serialize()
        for owner in [ended, running, queued] {
            #expect(throws: ArbiterError.wrongToken(owner.id)) { try arbiter.end(owner.guessing, as: outcome) }
        }
        #expect([ended, running, queued].map(arbiter.state(of:)) == [.ended, .running, .queued])
    }

    @Test mutating func `the token of one transition does not end another`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize()
        let crossed = Owner(id: a.id, token: b.token)
        #expect(throws: ArbiterError.wrongToken(a.id)) { try arbiter.end(crossed) }
        #expect(arbiter.state(of: a) == .running)
    }

    @Test mutating func `every event of an unknown transition is refused with its id`() throws {
        let nobody = Owner(id: TransitionID(rawValue: 77), token: Token(high: 0, low: 0))
        #expect(throws: ArbiterError.unknownTransition(nobody.id)) { try arbiter.end(nobody) }
        #expect(throws: ArbiterError.unknownTransition(nobody.id)) { try arbiter.renew(nobody) }
        #expect(throws: ArbiterError.unknownTransition(nobody.id)) { try arbiter.look(at: nobody) }
        #expect(throws: ArbiterError.unknownTransition(nobody.id)) {
            try arbiter.machine.view(of: nobody.id, at: arbiter.now)
        }
    }
}
