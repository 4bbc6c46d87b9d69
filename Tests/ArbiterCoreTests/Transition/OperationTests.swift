import Testing

@testable import ArbiterCore

/// What operations, scopes and expectations make of the lock.
struct OperationTests {
    private static func push(_ controller: String, on navigation: String = "nav") throws -> Operation {
        .push(navigation: id(navigation), controller: try .outlined(controller))
    }

    private static func request(
        _ operation: Operation? = nil, scope: Scope? = .operation,
        expecting expectations: [ArbiterCore.Expectation] = [],
        animation: AnimationRequest? = nil, onExpiry: ExpiryAction = .discard
    ) -> TransitionRequest {
        TransitionRequest(
            scope: scope, operation: operation, expectations: expectations, animation: animation, onExpiry: onExpiry)
    }

    // MARK: What ends do

    @Test func `an operation is applied at its completed end, and says what it did`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(Self.request(Self.push("editor")))
        #expect(arbiter.outline == "nav[home]")
        #expect(arbiter.view(of: push)?.transition.grant?.revision == Revision(rawValue: 1))
        let ended = try arbiter.end(push)
        #expect(arbiter.outline == "nav[home editor]")
        #expect(
            ended.change == Transition.Change(revision: Revision(rawValue: 2), inserted: ids("editor"), removed: []))
        #expect(try arbiter.end(push) == ended, "the same end gives the same answer, and does nothing more")
        #expect(arbiter.revision == 2)
    }

    @Test func `what an unwinding starts from stays until it is over`() throws {
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

    @Test func `a cancelled end leaves the hierarchy as it was`() throws {
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
    func `a lease that runs out does to the operation what was asked`(action: ExpiryAction, outline: String) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(Self.request(Self.push("editor"), onExpiry: action))
        arbiter.advance(by: Limits.defaultLease)
        #expect(arbiter.outcome(of: push) == .expired(.lease))
        #expect(arbiter.outline == outline)
    }

    @Test func `an end before the turn applies the operation at the turn`() throws {
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

    // MARK: What turns come to

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

    @Test func `a start whose operation is impossible is refused in UIKit's words`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(.dismiss(id("nobody")))) }
        #expect(error?.refusal?.code == .unknownController)
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("home"))) }
        #expect(arbiter.transitions.isEmpty)
    }

    @Test func `what is impossible at its turn is rejected, and blocks nobody`() throws {
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

    @Test func `an expectation is checked at the turn, not when it is asked`() throws {
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

    @Test func `disjoint subtrees run side by side, and a wide one waits for both`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let left = try arbiter.start(Self.request(Self.push("a2", on: "left")))
        let right = try arbiter.start(Self.request(Self.push("b2", on: "right")))
        let wide = try arbiter.serialize(Self.request(scope: .controllers([id("split")])))
        let late = try arbiter.serialize(Self.request(.pop(navigation: id("left"))))
        try arbiter.end(left)
        #expect(arbiter.state(of: wide) == .queued)
        #expect(arbiter.state(of: late) == .queued, "nobody overtakes the wide one")
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "left"))) }
        try arbiter.end(right)
        #expect(arbiter.state(of: wide) == .running)
        try arbiter.end(wide)
        #expect(arbiter.state(of: late) == .running)
        #expect(try arbiter.end(late).change?.removed == ids("a2"))
    }

    @Test func `a list locks what its operation touches as well`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let both = try arbiter.start(Self.request(Self.push("a2", on: "left"), scope: .controllers([id("b")])))
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "left"))) }
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(Self.push("c", on: "right"))) }
        try arbiter.end(both)
        #expect(arbiter.outline == "split(left[a a2]|right[b])")
    }

    @Test func `a list names controllers that are there`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        for scene in [SceneName.main, SceneName("elsewhere")] {
            let request = TransitionRequest(scene: scene ?? .main, scope: .controllers([id("nobody")]))
            #expect(throws: ArbiterError.self) { try arbiter.start(request) }
            let error = #expect(throws: ArbiterError.self) { try arbiter.serialize(request) }
            #expect(error?.refusal?.code == .unknownController)
        }
        #expect(arbiter.machine.scenes().count == 1)
    }

    @Test func `a scope that is gone when its turn comes is rejected, with whatever else it names`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a b]|right[c])")
        let right = try arbiter.start(Self.request(Self.push("d", on: "right")))
        let pop = try arbiter.start(Self.request(.pop(navigation: id("left"))))
        let only = try arbiter.serialize(Self.request(scope: .controllers([id("b")])))
        let both = try arbiter.serialize(Self.request(scope: .controllers([id("b"), id("c")])))
        try arbiter.end(pop)
        #expect(arbiter.outcome(of: only) == .rejected(.scopeGone(id("b"))))
        #expect(arbiter.state(of: both) == .queued, "it waits for the other yet")
        try arbiter.end(right)
        #expect(arbiter.outcome(of: both) == .rejected(.scopeGone(id("b"))))
    }

    @Test func `a scope that is gone waits for whoever locks the scene before, and may bring it back`() throws {
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

    @Test func `a controller that comes back is locked where it is then`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a b]|right[c])")
        let right = try arbiter.start(Self.request(scope: .controllers([id("right")])))
        let pop = try arbiter.start(Self.request(.pop(navigation: id("left"))))
        let both = try arbiter.serialize(Self.request(scope: .controllers([id("b"), id("c")])))
        try arbiter.end(pop)
        let push = try arbiter.start(Self.request(Self.push("b", on: "left")))
        try arbiter.end(push)
        let other = try arbiter.serialize(Self.request(.pop(navigation: id("left"))))
        #expect(arbiter.state(of: other) == .queued, "the older one stands there again")
        try arbiter.end(right)
        #expect(arbiter.state(of: both) == .running)
        try arbiter.end(both)
        #expect(arbiter.state(of: other) == .running)
    }

    // MARK: Animations and appearance

    @Test func `an animation is settled at the grant: by the request, its type, the scene`() throws {
        var arbiter = Arbiter()
        let star = try #require(TransitionTypeName("star"))
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"),
                transitionTypes: [TransitionType(name: star, duration: .seconds(1))],
                defaults: Storyboard.Defaults(curve: .linear)))
        let push = try arbiter.start(
            Self.request(Self.push("editor"), animation: AnimationRequest(type: star, completionSpeed: 2)))
        let animation = arbiter.view(of: push)?.transition.grant?.animation
        #expect(
            animation
                == Animation(
                    type: star, duration: .seconds(1), curve: .linear, completionSpeed: 2, userInfo: nil,
                    isReversed: false, direction: .forward))
        try arbiter.end(push)
        let pop = try arbiter.start(Self.request(.pop(navigation: id("nav"))))
        let back = arbiter.view(of: pop)?.transition.grant?.animation
        #expect(back?.type == star, "it goes the way it came")
        #expect(back?.isReversed == true)
        #expect(back?.direction == .backward)
        try arbiter.end(pop, as: .cancelled)
        let unknown = AnimationRequest(type: TransitionTypeName("moon"))
        #expect(throws: ArbiterError.unknownTransitionType(try #require(TransitionTypeName("moon")))) {
            try arbiter.serialize(Self.request(Self.push("a"), animation: unknown))
        }
    }

    @Test func `a controller that brings a type along comes by it, unless the request names another`() throws {
        var arbiter = Arbiter()
        let (star, flip) = (try #require(TransitionTypeName("star")), try #require(TransitionTypeName("flip")))
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"),
                transitionTypes: [TransitionType(name: star, duration: .seconds(1)), TransitionType(name: flip)]))
        let editor = Controller(id: id("editor"), introTransitionType: star)
        let push = Operation.push(
            navigation: id("nav"), controller: try Hierarchy(root: editor.id, controllers: [editor]))
        for (asked, expected) in [(nil, star), (flip, flip)] {
            let request = Self.request(push, animation: asked.map { AnimationRequest(type: $0) })
            let pushing = try arbiter.start(request)
            #expect(arbiter.view(of: pushing)?.transition.grant?.animation?.type == expected)
            try arbiter.end(pushing)
            let popping = try arbiter.start(Self.request(.pop(navigation: id("nav"))))
            #expect(arbiter.view(of: popping)?.transition.grant?.animation?.type == expected)
            try arbiter.end(popping)
        }
    }

    @Test func `a controller that brings along a type that nobody knows is refused, queued or not`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let swirl = try #require(TransitionTypeName("swirl"))
        let editor = Controller(id: id("editor"), introTransitionType: swirl)
        let push = Self.request(
            .push(navigation: id("nav"), controller: try Hierarchy(root: editor.id, controllers: [editor])))
        #expect(throws: ArbiterError.unknownIntroTransitionType(swirl)) { _ = try arbiter.start(push) }
        #expect(throws: ArbiterError.unknownIntroTransitionType(swirl)) { _ = try arbiter.serialize(push) }
        #expect(throws: StoryboardFault.unknownTransitionType(swirl)) {
            try Storyboard(hierarchy: Hierarchy(root: editor.id, controllers: [editor]))
        }
    }

    @Test(arguments: [(EndOutcome.completed, true), (.cancelled, false)])
    func `the views are told at the beginning and at the end, and whoever follows is`(
        outcome: EndOutcome, isCompleted: Bool
    ) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(Self.request(Self.push("editor")))
        let beginning = [AppearanceEvent(id("home"), .willDisappear), AppearanceEvent(id("editor"), .willAppear)]
        #expect(arbiter.view(of: push)?.transition.grant?.appearance == beginning)
        let ended = try arbiter.end(push, as: outcome)
        let ending =
            isCompleted
            ? [AppearanceEvent(id("home"), .didDisappear), AppearanceEvent(id("editor"), .didAppear)]
            : [
                AppearanceEvent(id("editor"), .willDisappear), AppearanceEvent(id("editor"), .didDisappear),
                AppearanceEvent(id("home"), .willAppear), AppearanceEvent(id("home"), .didAppear),
            ]
        #expect(ended.ending?.appearance == ending)
        let told = arbiter.events.compactMap { event -> AppearanceEvent? in
            if case .appearance(let appearance, push.id) = event.kind { appearance } else { nil }
        }
        #expect(told == beginning + ending)
        #expect(arbiter.events.map(\.number?.rawValue) == (1...UInt64(arbiter.events.count)).map(\.self))
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
