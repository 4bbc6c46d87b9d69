import Testing

@testable import ArbiterCore

/// Names in a scene without a hierarchy, one of several names, and shared transitions.
struct NamesTests {
    private var arbiter = Arbiter()

    private static func request(_ scope: Scope, _ mode: TransitionMode = .exclusive) -> TransitionRequest {
        TransitionRequest(scope: scope, mode: mode)
    }

    @Test mutating func `two names conflict if they are the same`() throws {
        let both = try arbiter.serialize(Self.request(.controllers([id("a"), id("b")])))
        let third = try arbiter.serialize(Self.request(.controllers([id("c")])))
        let waiting = try arbiter.serialize(Self.request(.controllers([id("b"), id("c")])))
        #expect([both, third].allSatisfy { arbiter.state(of: $0) == .running })
        #expect(arbiter.state(of: waiting) == .queued)
        try arbiter.end(both)
        #expect(arbiter.state(of: waiting) == .queued)
        try arbiter.end(third)
        #expect(arbiter.state(of: waiting) == .running)
    }

    @Test mutating func `one of several names is the first that is free, and the others stay free`() throws {
        let pool = Scope.anyOf([id("a"), id("b")])
        let owners = try (0..<3).map { _ in try arbiter.serialize(Self.request(pool)) }
        #expect(arbiter.machine.transition(owners[0].id)?.scope == .controllers([id("a")]))
        #expect(arbiter.machine.transition(owners[1].id)?.scope == .controllers([id("b")]))
        #expect(arbiter.machine.transition(owners[2].id)?.scope == pool)
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(pool)) }
        let behind = try arbiter.serialize(Self.request(.controllers([id("a")])))
        try arbiter.end(owners[1])
        #expect(arbiter.machine.transition(owners[2].id)?.scope == .controllers([id("b")]))
        try arbiter.end(owners[0])
        #expect(arbiter.state(of: behind) == .running, "nobody stands before it any more")
        try arbiter.restart()
    }

    @Test mutating func `shared ones run side by side, and behind an exclusive one that stands before them`() throws {
        let first = try arbiter.serialize(Self.request(.scene, .shared))
        let second = try arbiter.start(Self.request(.controllers([id("a")]), .shared))
        let exclusive = try arbiter.serialize(Self.request(.controllers([id("a")])))
        let third = try arbiter.serialize(Self.request(.scene, .shared))
        #expect(arbiter.state(of: second) == .running)
        #expect([exclusive, third].allSatisfy { arbiter.state(of: $0) == .queued })
        try arbiter.end(first)
        #expect(arbiter.state(of: exclusive) == .queued)
        try arbiter.end(second)
        #expect(arbiter.state(of: exclusive) == .running)
        try arbiter.end(exclusive)
        #expect(arbiter.state(of: third) == .running)
        try arbiter.restart()
    }

    @Test mutating func `all that share a controller lock it`() throws {
        try arbiter.declare("nav[list]")
        let first = try arbiter.start(Self.request(.scene, .shared))
        let second = try arbiter.start(Self.request(.controllers([id("list")]), .shared))
        let third = try arbiter.start(Self.request(.controllers([id("list")]), .shared))
        #expect(try arbiter.machine.controller(id("list"), of: .main)?.lockedBy == [first.id, second.id, third.id])
        #expect(try arbiter.machine.controller(id("nav"), of: .main)?.lockedBy == [first.id])
    }

    @Test mutating func `nobody gets one of several names once there is a hierarchy`() throws {
        let root = TransitionRequest(operation: .setRoot("home"))
        let owner = try arbiter.serialize(root)
        let ticket = try arbiter.serialize(Self.request(.anyOf([id("home"), id("b")])))
        let list = try arbiter.serialize(Self.request(.controllers([id("home")])))
        try arbiter.end(owner)
        #expect(arbiter.outcome(of: ticket) == .rejected(.scopeGone(id("home"))))
        #expect(arbiter.state(of: list) == .running)
    }
}
