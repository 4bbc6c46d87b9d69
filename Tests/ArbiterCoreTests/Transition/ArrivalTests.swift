import Testing

@testable import ArbiterCore

/// Transitions that name controllers which earlier ones bring in.
struct ArrivalTests {
    private static func presentation() throws -> TransitionRequest {
        TransitionRequest(
            scope: .operation, operation: .present(presenter: id("home"), controller: try .outlined("sheet[first]")))
    }

    private static func push(_ controller: String, on navigation: String) throws -> TransitionRequest {
        TransitionRequest(
            scope: .operation, operation: .push(navigation: id(navigation), controller: try .outlined(controller)))
    }

    @Test func `a push onto a navigation that is being presented comes after the presentation`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        let present = try arbiter.start(Self.presentation())
        let error = #expect(throws: ArbiterError.self) { try arbiter.start(Self.push("editor", on: "sheet")) }
        #expect(error?.busy?.blockers == [present.id])
        let push = try arbiter.serialize(Self.push("editor", on: "sheet"))
        #expect(arbiter.view(of: push)?.blockers == [present.id])
        try arbiter.end(present)
        #expect(arbiter.state(of: push) == .running)
        try arbiter.end(push)
        #expect(arbiter.outline == "home>sheet[first editor]")
    }

    @Test func `it is judged at its turn, however the earlier one ended`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("home")
        let present = try arbiter.start(Self.presentation())
        let push = try arbiter.serialize(Self.push("editor", on: "sheet"))
        try arbiter.end(present, as: .cancelled)
        guard case .rejected(.invalidOperation(let refusal))? = arbiter.view(of: push)?.ending?.outcome else {
            Issue.record("\(String(describing: arbiter.view(of: push)))")
            return
        }
        #expect(refusal.code == .unknownController)
    }

    @Test func `a list may name a controller that is coming, and no other that does not exist`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let push = try arbiter.start(Self.push("editor", on: "left"))
        let waiting = try arbiter.serialize(TransitionRequest(scope: .controllers([id("editor")])))
        #expect(arbiter.state(of: waiting) == .queued)
        #expect(throws: ArbiterError.self) {
            try arbiter.serialize(TransitionRequest(scope: .controllers([id("nowhere")])))
        }
        try arbiter.end(push)
        #expect(arbiter.state(of: waiting) == .running)
    }

    @Test func `two that bring in the same controller come one after the other`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let first = try arbiter.start(Self.push("editor", on: "left"))
        let second = try arbiter.serialize(Self.push("editor", on: "right"))
        #expect(throws: ArbiterError.self, "the second stands in line for the right stack") {
            try arbiter.start(Self.push("other", on: "right"))
        }
        try arbiter.end(first, as: .cancelled)
        #expect(arbiter.state(of: second) == .running)
    }

    @Test func `an expectation waits for the controller that it is about`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let push = try arbiter.start(Self.push("editor", on: "left"))
        var request = try Self.push("other", on: "right")
        request.expectations = [.controller(id("editor"), is: .visible)]
        let waiting = try arbiter.serialize(request)
        #expect(arbiter.state(of: waiting) == .queued)
        try arbiter.end(push)
        #expect(arbiter.state(of: waiting) == .running)
    }

    @Test func `a ticket was not coalesced across one that runs and names what it would bring in, by the first rules`()
        throws
    {
        var arbiter = Arbiter(rules: .first)
        try arbiter.declare("tabs{*left[a] right[b] third[c]}")
        let holder = try arbiter.start(TransitionRequest(scope: .controllers([id("left")])))
        func pushing(_ controller: String) throws -> TransitionRequest {
            var request = try Self.push(controller, on: "left")
            request.coalescing = Coalescing(key: CoalescingKey(unchecked: "push"), keep: .latest)
            return request
        }
        let first = try arbiter.serialize(pushing("x"))
        let between = try arbiter.start(
            TransitionRequest(scope: .controllers([id("right")]), expectations: [.controller(id("y"), is: .absent)]))
        let second = try arbiter.serialize(pushing("y"))
        #expect(arbiter.state(of: first) == .queued)
        try arbiter.end(between)
        let third = try arbiter.serialize(pushing("z"))
        #expect(arbiter.state(of: second) == .ended)
        #expect(arbiter.state(of: first) == .ended)
        try arbiter.end(holder)
        #expect(arbiter.state(of: third) == .running)
    }
}
