import Testing

@testable import ArbiterCore

/// `perform`: a running transition is given the operation that it was asked for without.
struct PerformTests {
    private static func push(_ controller: String, on navigation: String = "nav") throws -> Operation {
        try OperationTests.push(controller, on: navigation)
    }

    private static func request(_ scope: Scope? = nil) -> TransitionRequest { TransitionRequest(scope: scope) }

    // MARK: What it does

    @Test func `it is planned as at a grant, told, and applied at the end`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start()
        let fence = arbiter.view(of: owner)?.transition.grant?.fence
        arbiter.advance(by: .seconds(9))
        let before = arbiter.events.count
        let answer = try arbiter.give(owner, Self.push("editor"))
        #expect(answer.plan?.inserted == ids("editor"))
        #expect(answer.view.transition.request.operation == (try Self.push("editor")))
        #expect(answer.view.transition.grant?.fence == fence)
        #expect(answer.view.transition.grant?.animation != nil)
        #expect(answer.view.leaseRemaining == Limits.defaultLease, "it is a word of the owner")
        #expect(arbiter.outline == "nav[home]")
        guard case .transition(.updated, let told) = arbiter.events[before].kind else {
            Issue.record("\(arbiter.events[before])")
            return
        }
        #expect(told.transition.isPerformed)
        let appearance = arbiter.events[(before + 1)...].compactMap { event in
            if case .appearance(let appearance, _) = event.kind { appearance } else { nil }
        }
        #expect(appearance.map(\.change) == [.willDisappear, .willAppear])
        try arbiter.restart()
        let restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(restored.transition(owner.id)?.isPerformed == true)
        #expect(restored.snapshot() == arbiter.machine.snapshot())
        let ended = try arbiter.end(owner)
        #expect(arbiter.outline == "nav[home editor]")
        #expect(ended.change?.inserted == ids("editor"))
        try arbiter.restart()
    }

    @Test func `a cancelled end does not apply it`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home editor]")
        let owner = try arbiter.start()
        #expect(try arbiter.give(owner, .pop(navigation: id("nav"))).plan?.removed == ids("editor"))
        try arbiter.end(owner, as: .cancelled)
        #expect(arbiter.outline == "nav[home editor]")
        #expect(arbiter.events.last.map { if case .transition(.ended, _) = $0.kind { true } else { false } } == true)
    }

    @Test func `at its expiry it is applied as the request said`() throws {
        for action in ExpiryAction.allCases {
            var arbiter = Arbiter()
            try arbiter.declare("nav[home]")
            let owner = try arbiter.start(TransitionRequest(onExpiry: action))
            try arbiter.give(owner, Self.push("editor"))
            arbiter.advance(by: Limits.defaultLease)
            #expect(arbiter.outline == (action == .complete ? "nav[home editor]" : "nav[home]"))
        }
    }

    @Test func `a segue is resolved when it is performed`() throws {
        var arbiter = Arbiter()
        let segue = Segue(identifier: .named("show"), source: id("home"), kind: .show, destination: arrival("editor"))
        try arbiter.declare(Storyboard(hierarchy: .outlined("nav[home]"), segues: [segue]))
        let owner = try arbiter.start()
        let answer = try arbiter.give(owner, .segue(source: id("home"), .named("show")))
        #expect(answer.view.transition.grant?.resolved.first?.operation == (try Self.push("editor")))
        #expect(throws: ArbiterError.self, "it is in use") {
            try arbiter.patch(StoryboardPatch(segues: [.remove(.named("show"), source: id("home"))]))
        }
        try arbiter.end(owner)
        #expect(arbiter.outline == "nav[home editor]")
    }

    // MARK: Once

    @Test func `the same again gets the same answer, and another one is refused`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start()
        let answer = try arbiter.give(owner, Self.push("editor"))
        #expect(try arbiter.give(owner, Self.push("editor")) == answer)
        let records = arbiter.journal.count
        guard case .alreadyPerformed? = refusal({ try arbiter.give(owner, Self.push("other")) }) else {
            Issue.record("it has got another operation")
            return
        }
        #expect(arbiter.journal.count == records)
        let asked = try arbiter.start(
            TransitionRequest(scene: SceneName("second") ?? .main, operation: .setRoot(arrival("a"))))
        guard case .alreadyPerformed? = refusal({ try arbiter.give(asked, Self.push("other")) }) else {
            Issue.record("one that was asked for with an operation has got another one")
            return
        }
    }

    @Test func `what changes nothing does not count`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start()
        let answer = try arbiter.give(owner, .pop(navigation: id("nav")))
        #expect(answer.plan == nil && answer.view.transition.request.operation == nil)
        #expect(try arbiter.give(owner, Self.push("editor")).plan != nil)
    }

    @Test func `a repeated start leads to it, whatever it was given since`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        var request = TransitionRequest()
        request.idempotencyKey = IdempotencyKey("0123456789abcdef")
        let owner = try arbiter.start(request)
        try arbiter.give(owner, Self.push("editor"))
        _ = try arbiter.start(request)
        #expect(arbiter.machine.counts.granted == 1)
        request.operation = try Self.push("editor")
        guard case .idempotencyKeyReused? = refusal({ try arbiter.start(request) }) else {
            Issue.record("another request has the same key")
            return
        }
        try arbiter.restart()
        request.operation = nil
        _ = try arbiter.start(request)
        #expect(arbiter.machine.counts.granted == 1)
    }

    // MARK: When it is refused

    @Test func `only the owner of a running one may perform`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start()
        let ticket = try arbiter.serialize()
        #expect(throws: ArbiterError.wrongToken(owner.id)) { try arbiter.give(owner.guessing, Self.push("editor")) }
        guard case .notRunning? = refusal({ try arbiter.give(ticket, Self.push("editor")) }) else {
            Issue.record("a ticket has performed")
            return
        }
        try arbiter.end(owner)
        guard case .alreadyEnded? = refusal({ try arbiter.give(owner, Self.push("editor")) }) else {
            Issue.record("one that has ended has performed")
            return
        }
        arbiter.advance(by: Limits.defaultLease)
        guard case .endedWithoutOwner? = refusal({ try arbiter.give(ticket, Self.push("editor")) }) else {
            Issue.record("one that has expired has performed")
            return
        }
    }

    @Test func `what is impossible or unexpected now is refused, and another one may follow`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let owner = try arbiter.start()
        guard case .operationRefused? = refusal({ try arbiter.give(owner, Self.push("home")) }) else {
            Issue.record("it is on the stack")
            return
        }
        let wrong = ArbiterCore.Expectation.controller(id("home"), is: .absent)
        guard
            case .expectationFailed? = refusal({
                try arbiter.give(owner, Self.push("editor"), expecting: [wrong])
            })
        else {
            Issue.record("it is not absent")
            return
        }
        try arbiter.give(owner, Self.push("editor"), expecting: [.controller(id("home"), is: .top)])
    }

    @Test func `what it does not hold it cannot touch`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{left[a] right[b]}")
        let owner = try arbiter.start(Self.request(.controllers(ids("left"))))
        for operation in [try Self.push("editor", on: "right"), .setRoot(arrival("x"))] {
            #expect(throws: ArbiterError.outsideScope(owner.id)) { try arbiter.give(owner, operation) }
        }
        try arbiter.give(owner, Self.push("editor", on: "left"))
        let other = try arbiter.start(Self.request(.controllers(ids("right"))))
        // Reserved by the first one, whose scope is another one.
        guard case .operationRefused? = refusal({ try arbiter.give(other, Self.push("editor", on: "right")) }) else {
            Issue.record("it comes in twice")
            return
        }
        try arbiter.give(other, Self.push("note", on: "right"))
        try arbiter.end(owner)
        try arbiter.end(other)
        #expect(arbiter.outline == "tabs{*left[a editor] right[b note]}")
    }

    @Test func `those behind it that name what it brings in wait for it`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{left[a] right[b]}")
        let owner = try arbiter.start(Self.request(.controllers(ids("left"))))
        try arbiter.give(owner, Self.push("editor", on: "left"))
        let next = try arbiter.serialize(
            OperationTests.request(.present(presenter: id("editor"), controller: arrival("sheet"))))
        #expect(arbiter.state(of: next) == .queued)
        try arbiter.restart()
        #expect(arbiter.state(of: next) == .queued)
        try arbiter.end(owner)
        #expect(arbiter.state(of: next) == .running)
    }

    @Test func `a gesture that is decided leaves no room for an operation`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        var request = TransitionRequest()
        request.isInteractive = true
        let decided = try arbiter.start(request)
        try arbiter.release(decided, GestureRelease(decision: .finish))
        guard case .alreadyDecided? = refusal({ try arbiter.give(decided, Self.push("editor")) }) else {
            Issue.record("it is decided")
            return
        }
        try arbiter.end(decided)
        let driven = try arbiter.start(request)
        try arbiter.give(driven, Self.push("editor"))
        try arbiter.release(driven, GestureRelease(decision: .cancel))
        try arbiter.end(driven, as: nil)
        #expect(arbiter.outline == "nav[home]")
    }

    private func refusal(_ event: () throws -> some Any) -> ArbiterError? {
        do {
            _ = try event()
            return nil
        } catch {
            return error as? ArbiterError
        }
    }
}
