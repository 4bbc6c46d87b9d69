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

    @Test func `a ticket is not coalesced across one that names what it would bring in`() throws {
        var arbiter = Arbiter()
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

    @Test func `under the first rules a ticket does not wait for arrivals until the rules change`() throws {
        var machine = ArbiterStateMachine(rules: .first)
        let moment = Moment(instant: Instant(nanoseconds: 1), timestamp: Timestamp(milliseconds: 1))
        func apply(_ record: Record, under rules: Rules = .first) {
            let outcome = machine.apply(record, at: moment, under: rules)
            #expect(outcome.records == [record])
        }
        func request(_ number: UInt64, _ request: TransitionRequest) -> Record {
            .serialize(request, id: TransitionID(rawValue: number), token: Token(high: 0, low: number))
        }
        apply(.declare(.main, try Storyboard(hierarchy: .outlined("split(left[a]|right[b])"))))
        apply(request(1, try Self.push("editor", on: "left")))
        var expecting = try Self.push("other", on: "right")
        expecting.expectations = [.controller(id("editor"), is: .absent)]
        apply(request(2, expecting))
        #expect(machine.transition(TransitionID(rawValue: 2))?.state == .running)
        expecting.expectations = [.controller(id("editor"), is: .exists)]
        apply(request(3, expecting))
        #expect(machine.transition(TransitionID(rawValue: 3))?.state == .queued)
        let restored = try ArbiterStateMachine(snapshot: machine.snapshot())
        #expect(restored.snapshot() == machine.snapshot())
        apply(.skipFences, under: .second)
        // What is granted would have to wait under the new rules, and is read from a snapshot all the same.
        #expect(try ArbiterStateMachine(snapshot: machine.snapshot()).snapshot() == machine.snapshot())
        apply(.end(TransitionID(rawValue: 2), token: Token(high: 0, low: 2), .cancelled), under: .second)
        #expect(machine.transition(TransitionID(rawValue: 3))?.state == .queued, "it waits for the arrival too now")
        apply(.end(TransitionID(rawValue: 1), token: Token(high: 0, low: 1), .completed), under: .second)
        #expect(machine.transition(TransitionID(rawValue: 3))?.state == .running)
    }
}
