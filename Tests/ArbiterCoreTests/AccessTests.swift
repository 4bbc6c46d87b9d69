import Testing

@testable import ArbiterCore

/// Callers, and what is theirs.
struct AccessTests {
    private static let kiosk = PrincipalName(unchecked: "token:kiosk")
    private static let panel = PrincipalName(unchecked: "uid:1000")

    private func selection(_ patterns: String...) throws -> SceneSelection {
        .matching(try patterns.map { try #require(ScenePattern($0)) })
    }

    private func key() throws -> IdempotencyKey { try #require(IdempotencyKey("0123456789abcdef")) }

    @Test(
        arguments: [
            ("main", ["main"], ["mai", "mains", "Main"]), ("*", ["a", "main", "-"], []),
            ("kiosk-*", ["kiosk-", "kiosk-1", "kiosk-*"], ["kiosk", "akiosk-1"]),
            ("*-display", ["a-display", "-display"], ["display", "a-display1"]),
            ("a*b*c", ["abc", "aXbYc", "abbcc", "abcbc"], ["ac", "abcd", "acb"]), ("**", ["x"], []),
            ("a**b", ["ab", "axb"], ["a", "b"]),
        ] as [(String, [String], [String])])
    func `a pattern matches names as a whole`(text: String, matched: [String], others: [String]) throws {
        let pattern = try #require(ScenePattern(text))
        for name in matched { #expect(pattern.matches(SceneName(unchecked: name)), "\(name)") }
        for name in others { #expect(!pattern.matches(SceneName(unchecked: name)), "\(name)") }
    }

    @Test(arguments: ["", "a b", "a?", "ä", String(repeating: "a", count: 129)])
    func `what is no pattern is refused`(text: String) {
        #expect(ScenePattern(text) == nil)
    }

    @Test func `a pattern of many stars does not take long`() throws {
        let pattern = try #require(ScenePattern(String(repeating: "*a", count: 60) + "b"))
        #expect(!pattern.matches(SceneName(unchecked: String(repeating: "a", count: 64))))
    }

    @Test(
        arguments: [
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", false), ("", false), ("---", false),
        ])
    func `a traceparent is read`(text: String, isValid: Bool) {
        #expect((TraceParent(text) != nil) == isValid)
    }

    @Test func `a key of another principal is another key`() throws {
        var arbiter = Arbiter()
        let key = try key()
        let first = try arbiter.start(
            TransitionRequest(scene: SceneName(unchecked: "a"), idempotencyKey: key, principal: Self.kiosk))
        let other = try arbiter.start(
            TransitionRequest(scene: SceneName(unchecked: "b"), idempotencyKey: key, principal: Self.panel))
        let nobody = try arbiter.start(TransitionRequest(scene: SceneName(unchecked: "c"), idempotencyKey: key))
        for owner in [first, other, nobody] { #expect(arbiter.state(of: owner) == .running) }
        let again = try arbiter.start(
            TransitionRequest(scene: SceneName(unchecked: "a"), idempotencyKey: key, principal: Self.kiosk))
        #expect(arbiter.machine.transition(again.id) == nil, "it is the first one")
    }

    @Test func `a key in another scene is another key`() throws {
        var limits = Limits()
        (limits.retainedCount, limits.retainedMaximum) = (0, 0)
        var arbiter = Arbiter(limits: limits)
        let key = try key()
        let scenes = ["a", "b"].map { SceneName(unchecked: $0) }
        let requests = scenes.map { TransitionRequest(scene: $0, idempotencyKey: key, principal: Self.kiosk) }
        let made = try requests.map { try arbiter.start($0) }
        for owner in made { #expect(arbiter.state(of: owner) == .running) }
        for request in requests {
            let again = try arbiter.start(request)
            #expect(arbiter.machine.transition(again.id) == nil, "it is that of before, in \(request.scene)")
        }
        for scene in scenes {
            #expect(throws: ArbiterError.idempotencyKeyReused(key)) {
                try arbiter.start(
                    TransitionRequest(
                        scene: scene, lease: .seconds(7), idempotencyKey: key, principal: Self.kiosk))
            }
        }
        try arbiter.restart()
        #expect(throws: ArbiterError.idempotencyKeyReused(key)) {
            try arbiter.serialize(requests[1])
        }
        // One of them ends, and is forgotten; the other one keeps its key.
        try arbiter.end(made[0])
        #expect(arbiter.machine.transition(made[0].id) == nil)
        let again = try arbiter.start(requests[1])
        #expect(arbiter.machine.transition(again.id) == nil)
    }

    @Test func `a repeated request may be another span of a trace`() throws {
        var arbiter = Arbiter()
        let key = try key()
        let traces = ["b7ad6b7169203331", "b7ad6b7169203332"].map {
            TraceParent("00-0af7651916cd43dd8448eb211c80319c-\($0)-01")
        }
        let first = try arbiter.start(TransitionRequest(idempotencyKey: key, trace: traces[0]))
        let second = try arbiter.start(TransitionRequest(idempotencyKey: key, trace: traces[1]))
        #expect(arbiter.machine.transition(second.id) == nil, "it is the first one")
        #expect(arbiter.machine.transition(first.id)?.request.trace == traces[0])
    }

    @Test func `tickets of different principals are not coalesced`() throws {
        var arbiter = Arbiter()
        let coalescing = Coalescing(key: CoalescingKey(unchecked: "k"), keep: .latest)
        _ = try arbiter.start()
        let other = try arbiter.serialize(TransitionRequest(coalescing: coalescing, principal: Self.panel))
        let first = try arbiter.serialize(TransitionRequest(coalescing: coalescing, principal: Self.kiosk))
        #expect(arbiter.state(of: other) == .queued)
        let newer = try arbiter.serialize(TransitionRequest(coalescing: coalescing, principal: Self.kiosk))
        #expect(arbiter.outcome(of: first) == .superseded(by: newer.id))
        #expect(arbiter.state(of: other) == .queued)
    }

    @Test func `a session of another principal does not exist`() throws {
        var arbiter = Arbiter()
        let token = Token(high: 1, low: 2)
        try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.openSession(
                client: nil, timeToLive: .seconds(5), by: Caller(principal: Self.kiosk), id: SessionID(rawValue: 1),
                token: token,
                in: &step)
        }
        let machine = arbiter.machine
        try machine.check(Caller(principal: Self.kiosk), owns: token)
        for other in [Caller(principal: Self.panel), .anyone] {
            #expect(throws: ArbiterError.unknownSession) { try machine.check(other, owns: token) }
            #expect(machine.own(token, of: other) == nil)
        }
        #expect(machine.own(token, of: Caller(principal: Self.kiosk)) == token)
    }

    @Test func `the word of another principal does not keep a session alive`() throws {
        var arbiter = Arbiter()
        let token = Token(high: 1, low: 2)
        try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.openSession(
                client: nil, timeToLive: .seconds(5), by: Caller(principal: Self.kiosk), id: SessionID(rawValue: 1),
                token: token,
                in: &step)
        }
        arbiter.advance(by: .seconds(4))
        try arbiter.perform { machine, step in machine.hear(token, from: .anyone, in: &step) }
        arbiter.advance(by: .seconds(1))
        #expect(!arbiter.machine.isInUse(SessionID(rawValue: 1)))
    }

    @Test func `a session is no participant's in a scene that its principal may not use`() throws {
        var arbiter = Arbiter()
        let name = try #require(ClientName("a"))
        let foreign = Caller(principal: Self.panel, scenes: try selection("garage", "hall-*"))
        let request = TransitionRequest(participants: [Participant(client: name)])
        let own = try arbiter.openSession(client: "a", by: Caller(principal: Self.kiosk))
        let (first, second) = (
            try arbiter.openSession(client: "a", by: foreign), try arbiter.openSession(client: "a", by: foreign)
        )
        func tellsEnd(of session: Session) -> Bool {
            arbiter.events.contains { $0.kind == .sessionEnded(session.id, name, .ended) }
        }
        let preparing = try arbiter.start(request)
        let ticket = try arbiter.serialize(request)
        try arbiter.endSession(first)
        #expect(arbiter.state(of: preparing) == .preparing, "another session counts, and the end of this does not")
        #expect(!tellsEnd(of: first))
        try arbiter.endSession(own)
        #expect(tellsEnd(of: own))
        #expect(arbiter.state(of: preparing) == .running, "the other session does not count here")
        try arbiter.end(preparing)
        #expect(arbiter.state(of: ticket) == .running, "nor at the grant")

        let there = try arbiter.start(
            TransitionRequest(scene: SceneName(unchecked: "garage"), participants: [Participant(client: name)]))
        #expect(arbiter.state(of: there) == .preparing)
        try arbiter.endSession(second)
        #expect(arbiter.state(of: there) == .running)
        #expect(tellsEnd(of: second))
    }

    @Test func `the end of a session elsewhere does not remove a participant that never came`() throws {
        var arbiter = Arbiter()
        let foreign = try arbiter.openSession(
            client: "a", by: Caller(principal: Self.panel, scenes: try selection("garage")))
        let waiting = try arbiter.start(
            TransitionRequest(participants: [Participant(client: try #require(ClientName("a")))]))
        try arbiter.endSession(foreign)
        #expect(arbiter.state(of: waiting) == .preparing)
    }

    @Test func `a session from before its principal might use a scene is not ready there`() throws {
        var arbiter = Arbiter()
        let session = try arbiter.openSession(
            client: "a", by: Caller(principal: Self.panel, scenes: try selection("garage")))
        let waiting = try arbiter.start(
            TransitionRequest(participants: [Participant(client: try #require(ClientName("a")))]))
        #expect(throws: ArbiterError.notAParticipant(ClientName("a"))) {
            try arbiter.ready(waiting, client: "a", session)
        }
    }

    @Test func `a snapshot keeps who opened a session`() throws {
        var arbiter = Arbiter()
        let callers = [
            .anyone, Caller(principal: Self.kiosk), Caller(principal: Self.panel, scenes: try selection("a", "b-*")),
        ]
        let sessions = try callers.map { try arbiter.openSession(client: "a", by: $0) }
        let restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(try sessions.map { try restored.session($0.token).caller } == callers)
    }

    @Test func `a transition in another scene does not exist`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(scene: "garage")
        let (some, all) = (try selection("kiosk-*", "gar*"), try selection("kiosk-*"))
        try arbiter.machine.check(Caller(principal: nil, scenes: some), maySee: owner.id)
        #expect(throws: ArbiterError.unknownTransition(owner.id)) {
            try arbiter.machine.check(Caller(principal: nil, scenes: all), maySee: owner.id)
        }
        #expect(arbiter.machine.scenes(all).isEmpty)
        #expect(arbiter.machine.scenes(some).map(\.name.description) == ["garage"])
    }

    @Test func `each principal has its limits, and what is replayed has none`() throws {
        var limits = Limits()
        limits.unfinishedPerPrincipal = 2
        limits.sessionsPerPrincipal = 1
        var arbiter = Arbiter(limits: limits)
        var request = TransitionRequest(principal: Self.kiosk)
        let holder = try arbiter.start(request)
        _ = try arbiter.serialize(request)
        let refusal = ArbiterError.tooManyTransitions(limit: 2, of: Self.kiosk)
        #expect(throws: refusal) { try arbiter.serialize(request) }
        request.principal = Self.panel
        _ = try arbiter.serialize(request)
        try arbiter.end(holder)
        request.principal = Self.kiosk
        _ = try arbiter.serialize(request)
        #expect(throws: refusal) { try arbiter.serialize(request) }

        func open(_ id: UInt64) throws {
            try arbiter.perform { machine, step throws(ArbiterError) in
                try machine.openSession(
                    client: nil, timeToLive: .seconds(5), by: Caller(principal: Self.kiosk),
                    id: SessionID(rawValue: id),
                    token: Token(high: id, low: id), in: &step)
            }
        }
        try open(1)
        #expect(throws: ArbiterError.tooManySessions(limit: 1, of: Self.kiosk)) { try open(2) }

        limits.unfinishedPerPrincipal = 1
        limits.sessionsPerPrincipal = 0
        var replayed = ArbiterStateMachine(limits: limits.ofReplay)
        for entry in arbiter.journal {
            #expect(replayed.apply(entry.record, at: entry.moment).records == [entry.record])
        }
        #expect(replayed.snapshot() == arbiter.machine.snapshot())
        let restored = try ArbiterStateMachine(snapshot: replayed.snapshot(), limits: limits)
        #expect(restored.snapshot() == replayed.snapshot())
        #expect(throws: ArbiterError.unknownSession) {
            try restored.check(.anyone, owns: Token(high: 1, low: 1))
        }
    }

    @Test func `a revocation says who made it`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start()
        let revocation = Revocation(GivenReason(unchecked: "it hangs"), by: Self.panel)
        try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.revoke(owner.id, revocation, in: &step)
        }
        #expect(arbiter.outcome(of: owner) == .revoked(revocation))
    }
}
