import Testing

@testable import ArbiterCore

/// Scopes whose controllers go and come back while others run.
struct ScopeTests {
    private static func list(_ controllers: String, _ operation: Operation? = nil) -> TransitionRequest {
        TransitionRequest(scope: .controllers(ids(controllers)), operation: operation)
    }

    private static func operation(_ operation: Operation) -> TransitionRequest {
        TransitionRequest(scope: .operation, operation: operation)
    }

    @Test func `a scope that grows over one that runs waits for it, though it asked earlier`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("tabs{*n[a b] m[c] k[d]}")
        let holder = try arbiter.start(Self.list("c"))
        let pop = try arbiter.start(Self.operation(.pop(navigation: id("n"))))
        // The topmost presents, and so it is locked as long as there is somebody to present from.
        let present = try arbiter.serialize(
            Self.list("c", .present(presenter: id("b"), controller: .outlined("sheet"))))
        try arbiter.end(pop)
        let later = try arbiter.start(Self.list("d"))
        let push = try arbiter.start(Self.operation(.push(navigation: id("n"), controller: .outlined("b"))))
        try arbiter.end(push)
        try arbiter.end(holder)
        #expect(arbiter.state(of: present) == .queued, "there is still one in its way")
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        let last = try arbiter.serialize(Self.list("d"))
        try arbiter.end(later)
        #expect(arbiter.state(of: present) == .running)
        #expect(arbiter.state(of: last) == .queued)
        try arbiter.end(present)
        #expect(arbiter.state(of: last) == .running)
    }
}
