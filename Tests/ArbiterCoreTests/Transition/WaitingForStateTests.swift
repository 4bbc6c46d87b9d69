import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// `unmet: wait`: a ticket whose conditions fail at its turn is set aside until they hold, and is in nobody's way.
struct WaitingForStateTests {
    private var arbiter = Arbiter()

    init() throws { try arbiter.declare("nav[home]~>first") }

    private static let noAlert = ArbiterCore.Expectation.controller(id("nav"), is: .presenting, isNegated: true)

    private static func alert(
        _ name: String = "second", expecting expectation: ArbiterCore.Expectation = noAlert, scope: Scope? = .operation,
        queue: Duration = .seconds(60), interrupts: Bool = false, coalescing: Coalescing? = nil
    ) throws -> TransitionRequest {
        TransitionRequest(
            scope: scope, operation: .present(presenter: id("nav"), controller: try .outlined(name)),
            expectations: [expectation], ticket: .seconds(30), queue: queue, coalescing: coalescing,
            interrupts: interrupts, unmet: .wait)
    }

    private mutating func dismiss() throws {
        try arbiter.end(arbiter.start(TransitionRequest(scope: .operation, operation: .dismiss(id("nav")))))
    }

    private func unmet(_ owner: Owner) -> String? { arbiter.view(of: owner)?.transition.unmet?.actual }

    private func stages(of owner: Owner) -> [SceneEvent.Stage] {
        arbiter.events.compactMap { event in
            guard case .transition(let stage, let view) = event.kind, view.transition.id == owner.id else { return nil }
            return stage
        }
    }

    @Test mutating func `an alert waits until the one before it is closed`() throws {
        let second = try arbiter.serialize(Self.alert(), parked: true)
        let third = try arbiter.serialize(Self.alert("third"), parked: true)
        #expect(unmet(second) == "presenting" && unmet(third) == "presenting")
        #expect(arbiter.view(of: second)?.position == nil && arbiter.view(of: second)?.blockers == [])
        // Neither is in the way of anybody, nor of who names what it would bring in.
        try arbiter.end(arbiter.start())
        try dismiss()
        #expect(arbiter.answer(to: second)?.state == .running)
        #expect(arbiter.state(of: third) == .queued && unmet(third) == nil)
        #expect(arbiter.view(of: third)?.blockers == [second.id])
        try arbiter.end(second)
        #expect(arbiter.outline.hasSuffix("second") && unmet(third) == "presenting")
        try dismiss()
        #expect(arbiter.answer(to: third)?.state == .running)
        #expect(stages(of: third) == [.queued, .updated, .updated, .updated, .running])
        try arbiter.restart()
    }

    @Test mutating func `when its time is over it is rejected, also if its end is remembered`() throws {
        let silent = try arbiter.serialize(Self.alert(queue: .seconds(20)))
        let ended = try arbiter.serialize(Self.alert("third", queue: .seconds(40)))
        try arbiter.end(ended)
        arbiter.advance(by: .seconds(20))
        for owner in [silent, ended] {
            let failed = FailedExpectation(expectation: Self.noAlert, actual: "presenting")
            #expect(arbiter.outcome(of: owner) == .rejected(.expectationFailed(failed)))
            try arbiter.restart()
            arbiter.advance(by: .seconds(20))
        }
    }

    @Test mutating func `a remembered end of one that stands in the line again has no limit`() throws {
        let ended = try arbiter.serialize(Self.alert(queue: .seconds(20)))
        try arbiter.end(ended)
        let holder = try arbiter.start(
            TransitionRequest(scope: .controllers([id("nav")]), operation: .dismiss(id("nav"))))
        _ = try arbiter.serialize(TransitionRequest(scope: .controllers([id("nav")]), priority: Priority(1)))
        try arbiter.end(holder)
        #expect(arbiter.state(of: ended) == .queued && unmet(ended) == nil)
        #expect(arbiter.view(of: ended)?.remaining.queue == nil)
    }

    @Test mutating func `a silent one is abandoned, and its session ends it`() throws {
        let silent = try arbiter.serialize(Self.alert())
        arbiter.advance(by: .seconds(30))
        #expect(arbiter.outcome(of: silent) == .expired(.abandoned))
    }

