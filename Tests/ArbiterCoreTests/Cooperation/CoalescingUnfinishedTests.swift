import Testing

@testable import ArbiterCore

/// Coalescing beyond the queue: a double tap opens one screen, and the newest layout replaces one that has shown nothing.
struct CoalescingUnfinishedTests {
    private var arbiter = Arbiter()

    private static func request(
        _ keep: Coalescing.Keep, scope: [String]? = nil, priority: Int? = nil, waitsForPart: Bool = false
    ) throws -> TransitionRequest {
        var request = try CoalescingTests.request(
            keep: keep, among: .unfinished, scope: scope.map { .controllers($0.map(id)) })
        request.priority = priority.flatMap { Priority($0) }
        if waitsForPart { request.participants = [Participant(client: ClientName(unchecked: "part"))] }
        return request
    }

    @Test(arguments: [true, false])
    mutating func `a double tap opens one screen`(isStarted: Bool) throws {
        let request = try Self.request(.first)
        let first = try isStarted ? arbiter.start(request) : arbiter.serialize(request)
        let second = try arbiter.serialize(request)
        #expect(arbiter.outcome(of: second) == .superseded(by: first.id))
        guard case .superseded(first.id) = try arbiter.dryRun(request, isSerialized: true).outcome else {
            Issue.record("a dry run says otherwise")
            return
        }
        try arbiter.end(first)
        let later = try arbiter.serialize(request)
        #expect(arbiter.state(of: later) == .running)
        try arbiter.restart()
    }

    @Test mutating func `an open, a close and an open again are three`() throws {
        let open = try arbiter.start(Self.request(.first))
        let close = try arbiter.serialize(TransitionRequest())
        let again = try arbiter.serialize(Self.request(.first))
        #expect([open, close, again].map { arbiter.state(of: $0) } == [.running, .queued, .queued])
    }

    @Test mutating func `the newest layout replaces one that prepares, in its place`() throws {
        let layout = try arbiter.serialize(Self.request(.latest, waitsForPart: true))
        let fence = arbiter.fence(of: layout)
        let dryRun = try arbiter.dryRun(Self.request(.latest), isSerialized: true)
        guard case .granted = dryRun.outcome else {
            Issue.record("\(dryRun)")
            return
        }
        let newest = try arbiter.serialize(Self.request(.latest))
        #expect(arbiter.outcome(of: layout) == .superseded(by: newest.id))
        #expect(arbiter.fence(of: layout) == fence)
        #expect(arbiter.state(of: newest) == .running)
        let other = try arbiter.serialize(Self.request(.latest))
        #expect(arbiter.state(of: newest) == .running, "what runs is not replaced")
        #expect(arbiter.state(of: other) == .queued)
        try arbiter.restart()
    }

    @Test mutating func `what was ended or released before it ran is not replaced`() throws {
        let session = try arbiter.openSession(client: "part")
        try arbiter.declare("nav[list editor]")
        _ = try arbiter.guarding(["editor"], session)
        var request = try Self.request(.latest)
        request.operation = try .popTo(navigation: id("nav"), controller: id("list"))
        let ended = try arbiter.start(request)
        try arbiter.end(ended)
        let newer = try arbiter.serialize(request)
        #expect(arbiter.state(of: ended) == .preparing)
        try arbiter.ready(ended, client: "part", session)
        #expect(arbiter.outcome(of: newer) == .completed, "its turn came, and there was nothing left to pop")
        var swipe = try Self.request(.latest, waitsForPart: true)
        swipe.isInteractive = true
        let released = try arbiter.start(swipe)
        try arbiter.release(released, GestureRelease(decision: .finish))
        let late = try arbiter.serialize(Self.request(.latest))
        #expect(arbiter.state(of: released) == .preparing)
        #expect(arbiter.state(of: late) == .queued)
    }

