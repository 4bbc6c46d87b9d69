import ArbiterCore
import Testing

/// Gestures of interactive transitions: progress and release.
struct GestureTests {
    private static let interactive = TransitionRequest(
        animation: AnimationRequest(duration: .seconds(2), completionSpeed: 2), isInteractive: true)

    private static func request(by policy: GesturePolicy) -> TransitionRequest {
        var request = interactive
        request.policy = policy
        return request
    }

    private static func gesture(of owner: Owner, in arbiter: Arbiter) -> DecidedGesture? {
        arbiter.view(of: owner)?.transition.gesture
    }

    // MARK: Progress

    @Test func `progress is clamped, published and renews the lease`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        arbiter.advance(by: .seconds(9))
        #expect(try arbiter.progress(owner, 1.5, velocity: 3))
        #expect(arbiter.view(of: owner)?.leaseRemaining == Limits.defaultLease)
        #expect(arbiter.view(of: owner)?.progress == GestureProgress(fraction: 1, velocity: 3))
        let event = arbiter.events.last
        #expect(event?.kind == .progress(owner.id, GestureProgress(fraction: 1, velocity: 3)))
        #expect(event?.number == nil, "a momentary event has no number")
    }

    @Test func `late progress is ignored and answered as not applied`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        #expect(try arbiter.progress(owner, 0.5, sequence: 7))
        #expect(try !arbiter.progress(owner, 0.2, sequence: 7))
        #expect(try !arbiter.progress(owner, 0.2, sequence: 6))
        #expect(arbiter.view(of: owner)?.progress?.fraction == 0.5)
        #expect(try arbiter.progress(owner, 0.2, sequence: 8))
        #expect(arbiter.view(of: owner)?.progress?.fraction == 0.2)
    }

    @Test func `a finger that moves before the grant decides a bare release`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let (far, near) = (try arbiter.serialize(Self.interactive), try arbiter.serialize(Self.interactive))
        #expect(try arbiter.progress(far, 0.8))
        #expect(try arbiter.progress(near, 0.2))
        #expect(arbiter.view(of: far)?.progress?.fraction == 0.8)
        #expect(try arbiter.release(far).transition.gesture == DecidedGesture(decision: .finish, fraction: 0))
        #expect(try arbiter.release(near).outcome == .cancelled)
        try arbiter.end(holder)
        #expect(arbiter.state(of: far) == .running)
    }

    @Test func `the completion speed of the release counts`() throws {
        // TabBarTransitioning: what is left is faster than its share by the ratio of the durations.
        var arbiter = Arbiter()
        var request = Self.interactive
        request.animation = AnimationRequest(duration: .milliseconds(300))
        let owner = try arbiter.start(request)
        #expect(try arbiter.progress(owner, 0.6))
        let release = GestureRelease(decision: .finish, completionSpeed: 0.4)
        let view = try arbiter.release(owner, release)
        let animation = try #require(view.transition.grant?.animation)
        #expect(view.transition.gesture?.remaining(of: animation) == .milliseconds(300))
        #expect(animation.completed(by: view.transition.gesture).completionSpeed == 0.4)
    }

    @Test func `only an interactive transition accepts progress`() throws {
        var arbiter = Arbiter()
        let plain = try arbiter.start()
        let ticket = try arbiter.serialize(Self.interactive)
        #expect(throws: ArbiterError.notInteractive(plain.id)) { try arbiter.progress(plain, 0.5) }
        #expect(throws: ArbiterError.notInteractive(plain.id)) { try arbiter.release(plain) }
        #expect(throws: ArbiterError.wrongToken(ticket.id)) { try arbiter.release(ticket.guessing) }
    }

    // MARK: Owners that die

    private static func push(_ onExpiry: ExpiryAction) throws -> TransitionRequest {
        var request = interactive
        request.operation = .push(navigation: id("nav"), controller: try .outlined("editor"))
        request.onExpiry = onExpiry
        return request
    }

    private static let decisions: [GestureDecision?] = [.finish, .cancel, nil]

    @Test(arguments: ExpiryAction.allCases, decisions)
    func `a gesture ends as it was decided when its owner dies, and is cancelled if it was not`(
        onExpiry: ExpiryAction, decision: GestureDecision?
    ) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start(Self.push(onExpiry))
        try arbiter.progress(owner, 0.1)
        if let decision { try arbiter.release(owner, GestureRelease(decision: decision)) }
        arbiter.advance(by: Limits.defaultLease)
        #expect(arbiter.outcome(of: owner) == .expired(.lease))
        #expect((arbiter.view(of: owner)?.change != nil) == (decision == .finish))
    }

    @Test func `a decision before a grant that nobody claims changes nothing`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(Self.push(.complete))
        try arbiter.release(ticket, GestureRelease(decision: .finish))
        try arbiter.end(holder)
        arbiter.advance(by: Limits().claim)
        #expect(arbiter.outcome(of: ticket) == .expired(.unclaimed))
        #expect(arbiter.outline == "nav[home]")
    }

    // MARK: Policies

    /// SHTransitionBlocks finishes beyond half, Silly Transitions beyond a quarter.
    @Test(arguments: [
        (0.5, 0.5, GestureDecision.cancel), (0.5, 0.500001, .finish), (0.25, 0.25, .cancel), (0.25, 0.26, .finish),
    ])
    func `the fraction policy finishes strictly above its threshold`(
        threshold: Double, fraction: Double, decision: GestureDecision
    ) throws {
        var arbiter = Arbiter()
        let dragged = try arbiter.start(Self.request(by: .fraction(threshold: threshold)))
        try arbiter.progress(dragged, fraction)
        try arbiter.release(dragged)
        #expect(Self.gesture(of: dragged, in: arbiter) == DecidedGesture(decision: decision, fraction: fraction))
        try arbiter.end(dragged, as: decision == .finish ? .completed : .cancelled)
        let released = try arbiter.start(Self.request(by: .fraction(threshold: threshold)))
        try arbiter.release(released, GestureRelease(fraction: fraction))
        #expect(Self.gesture(of: released, in: arbiter)?.decision == decision)
    }

    @Test(arguments: [(0.0, GestureDecision.cancel), (-1, .cancel), (0.001, .finish)])
    func `the velocity policy finishes above zero only`(velocity: Double, decision: GestureDecision) throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.request(by: .velocity))
        try arbiter.progress(owner, 0.9, velocity: velocity)
        try arbiter.release(owner)
        #expect(Self.gesture(of: owner, in: arbiter)?.decision == decision)
    }

    @Test func `an explicit decision overrides the policy, and a cancelled gesture always cancels`() throws {
        var arbiter = Arbiter()
        let first = try arbiter.start(Self.interactive)
        try arbiter.progress(first, 0.1)
        try arbiter.release(first, GestureRelease(decision: .finish))
        #expect(Self.gesture(of: first, in: arbiter)?.decision == .finish)
        try arbiter.end(first)
        let second = try arbiter.start(Self.interactive)
        try arbiter.release(second, GestureRelease(decision: .finish, fraction: 1, isCancelled: true))
        #expect(Self.gesture(of: second, in: arbiter)?.decision == .cancel)
    }

    @Test func `the rest of the animation takes its share of the duration at the completion speed`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        try arbiter.release(owner, GestureRelease(decision: .finish, fraction: 0.75))
        let gesture = try #require(Self.gesture(of: owner, in: arbiter))
        let animation = try #require(arbiter.view(of: owner)?.transition.grant?.animation)
        #expect(gesture.remaining(of: animation) == .milliseconds(250))
        #expect(DecidedGesture(decision: .cancel, fraction: 0.75).remaining(of: animation) == .milliseconds(750))
    }

    // MARK: Decisions

    @Test func `a decision never changes`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        try arbiter.release(owner, GestureRelease(decision: .finish, fraction: 0.3))
        try arbiter.release(owner, GestureRelease(decision: .finish, fraction: 0.9))
        #expect(Self.gesture(of: owner, in: arbiter)?.fraction == 0.3)
        for other in [GestureRelease(decision: .cancel), GestureRelease(isCancelled: true)] {
            let error = #expect(throws: ArbiterError.self) { try arbiter.release(owner, other) }
            #expect(error?.alreadyDecided != nil)
        }
        #expect(throws: ArbiterError.self) { try arbiter.progress(owner, 0.1) }
        let error = #expect(throws: ArbiterError.self) { try arbiter.end(owner, as: .cancelled) }
        #expect(error?.alreadyDecided != nil)
        #expect(arbiter.state(of: owner) == .running, "an end is still needed")
        #expect(try arbiter.end(owner).outcome == .completed)
        #expect(throws: ArbiterError.self) { try arbiter.progress(owner, 0.1) }
    }

    @Test(arguments: [(GestureDecision.finish, TransitionOutcome.completed), (.cancel, .cancelled)])
    func `an end without an outcome has the outcome that the gesture decided`(
        decision: GestureDecision, outcome: TransitionOutcome
    ) throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        try arbiter.release(owner, GestureRelease(decision: decision))
        #expect(try arbiter.end(owner, as: nil).outcome == outcome)
        #expect(try arbiter.end(owner, as: nil).outcome == outcome, "a repeated end gets the same answer")
    }

    @Test func `the record of an end has its outcome even if the request has none`() throws {
        var arbiter = Arbiter()
        let decided = try arbiter.start(Self.interactive)
        try arbiter.release(decided, GestureRelease(decision: .cancel))
        try arbiter.end(decided, as: nil)
        let plain = try arbiter.start()
        try arbiter.end(plain, as: nil)
        let kept = arbiter.journal.map(\.record)
        #expect(kept.contains(.end(decided.id, token: decided.token, .cancelled)))
        #expect(kept.contains(.end(plain.id, token: plain.token, .completed)))
    }

    @Test func `a release after an expiry is refused even if it repeats the decision`() throws {
        var arbiter = Arbiter()
        let owner = try arbiter.start(Self.interactive)
        try arbiter.release(owner, GestureRelease(decision: .finish))
        arbiter.advance(by: Limits.defaultLease)
        for release in [GestureRelease(), GestureRelease(decision: .finish), GestureRelease(isCancelled: true)] {
            let error = #expect(throws: ArbiterError.self) { try arbiter.release(owner, release) }
            guard case .endedWithoutOwner? = error else {
                Issue.record("refused with \(String(describing: error))")
                return
            }
        }
        let ended = try arbiter.start(Self.interactive)
        try arbiter.release(ended, GestureRelease(decision: .finish))
        try arbiter.end(ended)
        #expect(try arbiter.release(ended).outcome == .completed, "a repeated release gets the same answer")
    }

    @Test func `a restart keeps a gesture's decision but not its progress`() throws {
        var arbiter = Arbiter()
        let (first, other) = (
            try arbiter.start(Self.interactive),
            try arbiter.start(TransitionRequest(scene: try #require(SceneName("other")), isInteractive: true))
        )
        try arbiter.progress(other, 0.4)
        try arbiter.release(first, GestureRelease(decision: .cancel))
        var machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        machine.recover(at: arbiter.now)
        #expect(machine.transition(first.id)?.gesture?.decision == .cancel)
        #expect(try machine.view(of: other.id, at: arbiter.now).progress == nil)
    }

    // MARK: Releases before the grant

    @Test func `a gesture cancelled before the grant ends the ticket`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(Self.interactive)
        #expect(try arbiter.release(ticket, GestureRelease(fraction: 0.4)).outcome == .cancelled)
        #expect(arbiter.state(of: holder) == .running)
    }

    @Test func `a gesture finished before the grant is decided when the transition is granted`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(Self.interactive, parked: true)
        try arbiter.release(ticket, GestureRelease(fraction: 0.8))
        #expect(arbiter.state(of: ticket) == .queued)
        #expect(throws: ArbiterError.self) { try arbiter.end(ticket, as: .cancelled) }
        try arbiter.end(holder)
        #expect(arbiter.answer(to: ticket)?.state == .running)
        #expect(arbiter.answer(to: ticket)?.transition.gesture == DecidedGesture(decision: .finish, fraction: 0))
        try arbiter.end(ticket)
    }

    @Test func `a gesture cannot cancel a completed ticket`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(Self.interactive)
        try arbiter.end(ticket)
        #expect(throws: ArbiterError.self) { try arbiter.release(ticket, GestureRelease(decision: .cancel)) }
        try arbiter.end(holder)
        #expect(arbiter.outcome(of: ticket) == .completed)
    }
}

extension ArbiterError {
    fileprivate var alreadyDecided: TransitionView? {
        if case .alreadyDecided(let view) = self { view } else { nil }
    }
}