    @Test mutating func `a revision that is past rejects, and one that is to come is waited for`() throws {
        let past = try arbiter.serialize(Self.alert(expecting: .revision(Revision(rawValue: 0))))
        #expect(arbiter.view(of: past)?.outcome?.rejection == "expectation-failed")
        let next = try arbiter.serialize(Self.alert(expecting: .revision(Revision(rawValue: 2))))
        let later = try arbiter.serialize(Self.alert("third", expecting: .revision(Revision(rawValue: 3))))
        try dismiss()
        #expect(arbiter.state(of: next) == .running)
        // Its revision passes at a declaration of another one.
        try arbiter.end(next, as: .cancelled)
        try arbiter.declare("root")
        #expect(arbiter.view(of: later)?.outcome?.rejection == "invalid-operation")
    }

    @Test mutating func `numbers that jump after a crash make a revision pass, and reject it`() throws {
        for holdsGrants in [false, true] {
            let waiting = try arbiter.serialize(Self.alert(expecting: .revision(Revision(rawValue: 9_000_000))))
            let near = try arbiter.serialize(
                Self.alert(
                    "third", expecting: .revision(Revision(rawValue: arbiter.machine.scenes()[0].revision.rawValue + 1))
                ))
            try arbiter.perform { machine, step in
                machine.distrust(holdsGrants: holdsGrants, in: &step)
                machine.resume(in: &step)
            }
            #expect(unmet(waiting) != nil)
            #expect(arbiter.view(of: near)?.outcome?.rejection == "expectation-failed")
            try arbiter.end(waiting, as: .cancelled)
        }
    }

    @Test mutating func `it hinders no declaration, which judges it, and a deletion ends it`() throws {
        let waiting = try arbiter.serialize(Self.alert(), parked: true)
        try arbiter.declare("nav[home]~>another")
        #expect(unmet(waiting) == "presenting")
        try arbiter.declare("nav[home]")
        #expect(arbiter.answer(to: waiting)?.state == .running)
        try arbiter.end(waiting)
        let last = try arbiter.serialize(Self.alert("third"), parked: true)
        try arbiter.delete(.main)
        #expect(arbiter.answer(to: last)?.outcome == .rejected(.sceneGone))
        try arbiter.restart()
    }

    @Test mutating func `a type that a declaration has taken away is refused at its turn`() throws {
        let type = try #require(TransitionTypeName("slide"))
        let types = [TransitionType(name: type)]
        try arbiter.declare(Storyboard(hierarchy: .outlined("nav[home]~>first"), transitionTypes: types))
        var request = try Self.alert()
        request.animation = AnimationRequest(type: type)
        let waiting = try arbiter.serialize(request)
        try arbiter.declare("nav[home]")
        #expect(arbiter.view(of: waiting)?.outcome?.rejection == "invalid-operation")
    }

    @Test mutating func `a newer one takes its place, and it can be the one that stays`() throws {
        let key = try #require(CoalescingKey("alert"))
        let latest = Coalescing(key: key, keep: .latest)
        let old = try arbiter.serialize(Self.alert(coalescing: latest))
        let new = try arbiter.serialize(Self.alert("third", coalescing: latest))
        #expect(arbiter.outcome(of: old) == .superseded(by: new.id) && unmet(new) == "presenting")
        let none = try arbiter.serialize(Self.alert("fourth", coalescing: Coalescing(key: key, keep: .first)))
        #expect(arbiter.outcome(of: none) == .superseded(by: new.id))
    }

    @Test mutating func `one that interrupts is judged again when it stands in the line`() throws {
        let waiting = try arbiter.serialize(Self.alert(scope: .scene, interrupts: true), parked: true)
        let holder = try arbiter.start(
            TransitionRequest(
                scope: .operation, operation: .dismiss(id("nav")),
                interruptibility: .allowed(Consent(by: .equal, grace: .zero, outcome: .cancelled))))
        let other = try arbiter.serialize(
            TransitionRequest(
                priority: Priority(1),
                interruptibility: .allowed(Consent(by: .equal, grace: .seconds(1), outcome: .cancelled))))
        try arbiter.end(holder)
        #expect(arbiter.state(of: other) == .running && arbiter.view(of: waiting)?.blockers == [other.id])
        #expect(arbiter.view(of: other)?.transition.interruption == nil)
    }

