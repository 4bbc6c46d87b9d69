import Testing

@testable import ArbiterCore

/// What owners and followers hear of the tickets that wait for a granted transition.
struct ContentionTests {
    private static func told(_ owner: Owner, in arbiter: Arbiter) -> Int {
        arbiter.events.count { event in
            guard case .transition(.contended, let view) = event.kind else { return false }
            return view.transition.id == owner.id
        }
    }

    @Test func `an owner sees how many tickets wait for it, and followers hear of the first`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        #expect(arbiter.view(of: holder)?.waiting == 0)
        #expect(Self.told(holder, in: arbiter) == 0)
        let first = try arbiter.serialize(TransitionRequest())
        #expect(arbiter.view(of: holder)?.waiting == 1)
        #expect(arbiter.view(of: first)?.waiting == nil)
        let second = try arbiter.serialize(TransitionRequest())
        #expect(arbiter.view(of: holder)?.waiting == 2)
        #expect(Self.told(holder, in: arbiter) == 1)
        try arbiter.end(second, as: .cancelled)
        #expect(arbiter.view(of: holder)?.waiting == 1)
        #expect(try arbiter.end(holder).waiting == nil)
        #expect(arbiter.view(of: first)?.waiting == 0)
        #expect(Self.told(first, in: arbiter) == 0)
    }

    @Test func `a grant for which others wait already is told at once`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let next = try arbiter.serialize(TransitionRequest())
        _ = try arbiter.serialize(TransitionRequest())
        try arbiter.end(holder)
        #expect(arbiter.view(of: next)?.waiting == 1)
        #expect(Self.told(next, in: arbiter) == 1)
        let kinds = arbiter.events.compactMap { event -> SceneEvent.Stage? in
            guard case .transition(let stage, let view) = event.kind, view.transition.id == next.id else { return nil }
            return stage
        }
        #expect(kinds == [.queued, .running, .contended])
    }

    @Test func `only those that conflict are counted, up to a limit, each once`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*left[a] right[b]}")
        let left = try arbiter.start(TransitionRequest(scope: .controllers([id("left")])))
        let right = try arbiter.start(TransitionRequest(scope: .controllers([id("right")])))
        _ = try arbiter.serialize(TransitionRequest(scope: .controllers([id("a")])))
        #expect(arbiter.view(of: left)?.waiting == 1)
        #expect(arbiter.view(of: right)?.waiting == 0)
        for _ in 0..<Limits.waitingCounted {
            _ = try arbiter.serialize(TransitionRequest(scope: .controllers([id("left"), id("right")])))
        }
        #expect(arbiter.view(of: left)?.waiting == Limits.waitingCounted)
        #expect(arbiter.view(of: right)?.waiting == Limits.waitingCounted)
        #expect(Self.told(right, in: arbiter) == 1)
    }

    @Test func `a ticket that waits for a controller which is coming waits for the transition that brings it in`()
        throws
    {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*left[a] right[b]}")
        let push = try arbiter.start(
            TransitionRequest(scope: .operation, operation: .push(navigation: id("left"), controller: .outlined("c"))))
        _ = try arbiter.serialize(
            TransitionRequest(scope: .controllers([id("right")]), expectations: [.controller(id("c"), is: .exists)]))
        #expect(arbiter.view(of: push)?.waiting == 1)
        #expect(Self.told(push, in: arbiter) == 1)
    }

    @Test func `a restart does not tell it again`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        _ = try arbiter.serialize(TransitionRequest())
        var restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        let outcome = restored.turn(at: arbiter.moment) { machine, step throws(ArbiterError) in
            try machine.serialize(
                TransitionRequest(), id: TransitionID(rawValue: 99), token: Token(high: 0, low: 9), park: nil, in: &step
            )
        }
        let isTold = outcome.effects.contains { effect in
            if case .publish(let event) = effect, case .transition(.contended, _) = event.kind { true } else { false }
        }
        #expect(!isTold)
        #expect(try restored.view(of: holder.id, at: arbiter.now).waiting == 2)
    }
}
