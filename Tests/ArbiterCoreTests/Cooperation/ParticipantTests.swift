import Testing

@testable import ArbiterCore

/// Participants: the clients that must be ready before a granted transition runs.
struct ParticipantTests {
    private static func request(
        _ clients: [String], optional: [String] = [], onUnready: UnreadyAction = .proceed
    ) throws -> TransitionRequest {
        let participants =
            try clients.map { Participant(client: try #require(ClientName($0))) }
            + optional.map { Participant(client: try #require(ClientName($0)), isRequired: false) }
        return TransitionRequest(participants: participants, onUnready: onUnready)
    }

    private static func laggards(_ owner: Owner, in arbiter: Arbiter) -> [String]? {
        arbiter.view(of: owner)?.transition.laggards.map(\.description)
    }

    @Test func `a transition holds its scope while preparing, and runs once all required are ready`() throws {
        var arbiter = Arbiter()
        let (a, b) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "b"))
        let owner = try arbiter.start(Self.request(["a", "b"], optional: ["c"]))
        let waiter = try arbiter.park(on: owner, until: .running)
        #expect(arbiter.state(of: owner) == .preparing)
        #expect(arbiter.fence(of: owner) != nil)
        #expect(throws: ArbiterError.self) { try arbiter.start() }
        try arbiter.ready(owner, client: "a", a)
        #expect(try arbiter.ready(owner, client: "a", a).state == .preparing, "a repeated ready is accepted")
        #expect(arbiter.wakes.isEmpty)
        #expect(try arbiter.ready(owner, client: "b", b).state == .running)
        #expect(arbiter.answers[waiter]?.state == .running)
        #expect(Self.laggards(owner, in: arbiter) == [])
        #expect(try arbiter.ready(owner, client: "b", b).state == .running, "and also when it runs")
    }

    @Test func `a refused ready keeps its session alive as any word does`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(client: "a", timeToLive: .seconds(2))
        let (owner, other) = (try arbiter.start(Self.request(["a"])), try arbiter.serialize(Self.request(["a"])))
        arbiter.advance(by: .milliseconds(1500))
        #expect(throws: ArbiterError.self) { try arbiter.ready(other, client: "a", session) }
        arbiter.advance(by: .milliseconds(1999))
        #expect(throws: ArbiterError.self) { try arbiter.ready(owner, client: "b", session) }
        arbiter.advance(by: .seconds(2))
        #expect(throws: ArbiterError.unknownSession) { try arbiter.ready(owner, client: "a", session) }
    }

    @Test func `a late participant is named as laggard, and its ready is refused`() throws {
        var arbiter = Arbiter()
        let (a, b) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "b"))
        let owner = try arbiter.start(Self.request(["a", "b"]))
        try arbiter.ready(owner, client: "a", a)
        arbiter.advance(by: Limits.defaultReady)
        #expect(arbiter.state(of: owner) == .running)
        #expect(Self.laggards(owner, in: arbiter) == ["b"])
        let error = #expect(throws: ArbiterError.self) { try arbiter.ready(owner, client: "b", b) }
        guard case .tooLate? = error else {
            Issue.record("refused with \(String(describing: error))")
            return
        }
        #expect(Self.laggards(owner, in: arbiter) == ["b"])
    }

    @Test func `with onUnready abort, a transition expires when a participant is late`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.request(["a"], onUnready: .abort))
        let next = try arbiter.serialize(TransitionRequest())
        arbiter.advance(by: Limits.defaultReady)
        #expect(arbiter.outcome(of: owner) == .expired(.participants))
        #expect(Self.laggards(owner, in: arbiter) == ["a"])
        #expect(arbiter.state(of: next) == .running)
    }

    @Test func `a participant without a session counts as ready`() throws {
        var arbiter = Arbiter()
        let (a, b) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "b"))
        let second = try arbiter.openSession(client: "a")
        let owner = try arbiter.start(Self.request(["a", "b"], onUnready: .abort))
        try arbiter.ready(owner, client: "b", b)
        try arbiter.endSession(a)
        #expect(arbiter.state(of: owner) == .preparing, "it has another session")
        try arbiter.endSession(second)
        #expect(arbiter.state(of: owner) == .running)
        #expect(arbiter.view(of: owner)?.transition.participants.map(\.state) == [.gone, .ready])
        #expect(Self.laggards(owner, in: arbiter) == [])
    }

    @Test func `a laggard stays a laggard when its session ends later`() throws {
        var arbiter = Arbiter()
        let a = try arbiter.openSession(client: "a")
        let owner = try arbiter.start(Self.request(["a"]))
        arbiter.advance(by: Limits.defaultReady)
        try arbiter.endSession(a)
        #expect(arbiter.state(of: owner) == .running)
        #expect(Self.laggards(owner, in: arbiter) == ["a"])
        try arbiter.end(owner)
        #expect(Self.laggards(owner, in: arbiter) == ["a"])
    }

    // MARK: Ends before running

    private static func push(onUnready: UnreadyAction = .proceed) throws -> TransitionRequest {
        var request = try request(["a"], onUnready: onUnready)
        request.operation = try .push(navigation: id("nav"), controller: .outlined("editor"))
        request.onExpiry = .complete
        return request
    }

    private static func told(_ owner: Owner, in arbiter: Arbiter) -> [AppearanceEvent.Change] {
        arbiter.events.compactMap { event in
            if case .appearance(let appearance, owner.id) = event.kind { appearance.change } else { nil }
        }
    }

    private static func shown(_ owner: Owner, in arbiter: Arbiter) -> [AppearanceEvent.Change]? {
        guard case .ended(let ending)? = arbiter.view(of: owner)?.transition.phase else { return nil }
        return ((ending.grant?.appearance ?? []) + ending.appearance).map(\.change)
    }

    @Test func `a transition that expires for its participants changes nothing, whatever its onExpiry`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start(Self.push(onUnready: .abort))
        arbiter.advance(by: Limits.defaultReady)
        #expect(arbiter.outcome(of: owner) == .expired(.participants))
        #expect(arbiter.outline == "nav[home]")
        #expect(Self.told(owner, in: arbiter) == [])
        #expect(Self.shown(owner, in: arbiter) == [])
    }

    @Test func `a transition that expires before it runs changes nothing, whatever its onExpiry`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let (_, session) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "menu"))
        var request = try Self.push()
        request.session = session.token
        let owner = try arbiter.start(request)
        #expect(arbiter.state(of: owner) == .preparing)
        try arbiter.endSession(session)
        #expect(arbiter.outcome(of: owner) == .expired(.sessionLost))
        #expect(arbiter.outline == "nav[home]")
        #expect(Self.told(owner, in: arbiter) == [])
        #expect(Self.shown(owner, in: arbiter) == [])
    }

    @Test func `the views get each appearance event once if a transition completes before it runs`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start(Self.push())
        #expect(Self.told(owner, in: arbiter) == [])
        try arbiter.end(owner)
        #expect(arbiter.outline == "nav[home editor]")
        let expected: [AppearanceEvent.Change] = [.willDisappear, .willAppear, .didDisappear, .didAppear]
        #expect(Self.told(owner, in: arbiter) == expected)
        #expect(Self.shown(owner, in: arbiter) == expected)
        // The views get their "will" events before the hierarchy changes.
        let change = arbiter.events.firstIndex { event in
            if case .hierarchyChanged(let news) = event.kind { news.transition == owner.id } else { false }
        }
        let begun = try #require(change).advanced(by: -2)
        #expect(arbiter.events[begun].kind == .appearance(AppearanceEvent(id("home"), .willDisappear), owner.id))
    }

    @Test func `a participant whose session ended in the queue is waited for only if it has a new one`() throws {
        var arbiter = Arbiter()
        let (a, b) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "b"))
        let holder = try arbiter.start()
        let owner = try arbiter.serialize(Self.request(["a", "b"]))
        try arbiter.endSession(a)
        try arbiter.endSession(b)
        let again = try arbiter.openSession(client: "b")
        try arbiter.end(holder)
        #expect(arbiter.state(of: owner) == .preparing)
        #expect(arbiter.view(of: owner)?.transition.participants.map(\.state) == [.gone, .waiting])
        try arbiter.ready(owner, client: "b", again)
        #expect(arbiter.state(of: owner) == .running)
    }

    @Test func `a ready is accepted only from the participant's own session and after the grant`() throws {
        var arbiter = Arbiter()
        let (a, c) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "c"))
        let holder = try arbiter.start()
        let owner = try arbiter.serialize(Self.request(["a"]))
        let early = #expect(throws: ArbiterError.self) { try arbiter.ready(owner, client: "a", a) }
        guard case .notRunning? = early else {
            Issue.record("refused with \(String(describing: early))")
            return
        }
        try arbiter.end(holder)
        #expect(throws: ArbiterError.self) { try arbiter.ready(owner, client: "a", c) }
        #expect(throws: ArbiterError.self) { try arbiter.ready(owner, client: "c", c) }
        try arbiter.endSession(c)
        #expect(throws: ArbiterError.unknownSession) { try arbiter.ready(owner, client: "c", c) }
        #expect(arbiter.state(of: owner) == .preparing)
    }

    @Test func `a veto rejects a transition that prepares, and the next is granted`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[list]")
        let (a, b) = (try arbiter.openSession(client: "a"), try arbiter.openSession(client: "b"))
        let name = try #require(ClientName("a"))
        let participants = [
            Participant(client: name, mayVeto: true), Participant(client: try #require(ClientName("b"))),
        ]
        let owner = try arbiter.start(TransitionRequest(operation: .push("editor"), participants: participants))
        let waiter = try arbiter.park(on: owner, until: .running)
        let next = try arbiter.serialize()
        #expect(throws: ArbiterError.mayNotVeto(try #require(ClientName("b")))) {
            try arbiter.veto(owner, client: "b", b)
        }
        // Until it runs, who has been ready may change its mind.
        try arbiter.ready(owner, client: "a", a)
        let rejection = TransitionOutcome.rejected(.vetoed(by: name, GivenReason("not saved")))
        #expect(try arbiter.veto(owner, client: "a", a, because: "not saved").outcome == rejection)
        #expect(arbiter.answers[waiter]?.outcome == rejection)
        #expect(arbiter.state(of: next) == .running)
        #expect(try arbiter.veto(owner, client: "a", a).outcome == rejection, "a repetition is accepted")
        #expect(arbiter.outline == "nav[list]")
        #expect(Self.laggards(owner, in: arbiter) == ["b"])
        try arbiter.end(next)
        _ = try arbiter.start(TransitionRequest(operation: .push("editor")))
    }

    @Test func `a veto comes too late when it runs, and too early in the queue`() throws {
        var arbiter = Arbiter()
        let a = try arbiter.openSession(client: "a")
        let request = TransitionRequest(
            participants: [Participant(client: try #require(ClientName("a")), mayVeto: true)])
        let (owner, ticket) = (try arbiter.start(request), try arbiter.serialize(request))
        try arbiter.ready(owner, client: "a", a)
        let late = #expect(throws: ArbiterError.self) { try arbiter.veto(owner, client: "a", a) }
        guard case .tooLate? = late else {
            Issue.record("refused with \(String(describing: late))")
            return
        }
        let early = #expect(throws: ArbiterError.self) { try arbiter.veto(ticket, client: "a", a) }
        guard case .notRunning? = early else {
            Issue.record("refused with \(String(describing: early))")
            return
        }
    }

    @Test func `an owner can end a preparing transition`() throws {
        var arbiter = Arbiter()
        let first = try arbiter.start(Self.request(["a"]))
        #expect(try arbiter.end(first, as: .cancelled).outcome == .cancelled)
        let second = try arbiter.start(Self.request(["a"]))
        #expect(try arbiter.end(second).outcome == .completed)
        _ = try arbiter.start()
    }
}

extension ParticipantTests {
    @Test func `views get no events of a preparing transition if it is cancelled, and all if completed`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        var request = try Self.request(["a"])
        request.operation = .push(navigation: id("nav"), controller: try .outlined("editor"))
        let first = try arbiter.start(request)
        #expect(arbiter.view(of: first)?.transition.grant?.appearance.count == 2, "the events that the views will get")
        try arbiter.end(first, as: .cancelled)
        #expect(arbiter.view(of: first)?.transition.grant?.appearance == [])
        #expect(arbiter.view(of: first)?.ending?.appearance == [])
        let second = try arbiter.start(request)
        try arbiter.end(second)
        let told = arbiter.events.compactMap { event -> AppearanceEvent.Change? in
            if case .appearance(let appearance, _) = event.kind { appearance.change } else { nil }
        }
        #expect(told == [.willDisappear, .willAppear, .didDisappear, .didAppear])
        #expect(arbiter.outline == "nav[home editor]")
    }
}