    @Test mutating func `a scene with one is not idle, and a dry run says that it would wait`() throws {
        let dryRun = try arbiter.dryRun(Self.alert(), isSerialized: true)
        #expect(dryRun.outcome == .setAside(FailedExpectation(expectation: Self.noAlert, actual: "presenting")))
        #expect(throws: ArbiterError.self) { try arbiter.dryRun(Self.alert(), isSerialized: false) }
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.alert()) }
        _ = try arbiter.serialize(Self.alert())
        #expect(arbiter.machine.scenes().map(\.queued) == [1])
        let idle = arbiter.nextWaiter()
        arbiter.parkingForIdle(idle, at: #_sourceLocation) { machine, step throws(ArbiterError) in
            try machine.awaitIdle(.main, for: .zero, park: Park(waiter: idle, wait: .seconds(5)), in: &step)
        }
        #expect(arbiter.idleAnswers[idle] == nil)
    }

    @Test mutating func `the first rules do not know it`() throws {
        var old = Arbiter(rules: .first)
        #expect(throws: ArbiterError.olderRules) { try old.serialize(Self.alert()) }
    }

    // MARK: Awaits of a condition

    @Test mutating func `an await of a condition is answered when it holds, and otherwise when its wait is over`()
        throws
    {
        let there = try arbiter.observe(.controller(id("home"), is: .exists))
        #expect(arbiter.conditionAnswers[there]?.holds == true)
        let closed = try arbiter.observe(Self.noAlert)
        let detail = try arbiter.observe(.controller(id("detail"), is: .top))
        let never = try arbiter.observe(.controller(id("nobody"), is: .exists), wait: .seconds(5))
        try dismiss()
        #expect(arbiter.conditionAnswers[closed]?.holds == true && arbiter.conditionAnswers[detail] == nil)
        let push = try arbiter.start(
            TransitionRequest(operation: .push(navigation: id("nav"), controller: .outlined("detail"))))
        #expect(arbiter.conditionAnswers[detail] == nil)
        try arbiter.end(push)
        #expect(arbiter.conditionAnswers[detail]?.holds == true)
        #expect(arbiter.conditionAnswers[detail]?.controller?.isTop == true)
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.conditionAnswers[never]?.holds == false && arbiter.conditionAnswers[never]?.controller == nil)
    }

    @Test mutating func `a deletion and a drain answer awaits, and one that left is forgotten`() throws {
        let gone = try arbiter.observe(.controller(id("home"), is: .absent))
        let left = try arbiter.observe(.controller(id("home"), is: .absent))
        try arbiter.leave(left)
        try arbiter.delete(.main)
        #expect(arbiter.conditionAnswers[gone]?.holds == true && arbiter.conditionAnswers[left] == nil)
        let last = try arbiter.observe(.controller(id("home"), is: .exists))
        try arbiter.perform { machine, step in machine.drain(in: &step) }
        #expect(arbiter.conditionAnswers[last]?.holds == false)
    }

    @Test mutating func `no more tickets and awaits wait for a state than may`() throws {
        for _ in 1..<Limits.statesAwaited { _ = try arbiter.observe(.controller(id("nobody"), is: .exists)) }
        let old = try arbiter.serialize(Self.alert())
        let full = ArbiterError.queueFull(limit: Limits.statesAwaited, isForStates: true)
        #expect(throws: full) { try arbiter.observe(.controller(id("nobody"), is: .exists)) }
        #expect(throws: full) { try arbiter.serialize(Self.alert("third")) }
        // What takes the place of one of them makes them no more.
        let key = try #require(CoalescingKey("alert"))
        try arbiter.end(old, as: .cancelled)
        let latest = Coalescing(key: key, keep: .latest)
        _ = try arbiter.serialize(Self.alert(coalescing: latest))
        _ = try arbiter.serialize(Self.alert("third", coalescing: latest))
        _ = try arbiter.serialize(Self.alert("fourth", coalescing: Coalescing(key: key, keep: .first)))
        #expect(throws: Never.self) { try arbiter.observe(.controller(id("home"), is: .exists)) }
    }
}

extension TransitionOutcome {
    fileprivate var rejection: String? { if case .rejected(let rejection) = self { rejection.reason } else { nil } }
}
