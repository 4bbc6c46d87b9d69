import Testing

@testable import ArbiterCore

/// Sessions, and the end of everything bound to them.
struct SessionTests {
    /// The owner renews its lease, and is there or not when its request is carried out.
    private func renew(_ owner: Owner, _ client: ClientPresence, in arbiter: inout Arbiter) throws {
        try arbiter.perform { machine, step throws(ArbiterError) in
            step.restart(at: step.moment, client: client)
            _ = try machine.renew(owner.id, token: owner.token, in: &step)
        }
    }

    @Test func `a session whose connection was not cut by its client has its full time`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(10))
        try arbiter.attach(session)
        try arbiter.perform { machine, step in machine.detach(session.id, client: .present, in: &step) }
        arbiter.advance(by: .seconds(9))
        #expect(arbiter.machine.isInUse(session.id))
        arbiter.advance(by: .seconds(1))
        #expect(!arbiter.machine.isInUse(session.id))
    }

    @Test func `a request of a client that has closed all its connections gives its session no more time`() throws {
        for (client, isAlive) in [(ClientPresence.gone, false), (.present, true)] {
            var arbiter = Arbiter()
            let session = try arbiter.openSession(timeToLive: .seconds(60))
            let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
            try arbiter.attach(session)
            // A stream is open, so the request says as much as any other.
            try renew(holder, .gone, in: &arbiter)
            try arbiter.perform { machine, step in machine.detach(session.id, in: &step) }
            arbiter.advance(by: .seconds(1))
            try renew(holder, client, in: &arbiter)
            arbiter.advance(by: .seconds(1))
            #expect(arbiter.machine.isInUse(session.id) == isAlive)
        }
    }

    @Test func `an await of a client that has closed all its connections keeps its session no longer`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(60))
        let holder = try arbiter.start(TransitionRequest())
        let ticket = try arbiter.serialize(TransitionRequest(session: session.token))
        try arbiter.attach(session)
        try arbiter.perform { machine, step in machine.detach(session.id, in: &step) }
        let park = Park(waiter: arbiter.nextWaiter(), wait: .seconds(60))
        try arbiter.parking(park.waiter, at: #_sourceLocation) { machine, step throws(ArbiterError) in
            step.restart(at: step.moment, client: .gone)
            return try machine.wait(
                on: ticket.id, token: ticket.token, until: .granted, session: session.token, park: park, in: &step)
        }
        // It is answered before its connection is found closed.
        try arbiter.end(holder)
        #expect(arbiter.state(of: ticket) == .running)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: ticket) == .expired(.sessionLost))
    }

    @Test func `a request whose client does not wait for the answer keeps a session alive`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(10))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
        arbiter.advance(by: .seconds(9))
        try renew(holder, .gone, in: &arbiter)
        arbiter.advance(by: .seconds(9))
        #expect(arbiter.machine.isInUse(session.id))
    }

    @Test func `everything bound to a session ends with it, before anything is granted`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(client: "a")
        let holder = try arbiter.start(TransitionRequest(session: session.token))
        let ticket = try arbiter.serialize(TransitionRequest(session: session.token), parked: true)
        let other = try arbiter.serialize(TransitionRequest(), parked: true)
        try arbiter.endSession(session)
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        #expect(arbiter.outcome(of: ticket) == .expired(.sessionLost))
        #expect(arbiter.answer(to: ticket)?.outcome == .expired(.sessionLost))
        #expect(arbiter.state(of: other) == .running)
        #expect(arbiter.fence(of: ticket) == nil, "it was never granted in between")
        let told = arbiter.events.last { if case .sessionEnded = $0.kind { true } else { false } }
        #expect(told?.kind == .sessionEnded(session.id, ClientName("a"), .ended))
    }

    @Test func `a session expires its time to live after its client's last request`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        arbiter.advance(by: .seconds(4))
        try arbiter.renewSession(session)
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(60), session: session.token))
        arbiter.advance(by: .seconds(4))
        #expect(arbiter.state(of: holder) == .running)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        #expect(throws: ArbiterError.unknownSession) { try arbiter.renewSession(session) }
        #expect(throws: ArbiterError.unknownSession) { try arbiter.start(TransitionRequest(session: session.token)) }
        #expect(throws: ArbiterError.unknownSession) {
            try arbiter.serialize(TransitionRequest(session: session.token))
        }
    }

    @Test func `a request with a session's token keeps the session alive`() throws {
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

    @Test func `a session lives while a connection is attached, and for the grace period after it`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(1))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try arbiter.attach(session)
        try arbiter.attach(session)
        arbiter.advance(by: .seconds(60))
        try arbiter.detach(session)
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.state(of: holder) == .running, "another connection is attached")
        try arbiter.detach(session)
        arbiter.advance(by: .seconds(1))
        try arbiter.attach(session)
        arbiter.advance(by: .seconds(60))
        #expect(arbiter.state(of: holder) == .running, "a connection was attached again in time")
        try arbiter.detach(session)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: holder) == .expired(.sessionLost))
        try arbiter.detach(session)
    }

    @Test func `a ticket with a session is not abandoned and need not be claimed`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        let holder = try arbiter.start(lease: .seconds(100))
        let ticket = try arbiter.serialize(TransitionRequest(ticket: .seconds(1), session: session.token), parked: true)
        try arbiter.leave(ticket.waiter)
        arbiter.advance(by: .milliseconds(1999))
        try arbiter.renewSession(session)
        arbiter.advance(by: .seconds(50))
        #expect(arbiter.state(of: ticket) == .queued)
        try arbiter.end(holder)
        #expect(arbiter.view(of: ticket)?.leaseRemaining == Limits.defaultLease)
        arbiter.advance(by: Limits.defaultLease)
        #expect(arbiter.outcome(of: ticket) == .expired(.lease), "a session does not renew leases")
    }

    @Test func `a session lives by every word of its client`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(1))
        var request = TransitionRequest(lease: .seconds(100), isInteractive: true, session: session.token)
        let drag = try arbiter.start(request)
        for _ in 1...8 {
            arbiter.advance(by: .milliseconds(750))
            #expect(try arbiter.progress(drag, 0.5))
        }
        arbiter.advance(by: .milliseconds(750))
        request.scene = .main
        #expect(throws: ArbiterError.self, "it is busy, and the word counts") { try arbiter.start(request) }
        arbiter.advance(by: .milliseconds(750))
        #expect(arbiter.state(of: drag) == .running)
        let parked = try arbiter.park(on: drag, until: .ended)
        arbiter.advance(by: .seconds(50))
        #expect(arbiter.state(of: drag) == .running, "a parked connection keeps it alive")
        try arbiter.leave(parked)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: drag) == .expired(.sessionLost))
    }

    @Test func `the end of a session does not take a remembered end back`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession()
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(
            TransitionRequest(ticket: .seconds(1), queue: .seconds(2), session: session.token))
        try arbiter.end(ticket)
        try arbiter.endSession(session)
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.state(of: ticket) == .queued)
        try arbiter.end(holder)
        #expect(arbiter.outcome(of: ticket) == .completed)
    }

    @Test func `a restart keeps a session, with its full time and without connections`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(timeToLive: .seconds(5))
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try arbiter.attach(session)
        arbiter.advance(by: .seconds(100))
        var machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        machine.recover(at: arbiter.now)
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        #expect(machine.nextDeadline == arbiter.now.advanced(by: .seconds(5)))
        let due = arbiter.now.advanced(by: .seconds(5))
        let outcome = machine.turn(at: Moment(instant: due, timestamp: arbiter.moment.timestamp)) { _, _ in }
        #expect(outcome.records == [.endSession(session.id, .expired)])
        #expect(try machine.view(of: holder.id, at: due).outcome == .expired(.sessionLost))
    }

    @Test func `a session forgets scenes that are forgotten`() throws {
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
        try arbiter.endSession(session)
        #expect(arbiter.events[told...].map(\.scene.description) == ["scene-10", "scene-8", "scene-9"])
    }

    @Test func `a session beyond the limit is refused`() throws {
        var limits = Limits()
        limits.sessions = 2
        var arbiter = Arbiter(limits: limits)
        let first = try arbiter.openSession()
        _ = try arbiter.openSession()
        #expect(throws: ArbiterError.tooManySessions(limit: 2)) { _ = try arbiter.openSession() }
        try arbiter.endSession(first)
        _ = try arbiter.openSession()
    }
}
