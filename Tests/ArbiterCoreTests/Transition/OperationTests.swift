import Testing

@testable import ArbiterCore

/// Operations, scopes and expectations of transitions.
struct OperationTests {
    static func push(_ controller: String, on navigation: String = "nav") throws -> Operation {
        .push(navigation: id(navigation), controller: try .outlined(controller))
    }

    static func request(
        _ operation: Operation? = nil, scope: Scope? = .operation,
        expecting expectations: [ArbiterCore.Expectation] = [],
        animation: AnimationRequest? = nil, onExpiry: ExpiryAction = .discard
    ) -> TransitionRequest {
        TransitionRequest(
            scope: scope, operation: operation, expectations: expectations, animation: animation, onExpiry: onExpiry)
    }

    // MARK: Ends

    @Test func `a completed end applies the operation and reports the change`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(Self.request(Self.push("editor")))
        #expect(arbiter.outline == "nav[home]")
        #expect(arbiter.view(of: push)?.transition.grant?.revision == Revision(rawValue: 1))
        let ended = try arbiter.end(push)
        #expect(arbiter.outline == "nav[home editor]")
        #expect(
            ended.change == Transition.Change(revision: Revision(rawValue: 2), inserted: ids("editor"), removed: []))
        #expect(try arbiter.end(push) == ended, "a repeated end gets the same answer and changes nothing")
        #expect(arbiter.revision == 2)
    }

    @Test func `a dismissal of an unwind's source waits for the end of the unwind`() throws {
        var arbiter = Arbiter()
        let back = Segue(identifier: .named("back"), source: id("x"), kind: .unwind, destination: arrival("d"))
        try arbiter.declare(
            Storyboard(hierarchy: .outlined("split(one!@>x|two!@>nav[d e])"), segues: [back]))
        let unwinding = try arbiter.start(Self.request(.segue(source: id("x"), .named("back"))))
        let dismissal = try arbiter.serialize(Self.request(.dismiss(id("x"))))
        #expect(arbiter.state(of: dismissal) == .queued)
        try arbiter.end(unwinding)
        #expect(arbiter.outline == "split(one!@>x|two!@>nav[d])")
        try arbiter.end(dismissal)
        #expect(arbiter.outline == "split(one!|two!@>nav[d])")
    }

    @Test func `a cancelled end does not change the hierarchy`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home a b]")
        let set = try arbiter.start(
            Self.request(.setStack(navigation: id("nav"), controllers: [.outlined("home"), .outlined("new")])))
        try arbiter.end(set, as: .cancelled)
        #expect(arbiter.outline == "nav[home a b]")
        #expect(arbiter.revision == 1)
        #expect(arbiter.view(of: set)?.change == nil)
    }

    @Test(arguments: [(ExpiryAction.discard, "nav[home]"), (.complete, "nav[home editor]")])
    func `onExpiry decides whether an expiry applies the operation`(action: ExpiryAction, outline: String) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(Self.request(Self.push("editor"), onExpiry: action))
        arbiter.advance(by: Limits.defaultLease)
        #expect(arbiter.outcome(of: push) == .expired(.lease))
        #expect(arbiter.outline == outline)
    }

    @Test func `an end before the grant applies the operation at the grant`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let first = try arbiter.start(Self.request(Self.push("a")))
        let second = try arbiter.serialize(Self.request(Self.push("b")))
        try arbiter.end(second)
        #expect(arbiter.outline == "nav[home]")
        try arbiter.end(first)
        #expect(arbiter.outline == "nav[home a b]")
        #expect(arbiter.outcome(of: second) == .completed)
    }

    // MARK: Turns

    @Test func `a no-op completes at once and locks nothing`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*one two}")
        let reselection = try arbiter.start(Self.request(.select(tabs: id("tabs"), .index(0))))
        #expect(arbiter.view(of: reselection)?.ending?.isNoop == true)
        #expect(arbiter.outcome(of: reselection) == .completed)
        #expect(arbiter.fence(of: reselection) == nil)
        let selection = try arbiter.start(Self.request(.select(tabs: id("tabs"), .index(1))))
        #expect(arbiter.state(of: selection) == .running)
    }

    @Test func `a start with an impossible operation is refused in UIKit's words`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(.dismiss(id("nobody")))) }
        #expect(error?.refusal?.code == .unknownController)
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("home"))) }
        #expect(arbiter.transitions.isEmpty)
    }

    @Test func `a ticket whose operation is impossible at its turn is rejected and blocks nothing`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let first = try arbiter.start(Self.request(Self.push("editor")))
        let again = try arbiter.serialize(Self.request(Self.push("editor")), parked: true)
        let last = try arbiter.serialize(Self.request(Self.push("other")))
        try arbiter.end(first)
        guard case .rejected(.invalidOperation(let refusal))? = arbiter.outcome(of: again) else {
            Issue.record("it ended as \(String(describing: arbiter.outcome(of: again)))")
            return
        }
        #expect(refusal.code == .alreadyOnStack)
        #expect(arbiter.answer(to: again)?.state == .ended)
        #expect(arbiter.state(of: last) == .running)
        #expect(arbiter.fence(of: again) == nil)
    }

    @Test func `an expectation is checked at the grant, not at the request`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home>login")
        let dismissal = try arbiter.start(Self.request(.dismiss(id("login")), scope: .scene))
        let block = try arbiter.serialize(
            Self.request(scope: .scene, expecting: [.controller(id("login"), is: .presented)]))
        let other = try arbiter.serialize(
            Self.request(
                scope: .scene, expecting: [.controller(id("home"), is: .visible), .revision(Revision(rawValue: 2))]))
        try arbiter.end(dismissal)
        guard case .rejected(.expectationFailed(let failure))? = arbiter.outcome(of: block) else {
            Issue.record("it ended as \(String(describing: arbiter.outcome(of: block)))")
            return
        }
        #expect(failure.expectation == .controller(id("login"), is: .presented))
        #expect(arbiter.state(of: other) == .running)
        let request = Self.request(expecting: [.revision(Revision(rawValue: 7))])
        try arbiter.end(other)
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(request) }
        guard case .expectationFailed? = error else {
            Issue.record("it was refused with \(String(describing: error))")
            return
        }
    }

    // MARK: Scopes

    @Test func `transitions with disjoint scopes run side by side, and one with a wider scope waits for both`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let left = try arbiter.start(Self.request(Self.push("a2", on: "left")))
        let right = try arbiter.start(Self.request(Self.push("b2", on: "right")))
        let wide = try arbiter.serialize(Self.request(scope: .controllers([id("split")])))
        let late = try arbiter.serialize(Self.request(.pop(navigation: id("left"))))
        try arbiter.end(left)
        #expect(arbiter.state(of: wide) == .queued)
        #expect(arbiter.state(of: late) == .queued, "it does not overtake the earlier one with the wider scope")
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "left"))) }
        try arbiter.end(right)
        #expect(arbiter.state(of: wide) == .running)
        try arbiter.end(wide)
        #expect(arbiter.state(of: late) == .running)
        #expect(try arbiter.end(late).change?.removed == ids("a2"))
    }

    @Test func `a scope list also locks the anchors of the operation`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let both = try arbiter.start(Self.request(Self.push("a2", on: "left"), scope: .controllers([id("b")])))
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "left"))) }
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "right"))) }
        try arbiter.end(both)
        #expect(arbiter.outline == "split(left[a a2]|right[b])")
    }

    @Test func `a scope list with an unknown controller is refused`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        for scope in [Scope.controllers([id("nobody")]), .anyOf([id("home"), id("nobody")])] {
            let request = TransitionRequest(scope: scope)
            #expect(throws: ArbiterError.self) { try arbiter.start(request) }
            let error = #expect(throws: ArbiterError.self) { try arbiter.serialize(request) }
            #expect(error?.refusal?.code == .unknownController)
        }
    }

    @Test func `a ticket is rejected if any controller of its scope does not exist at its turn`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a b]|right[c])")
        let right = try arbiter.start(Self.request(Self.push("d", on: "right")))
        let pop = try arbiter.start(Self.request(.pop(navigation: id("left"))))
        let only = try arbiter.serialize(Self.request(scope: .controllers([id("b")])))
        let both = try arbiter.serialize(Self.request(scope: .controllers([id("b"), id("c")])))
        try arbiter.end(pop)
        #expect(arbiter.outcome(of: only) == .rejected(.scopeGone(id("b"))))
        #expect(arbiter.state(of: both) == .queued, "it still waits for the other controller")
        try arbiter.end(right)
        #expect(arbiter.outcome(of: both) == .rejected(.scopeGone(id("b"))))
    }

    @Test func `a ticket for a removed controller waits for an earlier ticket that may insert it again`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a b]|right[c])")
        let pop = try arbiter.start(Self.request(.pop(navigation: id("left"))))
        let push = try arbiter.serialize(Self.request(Self.push("b", on: "left"), scope: .scene))
        let list = try arbiter.serialize(Self.request(scope: .controllers([id("b")])))
        let present = try arbiter.serialize(
            Self.request(.present(presenter: id("b"), controller: .outlined("sheet"))))
        try arbiter.end(pop)
        #expect(arbiter.state(of: list) == .queued)
        #expect(arbiter.state(of: present) == .queued)
        try arbiter.end(push)
        #expect(arbiter.state(of: list) == .running)
        try arbiter.end(list)
        #expect(arbiter.state(of: present) == .running)
    }

    @Test func `a ticket locks a controller that was inserted again at its new place`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a b]|right[c])")
        let right = try arbiter.start(Self.request(scope: .controllers([id("right")])))
        let pop = try arbiter.start(Self.request(.pop(navigation: id("left"))))
        let both = try arbiter.serialize(Self.request(scope: .controllers([id("b"), id("c")])))
        try arbiter.end(pop)
        let push = try arbiter.start(Self.request(Self.push("b", on: "left")))
        try arbiter.end(push)
        let other = try arbiter.serialize(Self.request(.pop(navigation: id("left"))))
        #expect(arbiter.state(of: other) == .queued, "the earlier ticket locks the controller again")
        try arbiter.end(right)
        #expect(arbiter.state(of: both) == .running)
        try arbiter.end(both)
        #expect(arbiter.state(of: other) == .running)
    }

    // MARK: Undeclared scenes

    @Test func `a root that a transition sets is kept, although nobody has declared the scene`() throws {
        var arbiter = Arbiter()
        try arbiter.end(try arbiter.start(TransitionRequest(operation: .setRoot(.outlined("nav[home]")))))
        #expect(arbiter.outline == "nav[home]")
        let restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(restored.hierarchy(of: .main)?.0.outline == "nav[home]")
        #expect(throws: ArbiterError.undeclared(.main)) { try restored.storyboard(of: .main) }
        #expect(restored.durable.scenes[.main]?.isForgettable == false)
    }
}

extension TransitionView {
    var ending: Transition.Ending? {
        if case .ended(let ending) = transition.phase { ending } else { nil }
    }

    var change: Transition.Change? { ending?.change }
}

extension ArbiterError {
    var refusal: OperationRefusal? {
        if case .operationRefused(let refusal) = self { refusal } else { nil }
    }
}
