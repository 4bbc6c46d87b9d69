import Testing

@testable import ArbiterCore

/// Coalescing: of two tickets with the same key, only one remains.
struct CoalescingTests {
    static func request(
        _ key: String = "selection", keep: Coalescing.Keep = .latest, among: Coalescing.Among = .queued,
        scope: Scope? = nil
    ) throws -> TransitionRequest {
        TransitionRequest(
            scope: scope, coalescing: Coalescing(key: try #require(CoalescingKey(key)), keep: keep, among: among))
    }

    @Test func `the latest ticket takes the place of the older one, which ends as superseded by it`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request(), parked: true)
        let newer = try arbiter.serialize(Self.request())
        #expect(arbiter.outcome(of: older) == .superseded(by: newer.id))
        #expect(arbiter.answer(to: older)?.state == .ended)
        let behind = try arbiter.serialize()
        #expect(arbiter.view(of: newer)?.position == 1)
        #expect(arbiter.view(of: behind)?.position == 2)
        try arbiter.end(holder)
        #expect(arbiter.state(of: newer) == .running)
        #expect(arbiter.state(of: behind) == .queued)
    }

    @Test func `of three tickets with one key, one survives`() throws {
        for keep in Coalescing.Keep.allCases {
            var arbiter = Arbiter()
            try arbiter.declare("split(left[a]|right[b])")
            let holder = try arbiter.start()
            let left = Scope.controllers([id("left")])
            let first = try arbiter.serialize(Self.request(scope: left))
            let between = try arbiter.serialize(TransitionRequest(scope: left))
            let second = try arbiter.serialize(Self.request(scope: left))
            #expect(arbiter.state(of: first) == .queued, "another one separates them")
            try arbiter.end(between, as: .cancelled)
            let third = try arbiter.serialize(Self.request(keep: keep, scope: left))
            switch keep {
            case .latest:
                #expect(arbiter.outcome(of: first) == .superseded(by: third.id))
                #expect(arbiter.outcome(of: second) == .superseded(by: third.id))
                #expect(arbiter.view(of: third)?.position == 1)
            case .first:
                #expect(arbiter.outcome(of: third) == .superseded(by: first.id))
                #expect(arbiter.state(of: second) == .queued, "only the new one gives way")
            }
            try arbiter.end(holder)
        }
    }

