import ArbiterCore
import Testing

struct RetentionTests {
    private func arbiter(count: Int, duration: Duration, maximum: Int) -> Arbiter {
        var limits = Limits()
        limits.retainedCount = count
        limits.retainedDuration = duration
        limits.retainedMaximum = maximum
        return Arbiter(limits: limits)
    }

    /// Starts and ends some transitions.
    private func run(_ count: Int, on arbiter: inout Arbiter) throws -> [Owner] {
        var owners: [Owner] = []
        for _ in 0..<count {
            let owner = try arbiter.start()
            try arbiter.end(owner)
            owners.append(owner)
        }
        return owners
    }

    @Test func `the newest ended ones are kept however old they are`() throws {
        var arbiter = arbiter(count: 3, duration: .seconds(10), maximum: 100)
        let ended = try run(3, on: &arbiter)
        arbiter.advance(by: .seconds(100_000))
        let last = try run(1, on: &arbiter)
        #expect(arbiter.transitions.map(\.transition.id) == (ended.dropFirst() + last).map(\.id))
    }

    @Test func `more than the count are kept while they are young`() throws {
        var arbiter = arbiter(count: 1, duration: .seconds(10), maximum: 100)
        let ended = try run(5, on: &arbiter)
        arbiter.advance(by: .seconds(10) - .nanoseconds(1))
        let later = try run(1, on: &arbiter)
        #expect(arbiter.transitions.map(\.transition.id) == (ended + later).map(\.id))
        arbiter.advance(by: .nanoseconds(1))
        let last = try run(1, on: &arbiter)
        #expect(arbiter.transitions.map(\.transition.id) == (later + last).map(\.id))
    }

    @Test func `beyond the maximum the oldest go however young they are`() throws {
        var arbiter = arbiter(count: 1, duration: .seconds(1000), maximum: 4)
        let ended = try run(10, on: &arbiter)
        #expect(arbiter.transitions.map(\.transition.id) == ended.suffix(4).map(\.id))
    }

    @Test func `where there is much in them, fewer are kept`() throws {
        var limits = Limits()
        limits.retainedWeight = 50
        var arbiter = Arbiter(limits: limits)
        try arbiter.declare("tabs{*nav[home] other}")
        var ended: [Owner] = []
        for number in 1...12 {
            // It names whoever comes, is told that it appears and disappears, and so is its predecessor.
            let push = Operation.push(navigation: id("nav"), controller: try .outlined("view\(number)"))
            ended.append(try arbiter.start(TransitionRequest(operation: push)))
            try arbiter.end(ended[number - 1], as: number.isMultiple(of: 3) ? .completed : .cancelled)
        }
        let kept = arbiter.transitions.map(\.transition.id)
        #expect(kept == ended.suffix(kept.count).map(\.id))
        #expect(5..<12 ~= kept.count)
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot(), limits: limits)
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        // Of those that name nothing there are as many as ever.
        let light = try run(20, on: &arbiter)
        #expect(arbiter.transitions.map(\.transition.id) == kept + light.map(\.id))
    }

    @Test func `those that ended first go first, whenever they were asked for`() throws {
        var arbiter = arbiter(count: 1, duration: .zero, maximum: 100)
        let early = try arbiter.start(scene: "left")
        let late = try arbiter.start(scene: "right")
        try arbiter.end(late)
        try arbiter.end(early)
        #expect(arbiter.transitions.map(\.transition.id) == [early.id])
    }

    @Test func `what is unfinished is never forgotten`() throws {
        var arbiter = arbiter(count: 0, duration: .zero, maximum: 0)
        let running = try arbiter.start(scene: "left", lease: .seconds(3600))
        let queued = try arbiter.serialize(scene: "left", ticket: .seconds(3600))
        for _ in 0..<5 {
            _ = try run(3, on: &arbiter)
            arbiter.advance(by: .seconds(100))
        }
        #expect([running, queued].map(arbiter.state(of:)) == [.running, .queued])
    }

    @Test func `a forgotten transition is unknown`() throws {
        var arbiter = arbiter(count: 1, duration: .zero, maximum: 1)
        let forgotten = try #require(try run(2, on: &arbiter).first)
        let unknown = ArbiterError.unknownTransition(forgotten.id)
        #expect(throws: unknown) { try arbiter.end(forgotten) }
        #expect(throws: unknown) { try arbiter.renew(forgotten) }
        #expect(throws: unknown) { try arbiter.look(at: forgotten) }
        #expect(throws: unknown) { try arbiter.park(on: forgotten, until: .ended, asOwner: false) }
        #expect(!arbiter.machine.isInUse(forgotten.id))
    }

    @Test func `an end is answered even if nothing is to be remembered of it`() throws {
        var arbiter = arbiter(count: 0, duration: .zero, maximum: 0)
        let a = try arbiter.start()
        #expect(try arbiter.end(a).outcome == .completed)
        #expect(arbiter.view(of: a) == nil)
        _ = try arbiter.start()
        let c = try arbiter.serialize(client: "c", parked: true)
        #expect(try arbiter.end(c, as: .cancelled).outcome == .cancelled)
        #expect(arbiter.answer(to: c)?.outcome == .cancelled)
    }

    @Test func `what ends at once is answered, and makes others be forgotten`() throws {
        var arbiter = arbiter(count: 0, duration: .zero, maximum: 0)
        try arbiter.declare("nav[home]")
        let pop = TransitionRequest(operation: .pop(navigation: id("nav")))
        for _ in 0..<3 {
            #expect(arbiter.view(of: try arbiter.start(pop)) == nil)
            #expect(arbiter.view(of: try arbiter.serialize(pop)) == nil)
        }
        #expect(arbiter.transitions.isEmpty)
    }

    @Test func `an end that lets more tickets complete than are remembered is answered`() throws {
        var arbiter = arbiter(count: 0, duration: .seconds(600), maximum: 2)
        let a = try arbiter.start()
        var row: [Owner] = []
        for _ in 0..<4 {
            let owner = try arbiter.serialize()
            try arbiter.end(owner)
            row.append(owner)
        }
        #expect(try arbiter.end(a).outcome == .completed)
        #expect(arbiter.transitions.map(\.transition.id) == row.suffix(2).map(\.id))
    }
}
