import Testing

@testable import ArbiterCore

/// Waiting for a part of a scene to be idle, while others are busy.
struct IdlePartTests {
    private var arbiter = Arbiter()

    private func start(_ controller: String) -> TransitionRequest {
        TransitionRequest(scope: .controllers([id(controller)]))
    }

    @Test mutating func `a part is idle beside what runs elsewhere`() throws {
        try arbiter.declare("tabs{*page[a] ticker}")
        let ticker = try arbiter.start(start("ticker"))
        #expect(try arbiter.look(below: id("page")).isIdle && arbiter.look(below: id("page")).busy.isEmpty)
        let above = try arbiter.look(below: id("tabs"))
        #expect(!above.isIdle && above.busy.map(\.id) == [ticker.id])
        #expect(try arbiter.look().busy.map(\.state) == [.running])
        // What is below it counts, and what is above it.
        let below = try arbiter.start(start("a"))
        #expect(try arbiter.look(below: id("page")).busy.map(\.id) == [below.id])
        #expect(try arbiter.look(below: id("a")).isIdle == false)
        let wide = try arbiter.serialize()
        #expect(try arbiter.look(below: id("ticker")).busy.map(\.id) == [ticker.id, wide.id])
    }

    @Test mutating func `a part is idle when the ticket that might have taken it gets another name`() throws {
        let holder = try arbiter.start(TransitionRequest(scope: .controllers([id("a"), id("b")])))
        let ticket = try arbiter.serialize(TransitionRequest(scope: .anyOf([id("b"), id("a")])))
        let (left, taken) = (arbiter.park(below: id("a"), quiet: .seconds(1)), arbiter.park(below: id("b")))
        arbiter.advance(by: .seconds(2))
        try arbiter.end(holder)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.idleAnswers[left]?.idleFor == .seconds(1))
        #expect(arbiter.idleAnswers[taken] == nil)
        try arbiter.end(ticket)
        arbiter.advance(by: .zero)
        #expect(arbiter.idleAnswers[taken]?.isIdle == true)
    }

    @Test mutating func `the quiet of a part begins with the await, and with each end after it`() throws {
        try arbiter.declare("tabs{*page[a] ticker}")
        arbiter.advance(by: .seconds(10))
        #expect(try arbiter.look(below: id("page"), quiet: .seconds(1)).idleFor == .zero)
        let waiter = arbiter.park(below: id("page"), quiet: .seconds(3))
        arbiter.advance(by: .seconds(2))
        // It begins, and ends, and is asked for anew before that is over.
        try arbiter.end(try arbiter.start(start("a")))
        let ticker = try arbiter.start(start("ticker"))
        try arbiter.end(ticker)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.idleAnswers[waiter] == nil)
        let last = try arbiter.start(start("page"))
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.idleAnswers[waiter] == nil)
        try arbiter.end(last)
        arbiter.advance(by: .seconds(3))
        #expect(arbiter.idleAnswers[waiter]?.idleFor == .seconds(3))
    }

    @Test mutating func `a part that does not exist is kept busy by who brings it in`() throws {
        try arbiter.declare("nav[a]")
        #expect(try arbiter.look(below: id("new")).isIdle)
        let push = try arbiter.start(TransitionRequest(scope: .operation, operation: .push("new", on: "nav")))
        #expect(try arbiter.look(below: id("new")).busy.map(\.id) == [push.id])
        let waiter = arbiter.park(below: id("new"))
        try arbiter.end(push)
        arbiter.advance(by: .zero)
        #expect(arbiter.idleAnswers[waiter]?.isIdle == true)
    }

    @Test mutating func `a ticket that is set aside keeps its part busy`() throws {
        try arbiter.declare("tabs{*page[a] ticker}")
        var request = start("a")
        request.expectations = [.controller(id("b"), is: .exists)]
        request.unmet = .wait
        request.queue = .seconds(5)
        let aside = try arbiter.serialize(request)
        #expect(try arbiter.look(below: id("page")).busy.map(\.id) == [aside.id])
        #expect(try arbiter.look(below: id("ticker")).isIdle)
        let waiter = arbiter.park(below: id("page"))
        arbiter.advance(by: .seconds(5))
        #expect(arbiter.idleAnswers[waiter]?.isIdle == true)
    }
}