    @Test func `a ticket can take a place before a later ticket that does not conflict`() throws {
        var arbiter = Arbiter()
        try arbiter.declare("split(left[a]|right[b])")
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request(scope: .controllers([id("left")])))
        let other = try arbiter.serialize(TransitionRequest(scope: .controllers([id("right")])))
        let newer = try arbiter.serialize(Self.request(scope: .controllers([id("left")])))
        #expect(arbiter.outcome(of: older) == .superseded(by: newer.id))
        #expect(arbiter.view(of: newer)?.position == 1)
        #expect(arbiter.view(of: other)?.position == 2)
        try arbiter.end(holder)
        let machine = try ArbiterStateMachine(snapshot: arbiter.machine.snapshot())
        #expect(machine.snapshot() == arbiter.machine.snapshot())
        #expect(arbiter.state(of: newer) == .running)
        #expect(arbiter.state(of: other) == .running)
    }

    @Test func `with keep first, the newer ticket ends as superseded`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request())
        let newer = try arbiter.serialize(Self.request(keep: .first), parked: true)
        #expect(arbiter.outcome(of: newer) == .superseded(by: older.id))
        try arbiter.end(holder)
        #expect(arbiter.state(of: older) == .running)
    }

    @Test func `a running transition is not coalesced`() throws {
        var arbiter = Arbiter()
        let running = try arbiter.serialize(Self.request())
        let newer = try arbiter.serialize(Self.request())
        #expect(arbiter.state(of: running) == .running)
        #expect(arbiter.state(of: newer) == .queued)
    }

    @Test func `a ticket is not coalesced across a conflicting ticket`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request())
        _ = try arbiter.serialize(Self.request("other"))
        let newer = try arbiter.serialize(Self.request())
        #expect(arbiter.state(of: older) == .queued)
        #expect(arbiter.state(of: newer) == .queued)
        let newest = try arbiter.serialize(Self.request())
        #expect(arbiter.outcome(of: newer) == .superseded(by: newest.id), "no conflicting ticket is between")
        try arbiter.end(holder)
        #expect(arbiter.state(of: older) == .running)
    }

    // Under the first rules, a transition that runs separated a ticket from a newer one as well.

    @Test(arguments: Rules.allCases)
    func `what runs with the key of a ticket, and conflicts with the newer one, separates nothing`(rules: Rules) throws
    {
        var arbiter = Arbiter(rules: rules)
        try arbiter.declare("split(left[a]|right[b])")
        let holder = try arbiter.start(TransitionRequest(scope: .controllers([id("left")])))
        let older = try arbiter.serialize(Self.request(scope: .controllers([id("left")])))
        let running = try arbiter.start(Self.request(scope: .controllers([id("right")])))
        let newer = try arbiter.serialize(Self.request(scope: .controllers(ids("left right"))))
        #expect(arbiter.state(of: older) == (rules == .first ? .queued : .ended))
        try arbiter.end(holder)
        if rules == .first { try arbiter.end(older) }
        #expect(arbiter.state(of: newer) == .queued)
        try arbiter.end(running)
        #expect(arbiter.state(of: newer) == .running)
    }

    @Test func `a ticket is not coalesced across a completed ticket with its key`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request())
        let between = try arbiter.serialize(Self.request("other"))
        let ended = try arbiter.serialize(Self.request())
        try arbiter.end(ended)
        try arbiter.end(between, as: .cancelled)
        let newer = try arbiter.serialize(Self.request())
        #expect(arbiter.state(of: older) == .queued)
        #expect(arbiter.view(of: newer)?.position == 3)
        try arbiter.end(holder)
        try arbiter.end(older)
        #expect(arbiter.outcome(of: ended) == .completed)
        #expect(arbiter.state(of: newer) == .running)
    }

    @Test(arguments: Rules.allCases)
    func `what runs with the key and the scope of the newer one separates nothing`(rules: Rules) throws {
        var arbiter = Arbiter(rules: rules)
        try arbiter.declare("split(left|right)")
        let right = Scope.controllers([id("right")])
        _ = try arbiter.start(TransitionRequest(scope: .controllers([id("left")])))
        let older = try arbiter.serialize(Self.request(scope: .controllers([id("left")])))
        let other = try arbiter.start(TransitionRequest(scope: right))
        let running = try arbiter.serialize(Self.request(scope: right))
        try arbiter.end(other)
        #expect(arbiter.state(of: running) == .running)
        let newer = try arbiter.serialize(Self.request(scope: right))
        #expect(arbiter.state(of: older) == (rules == .first ? .queued : .ended))
        #expect(arbiter.state(of: newer) == .queued)
        try arbiter.end(running)
        #expect(arbiter.state(of: newer) == .running)
    }

    @Test func `the one that stays has no lower priority than the one that goes`() throws {
        for (keep, gone) in [(Coalescing.Keep.latest, 1), (.first, -1)] {
            for priority in -1...1 {
                var arbiter = Arbiter()
                let holder = try arbiter.start()
                let older = try arbiter.serialize(Self.request(keep: keep))
                var request = try Self.request(keep: keep)
                request.priority = Priority(priority)
                let newer = try arbiter.serialize(request)
                let isCoalesced = priority == 0 || priority == gone
                let loser = keep == .latest ? older : newer
                #expect((arbiter.state(of: loser) == .ended) == isCoalesced, "\(keep), priority \(priority)")
                try arbiter.end(holder)
                let urgent = priority > 0 || keep == .latest && isCoalesced ? newer : older
                #expect(arbiter.state(of: urgent) == .running, "\(keep), priority \(priority)")
            }
        }
    }

    @Test func `one of a higher priority counts as if it had been asked for when the one it replaces was`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request())
        func urgent(_ key: String?) throws -> TransitionRequest {
            var request = try key.map { try Self.request($0) } ?? TransitionRequest()
            request.priority = Priority(5)
            return request
        }
        let newer = try arbiter.serialize(urgent("selection"))
        #expect(arbiter.outcome(of: older) == .superseded(by: newer.id))
        let late = try arbiter.serialize(Self.request("late"))
        let other = try arbiter.serialize(urgent(nil))
        // What is before it in the line, and would be overtaken, separates them.
        let replacing = try arbiter.serialize(urgent("late"))
        #expect(arbiter.state(of: late) == .queued)
        try arbiter.end(holder)
        for next in [newer, other, replacing, late] {
            #expect(arbiter.state(of: next) == .running)
            try arbiter.end(next)
        }
    }

    @Test func `a completed ticket is not superseded`() throws {
        var arbiter = Arbiter()
        let holder = try arbiter.start()
        let older = try arbiter.serialize(Self.request())
        try arbiter.end(older)
        let newer = try arbiter.serialize(Self.request())
        #expect(arbiter.state(of: newer) == .queued)
        try arbiter.end(holder)
        #expect(arbiter.outcome(of: older) == .completed)
        #expect(arbiter.state(of: newer) == .running)
    }

    @Test(arguments: [Coalescing.Keep.latest, .first])
    func `a burst leaves at most one running and one queued transition`(keep: Coalescing.Keep) throws {
        var arbiter = Arbiter()
        for _ in 0..<100 {
            _ = try arbiter.serialize(Self.request(keep: keep))
            let summary = try #require(arbiter.machine.scenes().first)
            #expect(summary.running == 1)
            #expect(summary.queued <= 1)
        }
    }
}
