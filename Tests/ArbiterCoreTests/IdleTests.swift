import Testing

@testable import ArbiterCore

/// Waiting for a scene to be idle: exact at every instant, and only for what happens in that scene.
struct IdleTests {
    private var arbiter = Arbiter()

    // MARK: Now

    @Test mutating func `a scene is idle while nothing in it is unfinished`() throws {
        arbiter.advance(by: .seconds(3))
        let before = try arbiter.look()
        #expect(before.isIdle && before.idleFor == .seconds(3) && before.summary.revision.rawValue == 0)
        #expect(arbiter.machine.scenes().isEmpty, "asking makes no scene")
        let holder = try arbiter.start()
        _ = try arbiter.serialize(scene: "other")
        let ticket = try arbiter.serialize()
        let busy = try arbiter.look()
        #expect(!busy.isIdle && busy.idleFor == nil && busy.summary.running == 1 && busy.summary.queued == 1)
        try arbiter.end(holder)
        #expect(try arbiter.look().idleFor == nil, "the ticket runs now")
        arbiter.advance(by: .seconds(2))
        try arbiter.end(ticket)
        arbiter.advance(by: .seconds(1))
        #expect(try arbiter.look().idleFor == .seconds(1))
        #expect(try !arbiter.look(quiet: .seconds(1) + .nanoseconds(1)).isIdle)
        #expect(try arbiter.look(quiet: .seconds(1)).isIdle)
    }

    @Test mutating func `the time is counted up to the longest that can be asked about`() throws {
        let longest = Limits.quietDurations.upperBound
        arbiter.advance(by: longest - .nanoseconds(1))
        #expect(try arbiter.look(quiet: longest).idleFor == longest - .nanoseconds(1))
        arbiter.advance(by: .seconds(500))
        let view = try arbiter.look(quiet: longest)
        #expect(view.idleFor == longest && view.isIdle)
    }

    @Test mutating func `a transition that ends at once begins the time anew`() throws {
        try arbiter.declare("nav[home]")
        arbiter.advance(by: .seconds(5))
        _ = try arbiter.start(TransitionRequest(operation: .pop(navigation: id("nav"))))
        #expect(try arbiter.look().idleFor == .zero)
        arbiter.advance(by: .seconds(4))
        _ = try arbiter.serialize(TransitionRequest(expectations: [.revision(Revision(rawValue: 9))]))
        #expect(try arbiter.look().idleFor == .zero)
    }

    @Test mutating func `a declaration and a deletion begin the time anew, in their scene only`() throws {
        arbiter.advance(by: .seconds(5))
        try arbiter.declare("home")
        let other = try #require(SceneName("other"))
        #expect(try arbiter.look().idleFor == .zero && arbiter.look(other).idleFor == .seconds(5))
        arbiter.advance(by: .seconds(7))
        #expect(try arbiter.look().idleFor == .seconds(7))
        try arbiter.delete(.main)
        arbiter.advance(by: .seconds(2))
        #expect(try arbiter.look().idleFor == .seconds(2) && arbiter.look(other).idleFor == .seconds(14))
        #expect(try arbiter.look().summary.revision.rawValue == 1)
    }

