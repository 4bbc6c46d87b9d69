import Testing

@testable import ArbiterCore

/// Storyboards: what is declared about a scene.
struct DeclaringTests {
    @Test func `a declaration is read back as it stands now`() throws {
        var arbiter = Arbiter()
        let first = try arbiter.declare(Storyboard(hierarchy: .outlined("nav[home]")))
        #expect(first == StoryboardVersion(revision: Revision(rawValue: 1)))
        let push = try arbiter.start(
            TransitionRequest(operation: .push(navigation: id("nav"), controller: .outlined("editor"))))
        try arbiter.end(push)
        let (storyboard, version) = try arbiter.machine.storyboard(of: .main)
        #expect(storyboard.hierarchy.outline == "nav[home editor]")
        #expect(version == StoryboardVersion(revision: Revision(rawValue: 2)))
    }

    @Test func `a declaration may insist on the revision that it replaces`() throws {
        var arbiter = Arbiter()
        let none = StoryboardVersion(revision: Revision(rawValue: 0))
        #expect(throws: ArbiterError.versionMismatch(expected: .version([none]), actual: nil)) {
            try arbiter.declare(Storyboard.empty, ifMatch: 0)
        }
        try arbiter.declare("home")
        try arbiter.declare(Storyboard(hierarchy: .outlined("other")), ifMatch: 1)
        let (old, new) = (
            StoryboardVersion(revision: Revision(rawValue: 1)), StoryboardVersion(revision: Revision(rawValue: 2))
        )
        let mismatch = ArbiterError.versionMismatch(expected: .version([old]), actual: new)
        #expect(throws: mismatch) { try arbiter.declare(Storyboard.empty, ifMatch: 1) }
        #expect(arbiter.outline == "other")
    }

    @Test func `nothing is declared or deleted while a transition is unfinished`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        let holder = try arbiter.start()
        #expect(throws: ArbiterError.self) { try arbiter.declare("other") }
        let error = #expect(throws: ArbiterError.self) { try arbiter.delete(.main) }
        #expect(error?.busy?.blockers == [holder.id])
        try arbiter.end(holder)
        try arbiter.delete(.main)
        #expect(throws: ArbiterError.unknownScene(.main)) { try arbiter.delete(.main) }
    }

    @Test func `a scene that comes back goes on behind every number it ever had`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        let last = try #require(arbiter.events.last?.number)
        try arbiter.delete(.main)
        try arbiter.declare("home")
        #expect(arbiter.revision == 2)
        #expect(try #require(arbiter.events.last?.number) > last)
    }

    @Test func `followers hear that a scene is deleted, and miss a number when it is there again`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        try arbiter.delete(.main)
        #expect(arbiter.events.map(\.kind).last == .sceneDeleted)
        #expect(arbiter.events.last?.number == EventNumber(rawValue: 2))
        // A follower of the scene that is no more is told the number after which it will go on.
        #expect(arbiter.machine.followedScene(.main, at: arbiter.now).summary.lastEvent == EventNumber(rawValue: 3))
        try arbiter.declare("home")
        #expect(arbiter.events.last?.number == EventNumber(rawValue: 4))
    }

    @Test func `followers hear that a scene is forgotten to make room`() throws {
        var limits = Limits()
        limits.scenes = 1
        var arbiter = Arbiter(limits: limits)
        try arbiter.end(try arbiter.start())
        _ = try arbiter.start(scene: "other")
        #expect(arbiter.events.contains { $0.scene == .main && $0.kind == .sceneDeleted })
    }

    @Test func `what is expected of a scene that comes back is held against the numbers it will have`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        try arbiter.delete(.main)
        let expecting = { TransitionRequest(expectations: [.revision(Revision(rawValue: $0))]) }
        #expect(throws: ArbiterError.self) { try arbiter.start(expecting(0)) }
        let owner = try arbiter.start(expecting(1))
        #expect(arbiter.state(of: owner) == .running)
    }

    @Test func `the defaults of a scene hold where a request is silent`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(
            Storyboard(
                hierarchy: .outlined("split(left[a]|right[b])"),
                defaults: Storyboard.Defaults(lease: .seconds(3), scope: .operation)))
        let left = try arbiter.start(
            TransitionRequest(operation: .push(navigation: id("left"), controller: .outlined("c"))))
        let right = try arbiter.start(
            TransitionRequest(operation: .push(navigation: id("right"), controller: .outlined("d"))))
        #expect(arbiter.view(of: left)?.transition.scope == .operation)
        #expect(arbiter.view(of: right)?.leaseRemaining == .seconds(3))
        #expect(throws: ArbiterError.self) { try arbiter.start(TransitionRequest()) }
    }

    @Test func `a declared scene is not forgotten for a new one`() throws {
        var limits = Limits()
        limits.scenes = 1
        var arbiter = Arbiter(limits: limits)
        try arbiter.declare("home")
        #expect(throws: ArbiterError.tooManyScenes(limit: 1)) { _ = try arbiter.start(scene: "other") }
        try arbiter.delete(.main)
        _ = try arbiter.start(scene: "other")
    }
}
