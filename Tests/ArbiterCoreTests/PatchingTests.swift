import Testing

@testable import ArbiterCore

/// Changes of segues, transition types and defaults while transitions run.
struct PatchingTests {
    private let edit = SegueIdentifier(unchecked: "edit")
    private let star = TransitionTypeName(unchecked: "star")

    private func segue(to destination: String) throws -> Segue {
        Segue(identifier: edit, source: id("home"), kind: .show, destination: try .outlined(destination))
    }

    private func performing(_ scope: Scope = .scene) -> TransitionRequest {
        TransitionRequest(scope: scope, operation: .segue(source: id("home"), edit))
    }

    @Test func `what is added while a transition runs can be used at once, and gives another version`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("nav[home]")
        let holder = try arbiter.start()
        let version = try arbiter.patch(
            StoryboardPatch(
                segues: [.set(segue(to: "editor"))], transitionTypes: [.set(TransitionType(name: star))],
                defaults: StoryboardPatch.DefaultsChange(lease: .seconds(3))))
        #expect(version == StoryboardVersion(revision: Revision(rawValue: 1), patches: 1))
        try arbiter.end(holder)
        let push = try arbiter.start(
            TransitionRequest(
                operation: .segue(source: id("home"), edit), animation: AnimationRequest(type: star)))
        #expect(arbiter.view(of: push)?.leaseRemaining == .seconds(3))
        try arbiter.end(push)
        #expect(arbiter.outline == "nav[home editor]")
        #expect(
            try arbiter.machine.storyboard(of: .main).1
                == StoryboardVersion(revision: Revision(rawValue: 2), patches: 1))
    }

    @Test func `a change that changes nothing gives no other version and no record`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(Storyboard(hierarchy: .outlined("nav[home]"), segues: [segue(to: "editor")]))
        let user = try arbiter.start(performing())
        let patch = try StoryboardPatch(segues: [.set(segue(to: "editor"))], transitionTypes: [.remove(star)])
        #expect(try arbiter.patch(patch) == StoryboardVersion(revision: Revision(rawValue: 1)))
        #expect(try arbiter.machine.storyboard(of: .main).1.patches == 0)
        try arbiter.end(user)
    }

    @Test func `what an unfinished transition names is neither replaced nor removed`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("nav[home]"), segues: [segue(to: "editor")],
                transitionTypes: [TransitionType(name: star)]))
        let holder = try arbiter.start()
        var request = performing()
        request.animation = AnimationRequest(type: star)
        let user = try arbiter.serialize(request)
        let entry = StoryboardEntry.segue(edit, source: id("home"))
        for change in try [StoryboardPatch.SegueChange.remove(edit, source: id("home")), .set(segue(to: "other"))] {
            let error = #expect(throws: ArbiterError.self) { try arbiter.patch(StoryboardPatch(segues: [change])) }
            guard case .inUse(entry, let busy)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(busy.blockers == [user.id])
        }
        let faster = TransitionType(name: star, duration: .zero)
        #expect(throws: ArbiterError.self) {
            try arbiter.patch(StoryboardPatch(transitionTypes: [.set(faster)]))
        }
        try arbiter.end(holder)
        try arbiter.end(user, as: .cancelled)
        try arbiter.patch(
            StoryboardPatch(segues: [.set(segue(to: "other"))], transitionTypes: [.set(faster)]))
        #expect(try arbiter.machine.storyboard(of: .main).0.segues == [try segue(to: "other")])
    }

    @Test func `a type that a controller came in by is not removed`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(
            Storyboard(hierarchy: .outlined("nav[home]"), transitionTypes: [TransitionType(name: star)]))
        let push = try arbiter.start(
            TransitionRequest(
                operation: .push(navigation: id("nav"), controller: .outlined("editor")),
                animation: AnimationRequest(type: star)))
        try arbiter.end(push)
        #expect(throws: ArbiterError.invalidStoryboard(.unknownTransitionType(star))) {
            try arbiter.patch(StoryboardPatch(transitionTypes: [.remove(star)]))
        }
        try arbiter.end(try arbiter.start(TransitionRequest(operation: .pop(navigation: id("nav")))))
        try arbiter.patch(StoryboardPatch(transitionTypes: [.remove(star)]))
        #expect(try arbiter.machine.storyboard(of: .main).0.transitionTypes.isEmpty)
    }

    @Test func `a queued segue that is defined meanwhile locks what it touches from then on`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[home]|right[c])")
        // Without the segue, only its source is locked.
        let holder = try arbiter.start(TransitionRequest(scope: .controllers([id("home")])))
        let user = try arbiter.serialize(performing(.operation))
        let neighbour = try arbiter.serialize(
            TransitionRequest(scope: .operation, operation: .pop(navigation: id("left"))))
        let beside = try arbiter.start(TransitionRequest(scope: .controllers([id("right")])))
        try arbiter.patch(StoryboardPatch(segues: [.set(segue(to: "editor"))]))
        #expect(arbiter.state(of: user) == .queued)
        #expect(arbiter.state(of: neighbour) == .queued)
        #expect(throws: ArbiterError.self, "it names what the segue brings in") {
            try arbiter.start(
                TransitionRequest(
                    scope: .controllers([id("c")]), expectations: [.controller(id("editor"), is: .exists)]))
        }
        try arbiter.end(beside)
        try arbiter.end(holder)
        #expect(arbiter.state(of: user) == .running)
        try arbiter.end(user)
        #expect(arbiter.outline == "split(left[home editor]|right[c])")
        let restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(restored.snapshot() == arbiter.machine.snapshot())
        #expect(try restored.storyboard(of: .main).1.patches == 1)
    }

    @Test func `a snapshot is read in which a later grant names what a segue came to bring in`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[home]|right[c])")
        let holder = try arbiter.start(TransitionRequest(scope: .controllers([id("home")])))
        let user = try arbiter.serialize(performing(.operation))
        let beside = try arbiter.start(
            TransitionRequest(
                scope: .controllers([id("right")]), expectations: [.controller(id("editor"), is: .absent)]))
        try arbiter.patch(StoryboardPatch(segues: [.set(segue(to: "editor"))]))
        try arbiter.end(holder)
        #expect(arbiter.state(of: user) == .running)
        #expect(arbiter.state(of: beside) == .running)
        #expect(try ArbiterStateMachine(snapshot: arbiter.machine.snapshot()).snapshot() == arbiter.machine.snapshot())
    }

    @Test func `only what is declared is changed, and only the version that is meant`() throws {
        var arbiter = Arbiter()
        let patch = try StoryboardPatch(segues: [.set(segue(to: "editor"))])
        #expect(throws: ArbiterError.unknownScene(.main)) { try arbiter.patch(patch) }
        let owner = try arbiter.start()
        #expect(throws: ArbiterError.undeclared(.main)) { try arbiter.patch(patch) }
        try arbiter.end(owner)
        try arbiter.declare("nav[home]")
        let first = StoryboardVersion(revision: Revision(rawValue: 1))
        let second = try arbiter.patch(patch, if: .version([first]))
        #expect(throws: ArbiterError.versionMismatch(expected: .version([first]), actual: second)) {
            try arbiter.patch(StoryboardPatch(segues: [.set(segue(to: "other"))]), if: .version([first]))
        }
        #expect(throws: ArbiterError.alreadyDeclared(.main)) { try arbiter.patch(patch, if: .undeclared) }
    }
}
