import Testing

@testable import ArbiterCore

/// Much that is due at once, of which a turn does a portion.
struct PortionTests {
    private var arbiter = Arbiter()
    /// Two portions and a part of a third one.
    private let many = 2 * Limits.portion + 40

    private func scene(_ number: Int) throws -> SceneName { try #require(SceneName("s\(number)")) }

    /// Runs turns without an event until nothing is due any more.
    ///
    /// - Returns: how many of them changed something.
    private mutating func catchUp() -> Int {
        var turns = 0
        while true {
            let recorded = arbiter.journal.count
            arbiter.oversleep(.zero)
            guard arbiter.journal.count > recorded else { return turns }
            turns += 1
        }
    }

    @Test mutating func `leases that run out together end in several turns, and words are heard between them`() throws {
        let holders = try (0..<many + Limits.portion).map {
            try arbiter.start(TransitionRequest(scene: try scene($0), lease: .seconds(10)))
        }
        arbiter.oversleep(.seconds(10))
        #expect(holders.count { arbiter.state(of: $0) == .ended } == Limits.portion)
        let last = try #require(holders.last)
        // Each of these turns does a portion too, before it hears the owner.
        #expect(try arbiter.renew(last).state == .running)
        #expect(catchUp() > 0)
        #expect(holders.dropLast().allSatisfy { arbiter.outcome(of: $0) == .expired(.lease) })
        #expect(arbiter.state(of: last) == .running)
        try arbiter.restart()
    }

    @Test mutating func `a row of silent tickets ends in several turns, and none of them is granted`() throws {
        let holder = try arbiter.start(TransitionRequest())
        let row = try (0..<many).map { _ in try arbiter.serialize(TransitionRequest(ticket: .seconds(3600))) }
        let later = try arbiter.serialize(TransitionRequest(ticket: .seconds(3600)))
        try arbiter.end(holder)
        arbiter.oversleep(.seconds(1))
        try arbiter.renew(later)
        arbiter.oversleep(.seconds(4))
        #expect(arbiter.state(of: row[0]) == .running, "the grant ends with the last ones of its row")
        #expect(catchUp() > 1)
        #expect(row.allSatisfy { arbiter.outcome(of: $0) == .expired(.unclaimed) })
        #expect(row.dropFirst().allSatisfy { arbiter.fence(of: $0) == nil })
        #expect(arbiter.state(of: later) == .running)
        try arbiter.restart()
    }

    @Test
    mutating func `a session with much that is bound to it ends in several turns, and none of its tickets is granted`()
        throws
    {
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        let holders = try (0..<many).map {
            try arbiter.start(TransitionRequest(scene: try scene($0), session: session.token))
        }
        let tickets = try (0..<2 * many).map { _ in
            try arbiter.serialize(TransitionRequest(scene: try scene(0), session: session.token))
        }
        let kept = try arbiter.serialize(TransitionRequest(scene: try scene(0)))
        let answer = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.endSession(session.token, in: &step)
        }
        #expect(answer == .leaving(session.id))
        // Asked again meanwhile, the same is said.
        let again = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.endSession(session.token, in: &step)
        }
        #expect(again == .leaving(session.id))
        #expect(throws: ArbiterError.unknownSession) { try arbiter.machine.session(session.token) }
        #expect(catchUp() > 1)
        #expect((holders + tickets).allSatisfy { arbiter.outcome(of: $0) == .expired(.sessionLost) })
        #expect(tickets.allSatisfy { arbiter.fence(of: $0) == nil })
        #expect(arbiter.state(of: kept) == .running)
        #expect(!arbiter.machine.isInUse(session.id))
        #expect(arbiter.journal.last?.record == .endSession(session.id, .ended))
        try arbiter.restart()
    }

    @Test mutating func `a session that ends in several turns ends although an await of its client is parked`() throws {
        let session = try arbiter.openSession(timeToLive: .seconds(60))
        let holders = try (0..<many).map {
            try arbiter.start(TransitionRequest(scene: try scene($0), session: session.token))
        }
        _ = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.endSession(session.token, in: &step)
        }
        let last = try #require(holders.last)
        let park = Park(waiter: arbiter.nextWaiter(), wait: .seconds(60))
        try arbiter.parking(park.waiter, at: #_sourceLocation) { machine, step throws(ArbiterError) in
            try machine.wait(on: last.id, token: last.token, until: .ended, park: park, in: &step)
        }
        _ = catchUp()
        #expect(holders.allSatisfy { arbiter.outcome(of: $0) == .expired(.sessionLost) })
        #expect(!arbiter.machine.isInUse(session.id))
        try arbiter.restart()
    }

    @Test mutating func `a session that is cut off by a restart lives again`() throws {
        let session = try arbiter.openSession(timeToLive: .seconds(60))
        let holders = try (0..<many).map {
            try arbiter.start(TransitionRequest(scene: try scene($0), session: session.token))
        }
        arbiter.oversleep(.seconds(60))
        let ended = holders.count { arbiter.state(of: $0) == .ended }
        #expect(ended > 0 && ended < many)
        try arbiter.restart()
        try arbiter.renewSession(session)
        #expect(holders.count { arbiter.state(of: $0) == .ended } == ended)
        arbiter.oversleep(.seconds(60))
        #expect(catchUp() > 0)
        #expect(holders.allSatisfy { arbiter.state(of: $0) == .ended })
    }

    @Test mutating func `many transitions that wait for one participant go on in several turns`() throws {
        let screen = try #require(ClientName("screen"))
        let session = try arbiter.openSession(client: "screen", timeToLive: .seconds(3600))
        let waiting = try (0..<many).map {
            try arbiter.start(
                TransitionRequest(
                    scene: try scene($0), lease: .seconds(300), participants: [Participant(client: screen)],
                    ready: .seconds(60)))
        }
        #expect(waiting.allSatisfy { arbiter.state(of: $0) == .preparing })
        _ = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.endSession(session.token, in: &step)
        }
        // A session that begins meanwhile is too late for all of them.
        _ = try arbiter.openSession(client: "screen")
        _ = catchUp()
        #expect(waiting.allSatisfy { arbiter.state(of: $0) == .running })
        #expect(!arbiter.machine.isInUse(session.id))
        try arbiter.restart()
    }

    @Test mutating func `a session is known in the scenes that it used last`() throws {
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        let number = Limits.scenesOfSession + 9
        for number in 0..<number {
            try arbiter.end(try arbiter.start(TransitionRequest(scene: try scene(number), session: session.token)))
        }
        let told = arbiter.events.count
        try arbiter.endSession(session)
        let scenes = try (9..<number).map { try scene($0) }.sorted { $0.description < $1.description }
        #expect(arbiter.events[told...].map(\.scene) == scenes)
        try arbiter.restart()
    }

    @Test mutating func `nothing ends for silence while words may be unheard`() throws {
        let holder = try arbiter.start(TransitionRequest(lease: .seconds(10)))
        let other = try arbiter.start(TransitionRequest(scene: try scene(1), lease: .seconds(10)))
        let waiting = try arbiter.park(on: holder, until: .ended, wait: .seconds(10))
        arbiter.oversleep(.seconds(10), lag: .milliseconds(1))
        #expect(arbiter.state(of: holder) == .running)
        #expect(arbiter.wakes.contains(waiting), "a wait that has run out is no silence")
        try arbiter.renew(holder)
        arbiter.oversleep(.zero)
        #expect(arbiter.state(of: holder) == .running)
        #expect(arbiter.outcome(of: other) == .expired(.lease))
    }
}