    @Test mutating func `one that is cancelled or interrupted counts as absent`() throws {
        var swipe = try Self.request(.first)
        swipe.isInteractive = true
        swipe.interruptibility = .allowed(Consent(by: .higher, grace: .seconds(5)))
        let cancelled = try arbiter.start(swipe)
        try arbiter.release(cancelled, GestureRelease(decision: .cancel))
        let next = try arbiter.serialize(swipe)
        #expect(arbiter.state(of: next) == .queued)
        try arbiter.end(cancelled, as: .cancelled)
        #expect(arbiter.state(of: next) == .running)
        let urgent = try arbiter.serialize(TransitionRequest(priority: Priority(5), interrupts: true))
        #expect(arbiter.view(of: next)?.transition.interruption?.by == urgent.id)
        let last = try arbiter.serialize(swipe)
        #expect(arbiter.state(of: last) == .queued)
    }

    @Test(arguments: [
        (Coalescing.Keep.first, 1, 0, true), (.first, 0, 1, false), (.latest, 0, 1, true), (.latest, 1, 0, false),
    ])
    mutating func `the one that stays has no lower priority`(
        keep: Coalescing.Keep, older: Int, newer: Int, areOne: Bool
    ) throws {
        let first = try arbiter.serialize(Self.request(keep, priority: older, waitsForPart: true))
        let second = try arbiter.serialize(Self.request(keep, priority: newer))
        let gone = keep == .first ? second : first
        let kept = keep == .first ? first : second
        #expect(arbiter.outcome(of: gone) == (areOne ? .superseded(by: kept.id) : nil))
    }

    @Test mutating func `what is granted later and conflicts separates, and what is replaced does not`() throws {
        try arbiter.declare("split(left[a]|right[b])")
        let left = try arbiter.start(Self.request(.latest, scope: ["left"], waitsForPart: true))
        let right = try arbiter.start(Self.request(.latest, scope: ["right"], waitsForPart: true))
        let both = try arbiter.serialize(Self.request(.latest, scope: ["left", "right"], waitsForPart: true))
        #expect(arbiter.outcome(of: left) == .superseded(by: both.id))
        #expect(arbiter.outcome(of: right) == .superseded(by: both.id))
        #expect(arbiter.state(of: both) == .preparing)
        try arbiter.end(both, as: .cancelled)
        let older = try arbiter.serialize(Self.request(.first, scope: ["left"]))
        _ = try arbiter.start(TransitionRequest(scope: .controllers([id("right")])))
        let newer = try arbiter.serialize(Self.request(.first, scope: ["left", "right"]))
        #expect(arbiter.state(of: newer) == .queued)
        try arbiter.end(newer, as: .cancelled)
        let last = try arbiter.serialize(Self.request(.first, scope: ["left"]))
        #expect(arbiter.outcome(of: last) == .superseded(by: older.id))
    }

    @Test func `what prepares makes no room in the queue`() throws {
        var limits = Limits()
        limits.queuedPerScene = 1
        var arbiter = Arbiter(limits: limits)
        try arbiter.declare("split(left[a]|right[b c])")
        let layout = try arbiter.start(Self.request(.latest, scope: ["left"], waitsForPart: true))
        let right = try arbiter.start(TransitionRequest(scope: .controllers([id("right")])))
        _ = try arbiter.serialize(TransitionRequest(scope: .controllers([id("b")])))
        #expect(throws: ArbiterError.queueFull(limit: 1)) {
            try arbiter.serialize(Self.request(.latest, scope: ["left", "c"]))
        }
        #expect(arbiter.state(of: layout) == .preparing)
        let newest = try arbiter.serialize(Self.request(.latest, scope: ["left"]))
        #expect(arbiter.state(of: newest) == .running)
        #expect(arbiter.outcome(of: layout) == .superseded(by: newest.id))
        try arbiter.end(right)
    }

    @Test mutating func `one that was ended before its turn can be the one that stays`() throws {
        let holder = try arbiter.start()
        let first = try arbiter.serialize(Self.request(.first))
        try arbiter.end(first)
        let second = try arbiter.serialize(Self.request(.first))
        #expect(arbiter.outcome(of: second) == .superseded(by: first.id))
        try arbiter.end(holder)
        #expect(arbiter.outcome(of: first) == .completed)
    }

    @Test func `the first rules look only at the queue`() throws {
        var arbiter = Arbiter(rules: .first)
        let request = try Self.request(.first)
        #expect(throws: ArbiterError.olderRules) { try arbiter.serialize(request) }
    }
}
