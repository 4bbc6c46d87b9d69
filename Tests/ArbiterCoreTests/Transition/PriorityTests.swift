import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// Priorities: a higher one comes first among what waits.
struct PriorityTests {
    private static func request(_ priority: Int?, scope: Scope? = nil) -> TransitionRequest {
        var request = TransitionRequest(scope: scope)
        request.priority = priority.flatMap(Priority.init)
        return request
    }

    @Test func `tickets are granted by their priority, and equals as they were asked for`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let priorities = [0, 5, -1_000, 5, nil, 1_000, -1]
        let tickets = try priorities.map { try arbiter.serialize(Self.request($0)) }
        let line = [5, 1, 3, 0, 4, 6, 2].map { tickets[$0] }
        #expect(line.map { arbiter.view(of: $0)?.position } == Array(1...7))
        #expect(arbiter.view(of: line[1])?.blockers == [holder.id, line[0].id])
        try arbiter.end(holder)
        for next in line {
            #expect(arbiter.state(of: next) == .running)
            try arbiter.end(next)
        }
    }

    @Test func `an emergency waits for what is granted, and overtakes five tickets`() throws {
        var arbiter = Arbiter()
        let advertisement = try arbiter.start()
        let tickets = try (0..<5).map { _ in try arbiter.serialize() }
        let emergency = try arbiter.serialize(Self.request(100))
        #expect(arbiter.state(of: advertisement) == .running)
        #expect(arbiter.view(of: emergency)?.position == 1)
        try arbiter.end(advertisement)
        #expect(arbiter.state(of: emergency) == .running)
        #expect(tickets.map { arbiter.view(of: $0)?.position } == [1, 2, 3, 4, 5])
    }

    @Test func `a start sees only tickets of its own or a higher priority`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left|right)")
        let (left, right) = (Scope.controllers([id("left")]), Scope.controllers([id("right")]))
        let holder = try arbiter.start(Self.request(nil, scope: left))
        let wide = try arbiter.serialize(Self.request(2))
        #expect(throws: ArbiterError.self) { try arbiter.start(Self.request(2, scope: right)) }
        let urgent = try arbiter.start(Self.request(3, scope: right))
        #expect(arbiter.state(of: urgent) == .running)
        try arbiter.end(holder)
        #expect(arbiter.state(of: wide) == .queued)
        try arbiter.end(urgent)
        #expect(arbiter.state(of: wide) == .running)
    }

    @Test func `a scene has a default, which its principals get as far as they may`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(Storyboard(defaults: Storyboard.Defaults(priority: #require(Priority(7)))))
        let holder = try arbiter.start()
        func ticket(_ priority: Int?, atMost highest: Int?) throws -> Int? {
            var request = Self.request(priority)
            request.highestPriority = highest.flatMap(Priority.init)
            let ticket = try arbiter.serialize(request)
            return arbiter.machine.transition(ticket.id)?.priority.value
        }
        #expect(try ticket(nil, atMost: nil) == 7)
        #expect(try ticket(nil, atMost: 9) == 7)
        #expect(try ticket(nil, atMost: 3) == 3)
        #expect(try ticket(0, atMost: 3) == 0)
        try arbiter.end(holder)
        try arbiter.restart()
        #expect(arbiter.machine.brokenInvariant() == nil)
    }

    @Test func `a bound that does not matter is no part of what a key compares`() throws {
        var arbiter = Arbiter()
        try arbiter.declare(Storyboard(defaults: Storyboard.Defaults(priority: #require(Priority(7)))))
        var request = Self.request(nil)
        request.idempotencyKey = IdempotencyKey(unchecked: "0123456789abcdef")
        for highest in [nil, 3, 9, 1_000] {
            request.highestPriority = highest.flatMap(Priority.init)
            _ = try arbiter.serialize(request)
        }
        #expect(arbiter.machine.counts.granted == 1 && arbiter.machine.counts.queued == 0)
    }

    @Test func `an id that only tickets behind it would bring in is unknown to a scope`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        _ = try arbiter.start(Self.request(nil, scope: .controllers([id("left")])))
        var push = Self.request(0, scope: .operation)
        push.operation = .push(navigation: id("left"), controller: try .outlined("editor"))
        _ = try arbiter.serialize(push)
        let scope = Scope.controllers([id("editor")])
        #expect(throws: ArbiterError.self) { try arbiter.serialize(Self.request(1, scope: scope)) }
        #expect(throws: Never.self) { try arbiter.serialize(Self.request(0, scope: scope)) }
    }

    @Test func `the first rules know no priorities`() throws {
        var arbiter = Arbiter(rules: .first)
        #expect(throws: ArbiterError.olderRules) { try arbiter.start(Self.request(1)) }
        #expect(throws: ArbiterError.olderRules) { try arbiter.serialize(Self.request(0)) }
        let standard = Storyboard.Defaults(priority: try #require(Priority(1)))
        #expect(throws: ArbiterError.olderRules) { try arbiter.declare(Storyboard(defaults: standard)) }
        // One that changes nothing is known to them.
        try arbiter.declare("a")
        let same = StoryboardPatch(
            defaults: StoryboardPatch.DefaultsChange(lease: .seconds(3), priority: .standard))
        #expect(throws: Never.self) { try arbiter.patch(same) }
        #expect(throws: Never.self) { try arbiter.start() }
        try arbiter.restart()
    }

    @Test(arguments: [-1_000, -1, 0, 1, 1_000]) func `a place keeps its order and its priority`(value: Int) throws {
        let priority = try #require(Priority(value))
        for order in [1, 2, 1 << 40] as [UInt64] {
            let place = LinePlace(RequestOrder(rawValue: order), priority)
            #expect(place.order.rawValue == order)
            #expect(place.priority == priority)
            #expect(place < LinePlace(RequestOrder(rawValue: order + 1), priority))
            #expect(place < .behindAll(of: priority) && place < .end)
            if let lower = Priority(value - 1) { #expect(place < LinePlace(RequestOrder(rawValue: 1), lower)) }
        }
        #expect(Priority(1_001) == nil && Priority(-1_001) == nil)
    }
}
