import Testing

@testable import ArbiterCore

/// The animations of operations, and what the views are told.
struct OperationAnimationTests {
    @Test func `the grant resolves the animation from the request, its type and the scene's defaults`() throws {
        var arbiter = Arbiter()
        let star = try #require(TransitionTypeName("star"))
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"),
                transitionTypes: [TransitionType(name: star, duration: .seconds(1))],
                defaults: Storyboard.Defaults(curve: .linear)))
        let push = try arbiter.start(
            OperationTests.request(
                OperationTests.push("editor"), animation: AnimationRequest(type: star, completionSpeed: 2)))
        let animation = arbiter.view(of: push)?.transition.grant?.animation
        #expect(
            animation
                == Animation(
                    type: star, duration: .seconds(1), curve: .linear, completionSpeed: 2, userInfo: nil,
                    isReversed: false, direction: .forward))
        try arbiter.end(push)
        let pop = try arbiter.start(OperationTests.request(.pop(navigation: id("nav"))))
        let back = arbiter.view(of: pop)?.transition.grant?.animation
        #expect(back?.type == star, "it is removed with the type with which it was inserted")
        #expect(back?.isReversed == true)
        #expect(back?.direction == .backward)
        try arbiter.end(pop, as: .cancelled)
        let unknown = AnimationRequest(type: TransitionTypeName("moon"))
        #expect(throws: ArbiterError.unknownTransitionType(try #require(TransitionTypeName("moon")))) {
            try arbiter.serialize(OperationTests.request(OperationTests.push("a"), animation: unknown))
        }
    }

    @Test func `a controller's own transition type applies unless the request names another`() throws {
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
            let request = OperationTests.request(push, animation: asked.map { AnimationRequest(type: $0) })
            let pushing = try arbiter.start(request)
            #expect(arbiter.view(of: pushing)?.transition.grant?.animation?.type == expected)
            try arbiter.end(pushing)
            let popping = try arbiter.start(OperationTests.request(.pop(navigation: id("nav"))))
            #expect(arbiter.view(of: popping)?.transition.grant?.animation?.type == expected)
            try arbiter.end(popping)
        }
    }

    @Test func `the default type applies where neither the request nor a controller names one`() throws {
        var arbiter = Arbiter()
        let (star, flip) = (try #require(TransitionTypeName("star")), try #require(TransitionTypeName("flip")))
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"),
                transitionTypes: [TransitionType(name: star, duration: .seconds(1)), TransitionType(name: flip)],
                defaults: Storyboard.Defaults(type: star)))
        let push = try arbiter.start(OperationTests.request(OperationTests.push("editor")))
        let animation = arbiter.view(of: push)?.transition.grant?.animation
        #expect(animation?.type == star && animation?.duration == .seconds(1))
        try arbiter.end(push)
        try arbiter.patch(StoryboardPatch(defaults: StoryboardPatch.DefaultsChange(type: flip)))
        let pop = try arbiter.start(OperationTests.request(.pop(navigation: id("nav"))))
        #expect(arbiter.view(of: pop)?.transition.grant?.animation?.type == star, "by which it came in")
        try arbiter.end(pop)
        let lock = try arbiter.start(TransitionRequest(animation: AnimationRequest(curve: .linear)))
        #expect(arbiter.view(of: lock)?.transition.grant?.animation?.type == flip)
    }

    @Test func `a default type that is not declared is refused, and so is to take its declaration away`() throws {
        var arbiter = Arbiter()
        let star = try #require(TransitionTypeName("star"))
        #expect(throws: StoryboardFault.unknownDefaultType(star)) {
            try Storyboard(defaults: Storyboard.Defaults(type: star))
        }
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"), transitionTypes: [TransitionType(name: star)],
                defaults: Storyboard.Defaults(type: star)))
        let remove = StoryboardPatch(transitionTypes: [.remove(star)])
        #expect(throws: ArbiterError.invalidStoryboard(.unknownDefaultType(star))) { try arbiter.patch(remove) }
        let push = try arbiter.start(OperationTests.request(OperationTests.push("editor")))
        var both = remove
        both.defaults.type = .some(nil)
        try arbiter.patch(both)
        try arbiter.end(push)
        let editor = try arbiter.machine.controller(id("editor"), of: .main)?.controller
        #expect(editor != nil && editor?.introTransitionType == nil, "what is declared no more is not remembered")
    }

    @Test func `a tab that is selected comes in by its own type`() throws {
        var arbiter = Arbiter()
        let star = try #require(TransitionTypeName("star"))
        try arbiter.declare(
            Storyboard(
                hierarchy: Hierarchy(
                    root: id("tabs"),
                    controllers: [
                        Controller(id: id("tabs"), content: .tabs([id("a"), id("b")], selected: 0)),
                        Controller(id: id("a")), Controller(id: id("b"), introTransitionType: star),
                    ]), transitionTypes: [TransitionType(name: star)]))
        for (tab, expected) in [("b", star), ("a", nil)] {
            let select = try arbiter.start(OperationTests.request(.select(tabs: id("tabs"), .controller(id(tab)))))
            let animation = arbiter.view(of: select)?.transition.grant?.animation
            #expect(animation?.type == expected && animation?.isReversed == (tab == "a"))
            try arbiter.end(select)
        }
    }

    @Test func `a controller with an unknown transition type is refused by start and serialize`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let swirl = try #require(TransitionTypeName("swirl"))
        let editor = Controller(id: id("editor"), introTransitionType: swirl)
        let push = OperationTests.request(
            .push(navigation: id("nav"), controller: try Hierarchy(root: editor.id, controllers: [editor])))
        #expect(throws: ArbiterError.unknownIntroTransitionType(swirl)) { _ = try arbiter.start(push) }
        #expect(throws: ArbiterError.unknownIntroTransitionType(swirl)) { _ = try arbiter.serialize(push) }
        #expect(throws: StoryboardFault.unknownTransitionType(swirl)) {
            try Storyboard(hierarchy: Hierarchy(root: editor.id, controllers: [editor]))
        }
    }

    @Test(arguments: [(EndOutcome.completed, true), (.cancelled, false)])
    func `the views and the event streams get appearance events at the start and at the end`(
        outcome: EndOutcome, isCompleted: Bool
    ) throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let push = try arbiter.start(OperationTests.request(OperationTests.push("editor")))
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
