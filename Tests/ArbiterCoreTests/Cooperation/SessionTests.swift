import Testing

@testable import ArbiterCore

/// Sessions: proofs of life, and what ends with them.
struct SessionTests {
    @Test func `everything bound to a session ends with it in one step, before anything else is granted`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(client: "a")
        let holder = try arbiter.start(TransitionRequest(session: session.token))
        let ticket = try arbiter.serialize(TransitionRequest(session: session.token), parked: true)
        let other = try arbiter.serialize(TransitionRequest(), parked: true)
        try arbiter.perform(.endSession(session.token))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        #expect(arbiter.outcome(of: ticket) == .expired(.sessionLost))
        #expect(arbiter.answer(to: ticket)?.outcome == .expired(.sessionLost))
        #expect(arbiter.state(of: other) == .running)
        #expect(arbiter.fence(of: ticket) == nil, "it was never granted in between")
        let told = arbiter.events.last { if case .sessionEnded = $0.kind { true } else { false } }
        #expect(told?.kind == .sessionEnded(session.id, ClientName("a"), .ended))
    }

    @Test func `a session lives for its time after its client's last word`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        arbiter.advance(by: .seconds(4))
        try arbiter.perform(.renewSession(session.token))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(60), session: session.token))
        arbiter.advance(by: .seconds(4))
        #expect(arbiter.state(of: holder) == .running)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        #expect(throws: ArbiterError.unknownSession) { try arbiter.perform(.renewSession(session.token)) }
        #expect(throws: ArbiterError.unknownSession) { try arbiter.start(TransitionRequest(session: session.token)) }
        #expect(throws: ArbiterError.unknownSession) {
            try arbiter.serialize(TransitionRequest(session: session.token))
        }
    }

    @Test func `a request in a session is a word of its client`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        arbiter.advance(by: .seconds(4))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(60), session: session.token))
        arbiter.advance(by: .seconds(4))
        _ = try arbiter.serialize(TransitionRequest(session: session.token))
        arbiter.advance(by: .seconds(4))
        #expect(arbiter.state(of: holder) == .running)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
    }

    @Test func `a connection keeps a session alive, and its close leaves it a grace`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(1))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try arbiter.perform(.attach(session.token))
        try arbiter.perform(.attach(session.token))
        arbiter.advance(by: .seconds(60))
        try arbiter.perform(.detach(session.id))
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.state(of: holder) == .running, "another connection is there")
        try arbiter.perform(.detach(session.id))
        arbiter.advance(by: .seconds(1))
        try arbiter.perform(.attach(session.token))
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.state(of: holder) == .running, "it came back in time")
        try arbiter.perform(.detach(session.id))
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        try arbiter.perform(.detach(session.id))
    }

    @Test func `a ticket is attended and claimed while its session lives`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        let holder = try arbiter.start(lease: .seconds(100))
        let ticket = try arbiter.serialize(TransitionRequest(ticket: .seconds(1), session: session.token), parked: true)
        try arbiter.leave(ticket.waiter)
        arbiter.advance(by: .seconds(50))
        #expect(arbiter.state(of: ticket) == .queued)
        try arbiter.end(holder)
        #expect(arbiter.view(of: ticket)?.leaseRemaining == Limits.defaultLease)
        arbiter.advance(by: Limits.defaultLease)
        #expect(arbiter.outcome(of: ticket) == .expired(.lease), "a lease wants words of its own")
    }

    @Test func `a session outlives the daemon, with its full time and no connection`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try arbiter.perform(.attach(session.token))
        arbiter.advance(by: .seconds(100))
        var machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        machine.recover(at: arbiter.now)
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        #expect(machine.nextDeadline == arbiter.now.advanced(by: .seconds(5)))
        let due = arbiter.now.advanced(by: .seconds(5))
        #expect(machine.nextDecision(at: due) == .closeSession(session.id, .expired))
        let outcome = machine.apply(
            .closeSession(session.id, .expired), at: Moment(instant: due, timestamp: arbiter.moment.timestamp))
        #expect(outcome.isDurable)
        #expect(try machine.view(of: holder.id, at: due).outcome == .expired(.sessionLost))
    }

    @Test func `a session knows only of scenes that are known`() throws {
        var limits = Limits()
        limits.scenes = 3
        var arbiter = Arbiter(limits: limits)
        let session = try arbiter.openSession()
        for number in 1...10 {
            let scene = try #require(SceneName("scene-\(number)"))
            try arbiter.end(arbiter.start(TransitionRequest(scene: scene, session: session.token)))
        }
        #expect(try arbiter.machine.session(session.token).scenes.count == 3)
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        let told = arbiter.events.count
        try arbiter.perform(.endSession(session.token))
        #expect(arbiter.events[told...].map(\.scene.description) == ["scene-10", "scene-8", "scene-9"])
    }

    @Test func `there are only so many sessions`() throws {
        var limits = Limits()
        limits.sessions = 2
        var arbiter = Arbiter(limits: limits)
        let first = try arbiter.openSession()
        _ = try arbiter.openSession()
        #expect(throws: ArbiterError.tooManySessions(limit: 2)) { _ = try arbiter.openSession() }
        try arbiter.perform(.endSession(first.token))
        _ = try arbiter.openSession()
    }
}
