import Testing

@testable import ArbiterCore

/// Scopes whose controllers are removed and inserted while other transitions run.
struct ScopeTests {
    private static func list(_ controllers: String, _ operation: Operation? = nil) -> TransitionRequest {
        TransitionRequest(scope: .controllers(ids(controllers)), operation: operation)
    }

    private static func operation(_ operation: Operation) -> TransitionRequest {
        TransitionRequest(scope: .operation, operation: operation)
    }

    @Test func `a ticket whose scope grows over a running transition waits for it, even if that is newer`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*n[a b] m[c] k[d]}")
        let holder = try arbiter.start(Self.list("c"))
        let pop = try arbiter.start(Self.operation(.pop(navigation: id("n"))))
        // The top of the layer presents, so the scope contains it as long as the presenting controller exists.
        let present = try arbiter.serialize(
            Self.list("c", .present(presenter: id("b"), controller: .outlined("sheet"))))
        try arbiter.end(pop)
        let later = try arbiter.start(Self.list("d"))
        let push = try arbiter.start(Self.operation(.push(navigation: id("n"), controller: .outlined("b"))))
        try arbiter.end(push)
        try arbiter.end(holder)
        #expect(arbiter.state(of: present) == .queued, "a granted transition still conflicts")
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        let last = try arbiter.serialize(Self.list("d"))
        try arbiter.end(later)
        #expect(arbiter.state(of: present) == .running)
        #expect(arbiter.state(of: last) == .queued)
        try arbiter.end(present)
        #expect(arbiter.state(of: last) == .running)
    }

    /// A split with tabs that define a presentation context, and with two views; `x` and `z` do not exist.
    private static let outline = "split(one!@>tabs{m[p] n[q]}|two{s t})"

    @Test func `tickets whose scopes grow to the same place are granted in request order`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(Self.outline)
        let (t, s) = (try arbiter.start(Self.list("t")), try arbiter.start(Self.list("s")))
        let earlier = try arbiter.serialize(Self.list("t", .dismiss(id("x"))))
        let later = try arbiter.serialize(Self.list("s", .dismiss(id("z"))))
        let z = try arbiter.start(Self.operation(.push(navigation: id("m"), controller: .outlined("z"))))
        let x = try arbiter.start(Self.operation(.push(navigation: id("n"), controller: .outlined("x"))))
        // The later ticket is refiled to the common place first, is clear there, and still waits at another place.
        try arbiter.end(z)
        try arbiter.end(x)
        try arbiter.end(s)
        #expect(arbiter.state(of: later) == .queued)
        try arbiter.end(t)
        #expect(arbiter.state(of: earlier) == .running)
        #expect(arbiter.state(of: later) == .queued)
        try arbiter.end(earlier)
        #expect(arbiter.state(of: later) != .queued)
    }

    @Test func `grants of one turn are in request order, also after a restart`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(Self.outline)
        let session = try arbiter.openSession()
        var bound = Self.list("t")
        bound.session = session.token
        _ = try arbiter.start(bound)
        let holder = try arbiter.start(Self.list("s"))
        let first = try arbiter.serialize(Self.list("t"))
        let second = try arbiter.serialize(Self.list("s", .dismiss(id("z"))))
        let push = try arbiter.start(Self.operation(.push(navigation: id("m"), controller: .outlined("z"))))
        var other = try Self.operation(.push(navigation: id("n"), controller: .outlined("x")))
        other.session = session.token
        _ = try arbiter.start(other)
        try arbiter.end(push)
        try arbiter.end(holder)
        // The queue has already checked the second ticket and held it up; it has not checked the first.
        var restored = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        restored.recover(at: arbiter.now)
        _ = restored.apply(.endSession(session.id, .ended), at: arbiter.moment)
        try arbiter.endSession(session)
        let fences = try (#require(arbiter.fence(of: first)), #require(arbiter.fence(of: second)))
        #expect(fences.0 < fences.1)
        #expect(restored.snapshot() == arbiter.machine.snapshot())
    }

    @Test(arguments: [10, 200, 999])
    func `a blocker is found however deep it is`(depth: Int) throws {
        var arbiter = Arbiter()
        try arbiter.declare((0...depth).map { "c\($0)" }.joined(separator: "~@>"))
        let holder = try arbiter.start(Self.list("c\(depth)"))
        let busy = #expect(throws: ArbiterError.self) { try arbiter.start() }?.busy
        #expect(busy?.holder.transition.id == holder.id)
        let refusal = #expect(throws: ArbiterError.self) { try arbiter.declare("home") }
        #expect(refusal?.busy?.blockers == [holder.id])
        let ticket = try arbiter.serialize()
        #expect(arbiter.view(of: ticket)?.blockers == [holder.id])
    }

    @Test func `a snapshot with grants out of request order can be read`() throws {
        var arbiter = Arbiter()
        let room = Limits.controllers
        let stack = (0..<room / 2).map { id("a\($0)") }
        let others = (0..<room - room / 2 - 4).map { id("b\($0)") }
        try arbiter.declare(
            Storyboard(
                hierarchy: Hierarchy(
                    root: id("tabs"),
                    controllers: (stack + others).map { Controller(id: $0) } + [
                        Controller(id: id("m"), content: .navigation(stack)),
                        Controller(id: id("n"), content: .navigation(others)),
                        Controller(id: id("tabs"), content: .tabs([id("m"), id("n")], selected: 0)),
                    ])))
        let holder = try arbiter.start(Self.list("m"))
        // It inserts about as many controllers as it removes, so that the other operation fits beside it.
        let coming = ["a0"] + (1..<room / 2 - 1).map { "c\($0)" }
        let exchange = try arbiter.serialize(
            Self.operation(.setStack(navigation: id("m"), controllers: coming.map { try .outlined($0) })))
        let push = try arbiter.start(Self.operation(.push(navigation: id("n"), controller: .outlined("new"))))
        try arbiter.end(holder)
        #expect(arbiter.state(of: exchange) == .running)
        #expect(arbiter.state(of: push) == .running)
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(machine.snapshot() == arbiter.machine.snapshot())
    }
}