    @Test func `a restart begins the time of every scene anew`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        try arbiter.end(holder)
        arbiter.advance(by: .seconds(50))
        var machine = arbiter.machine
        machine.recover(at: arbiter.now)
        let later = Moment(instant: arbiter.now.advanced(by: .seconds(3)), timestamp: arbiter.moment.timestamp)
        for scene in ["main", "unknown"] {
            let name = try #require(SceneName(scene))
            let answer = machine.turn(at: later) { machine, step throws(ArbiterError) in
                try machine.awaitIdle(name, for: .zero, park: nil, in: &step)
            }.answer
            guard case .now(let view) = try answer.get() else {
                Issue.record("it is parked")
                continue
            }
            #expect(view.idleFor == .seconds(3))
        }
    }

    @Test func `of many scenes that are gone, the first count as idle since the last that was dropped`() throws {
        var idling = Idling()
        for index in 0...Limits.goneScenes {
            let name = try #require(SceneName("scene-\(index)"))
            idling.begin(name, at: Instant(nanoseconds: Int64(10 + index)))
            let first = idling.note(gone: name)
            #expect((first != nil) == (index == Limits.goneScenes))
            if let first { idling.drop(first) }
        }
        let (first, second) = (try #require(SceneName("scene-0")), try #require(SceneName("scene-1")))
        #expect(idling.since(first).nanoseconds == 10 && idling.since(second).nanoseconds == 11)
        #expect(idling.since(.main).nanoseconds == 10, "never earlier than is true")
    }

    // MARK: Waiting

    @Test mutating func `an await is answered when the last transition has ended`() throws {
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize()
        let waiter = arbiter.park()
        arbiter.advance(by: .seconds(1))
        try arbiter.end(holder)
        #expect(arbiter.wakes.isEmpty)
        try arbiter.end(ticket, as: .cancelled)
        #expect(arbiter.wakes == [waiter])
        let view = try #require(arbiter.idleAnswers[waiter])
        #expect(view.isIdle && view.idleFor == .zero && view.summary.running == 0 && view.summary.queued == 0)
    }

    @Test mutating func `quiet is waited for to the nanosecond`() throws {
        let holder = try arbiter.start()
        let (second, third) = (arbiter.park(quiet: .seconds(2)), arbiter.park(quiet: .seconds(3)))
        arbiter.advance(by: .seconds(5))
        try arbiter.end(holder)
        let first = arbiter.park(quiet: .seconds(1))
        arbiter.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(arbiter.wakes.isEmpty)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.wakes == [first])
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.wakes == [first, second, third])
        #expect(arbiter.idleAnswers[third]?.idleFor == .seconds(3))
        #expect(arbiter.stillParked.isEmpty)
    }

    @Test mutating func `a transition in between begins the wait anew`() throws {
        let waiter = arbiter.park(quiet: .seconds(2))
        arbiter.advance(by: .seconds(1))
        let holder = try arbiter.start()
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.wakes.isEmpty)
        try arbiter.end(holder)
        arbiter.advance(by: .seconds(1))
        try arbiter.declare("home")
        arbiter.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(arbiter.wakes.isEmpty)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.wakes == [waiter])
    }

    @Test mutating func `a request at the very instant comes after the answer`() throws {
        let waiter = arbiter.park(quiet: .seconds(2))
        arbiter.oversleep(.seconds(2))
        #expect(arbiter.wakes == [waiter])
        let late = arbiter.park(quiet: .seconds(4))
        // A late alarm: the scene has been idle all the time, and the answer comes before the request.
        let id = arbiter.nextID()
        let moment = Moment(instant: arbiter.now.advanced(by: .seconds(3)), timestamp: arbiter.moment.timestamp)
        var machine = arbiter.machine
        let outcome = machine.turn(at: moment) { machine, step throws(ArbiterError) in
            try machine.start(TransitionRequest(), id: id, token: Token(high: 1, low: 1), in: &step)
        }
        guard case .wakeForState(late, .idleness(let view)) = outcome.effects.first else {
            Issue.record("\(outcome.effects)")
            return
        }
        #expect(view.isIdle && view.idleFor == .seconds(5))
    }

    @Test mutating func `an expiry makes a scene idle`() throws {
        _ = try arbiter.start(lease: .seconds(4))
        let waiter = arbiter.park(quiet: .seconds(1))
        arbiter.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(arbiter.wakes.isEmpty)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.wakes == [waiter])
    }

    @Test mutating func `a wait that is over says how the scene is`() throws {
        _ = try arbiter.start(lease: .seconds(100))
        let waiter = arbiter.park(wait: .seconds(7))
        arbiter.advance(by: .seconds(7) - .nanoseconds(1))
        #expect(arbiter.wakes.isEmpty)
        arbiter.advance(by: .nanoseconds(1))
        let busy = try #require(arbiter.idleAnswers[waiter])
        #expect(!busy.isIdle && busy.idleFor == nil && busy.summary.running == 1)

        let other = try #require(SceneName("other"))
        let impatient = arbiter.park(other, quiet: .seconds(20), wait: .seconds(2))
        arbiter.advance(by: .seconds(2))
        let quiet = try #require(arbiter.idleAnswers[impatient])
        #expect(!quiet.isIdle && quiet.idleFor == .seconds(9) && quiet.quiet == .seconds(20))
        let inTime = arbiter.park(other, quiet: .seconds(10), wait: .seconds(1))
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.idleAnswers[inTime]?.isIdle == true, "both at one instant")
    }

    @Test mutating func `a ticket that takes the place of the last one leaves no gap`() throws {
        var machine = ArbiterStateMachine()
        _ = machine.apply(.distrust(holdsGrants: true), at: arbiter.moment)
        let request = TransitionRequest(coalescing: Coalescing(key: try #require(CoalescingKey("k")), keep: .latest))
        _ = machine.apply(
            .serialize(request, id: TransitionID(rawValue: 1), token: Token(high: 1, low: 1)), at: arbiter.moment)
        let park = Park(waiter: WaiterID(rawValue: 1), wait: .seconds(60))
        let parked = machine.turn(at: arbiter.moment) { machine, step throws(ArbiterError) in
            try machine.awaitIdle(.main, for: .zero, park: park, in: &step)
        }
        if case .now = try parked.answer.get() { Issue.record("it does not park") }
        let outcome = machine.turn(at: arbiter.moment) { machine, step throws(ArbiterError) in
            try machine.serialize(
                request, id: TransitionID(rawValue: 2), token: Token(high: 1, low: 2), park: nil, in: &step)
        }
        #expect(outcome.records.count == 1)
        let wakes = outcome.effects.count { if case .wakeForState = $0 { true } else { false } }
        #expect(wakes == 0)
        #expect(machine.brokenInvariant() == nil)
    }

    // MARK: Connections and sessions

    @Test mutating func `a connection that closes is not answered`() throws {
        let waiter = arbiter.park(quiet: .seconds(2))
        let other = arbiter.park(quiet: .seconds(3))
        try arbiter.leave(waiter)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.wakes == [other])
        #expect(arbiter.stillParked.isEmpty)
    }

    @Test mutating func `a stop answers everybody, and from then on nobody parks`() throws {
        let waiters = [arbiter.park(quiet: .seconds(2)), arbiter.park(quiet: .seconds(1))]
        arbiter.advance(by: .milliseconds(500))
        try arbiter.drain()
        #expect(arbiter.wakes == waiters)
        #expect(waiters.allSatisfy { arbiter.idleAnswers[$0]?.idleFor == .milliseconds(500) })
        let late = arbiter.park(quiet: .seconds(2))
        #expect(arbiter.idleAnswers[late]?.isIdle == false)
        #expect(arbiter.stillParked.isEmpty)
    }

    @Test mutating func `a session lives while an await of it is parked`() throws {
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        let waiter = arbiter.park(quiet: .seconds(60), session: session)
        arbiter.advance(by: .seconds(30))
        #expect(arbiter.machine.isInUse(session.id))
        try arbiter.leave(waiter)
        arbiter.advance(by: .seconds(2))
        #expect(!arbiter.machine.isInUse(session.id), "a cut connection leaves the grace only")
        let next = try arbiter.openSession(timeToLive: .seconds(5))
        let answered = arbiter.park(quiet: .seconds(60), session: next)
        arbiter.advance(by: .seconds(28))
        #expect(arbiter.wakes == [answered])
        arbiter.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(arbiter.machine.isInUse(next.id))
        arbiter.advance(by: .nanoseconds(1))
        #expect(!arbiter.machine.isInUse(next.id))
    }

    @Test mutating func `nothing of it is recorded`() throws {
        try arbiter.declare("home")
        let records = arbiter.journal.count
        let snapshot = arbiter.machine.snapshot()
        _ = arbiter.park(quiet: .seconds(1))
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.journal.count == records && arbiter.machine.snapshot() == snapshot)
    }
}
