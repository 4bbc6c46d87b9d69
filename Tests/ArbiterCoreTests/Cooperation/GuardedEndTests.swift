import Testing

@testable import ArbiterCore

/// Ends of transitions that wait for a guard's answer.
struct GuardedEndTests {
    private var arbiter = Arbiter()
    private let editor: Session

    init() throws {
        try arbiter.declare("nav[list editor~>sheet other]")
        editor = try arbiter.openSession(client: "editor", timeToLive: .seconds(3600))
    }

    private static func pop(by session: Session? = nil) throws -> TransitionRequest {
        TransitionRequest(
            operation: try .popTo(navigation: id("nav"), controller: id("list")), session: session?.token)
    }

    @Test mutating func `an end before the answer is remembered`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop(by: try arbiter.openSession(client: "owner"))
        request.lease = .seconds(1)
        request.maxHold = .milliseconds(500)
        request.ready = .seconds(60)
        request.interruptibility = .allowed(Consent(by: .higher))
        let owner = try arbiter.start(request)
        let next = try arbiter.serialize(TransitionRequest(ticket: .seconds(3600), interrupts: true))
        #expect(try arbiter.end(owner).state == .preparing)
        #expect(try arbiter.end(owner).state == .preparing, "once more is fine")
        #expect(arbiter.view(of: owner)?.leaseRemaining == nil)
        #expect(throws: ArbiterError.self) { try arbiter.end(owner, as: .cancelled) }
        arbiter.advance(by: .seconds(59))
        #expect(arbiter.state(of: owner) == .preparing, "no lease and no hold runs, and its session is over")
        try arbiter.restart()
        try arbiter.ready(owner, client: "editor", editor)
        #expect(arbiter.outcome(of: owner) == .completed)
        #expect(arbiter.state(of: next) == .running)
        #expect(arbiter.outline == "nav[list]")
    }

    @Test mutating func `a repeated end does not pass over those who are missing`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop()
        request.participants = [Participant(client: try #require(ClientName("other")), mayVeto: true)]
        request.onUnready = .abort
        let (owner, other) = (try arbiter.start(request), try arbiter.openSession(client: "other"))
        try arbiter.end(owner)
        try arbiter.ready(owner, client: "editor", editor)
        #expect(try arbiter.end(owner).state == .preparing)
        try arbiter.veto(owner, client: "other", other)
        #expect(arbiter.outline == "nav[list editor~>sheet other]")
    }

    @Test(arguments: [true, false])
    mutating func `an answer that completes what is forgotten at once shows it`(isGuards: Bool) throws {
        var limits = Limits()
        (limits.retainedCount, limits.retainedMaximum) = (0, 0)
        var small = Arbiter(limits: limits)
        try small.declare("nav[list editor]")
        let (one, other) = (try small.openSession(client: "one"), try small.openSession(client: "other"))
        _ = try small.guarding(["editor"], one)
        var request = try Self.pop()
        if !isGuards { request.participants = [Participant(client: try #require(other.client))] }
        let owner = try small.start(request)
        try small.end(owner)
        if !isGuards { try small.ready(owner, client: "one", one) }
        let last = try small.ready(owner, client: isGuards ? "one" : "other", isGuards ? one : other)
        #expect(last.outcome == .completed)
        try small.restart()
    }

    @Test(arguments: UnreadyAction.allCases)
    mutating func `a remembered end whose turn meets a guard prepares`(onSilence: UnreadyAction) throws {
        _ = try arbiter.guarding(["editor"], editor, onSilence: onSilence)
        let holder = try arbiter.start(TransitionRequest())
        var request = try Self.pop()
        request.participants = [Participant(client: try #require(ClientName("other")), isRequired: false)]
        let ticket = try arbiter.serialize(request)
        let next = try arbiter.serialize(TransitionRequest())
        try arbiter.end(ticket)
        try arbiter.end(holder)
        #expect(arbiter.state(of: ticket) == .preparing)
        #expect(arbiter.view(of: ticket)?.transition.hasRememberedEnd == true)
        try arbiter.restart()
        try arbiter.renew(next)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: ticket) == (onSilence == .abort ? .expired(.participants) : .completed))
        #expect(arbiter.outline == (onSilence == .abort ? "nav[list editor~>sheet other]" : "nav[list]"))
        #expect(arbiter.state(of: next) == .running)
    }

    @Test mutating func `a veto takes a remembered end back`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        let owner = try arbiter.start(Self.pop())
        try arbiter.end(owner)
        #expect(try arbiter.veto(owner, client: "editor", editor).state == .ended)
        #expect(arbiter.outline == "nav[list editor~>sheet other]")
        #expect(throws: ArbiterError.self) { try arbiter.end(owner) }
    }

    @Test mutating func `a remembered end does not consent to an interruption`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop()
        request.interruptibility = .allowed(Consent(by: .equal, grace: .zero))
        let (one, other) = (try arbiter.start(request), TransitionRequest(priority: Priority(5), interrupts: true))
        try arbiter.end(one)
        let ticket = try arbiter.serialize(other)
        #expect(arbiter.state(of: one) == .preparing)
        try arbiter.ready(one, client: "editor", editor)
        #expect(arbiter.outcome(of: one) == .completed)
        #expect(arbiter.state(of: ticket) == .running)
    }

    @Test mutating func `a guard that ends completes what was ended, and what waits is granted`() throws {
        _ = try arbiter.guarding(["editor"], editor, onSilence: .abort)
        let owner = try arbiter.start(Self.pop())
        let next = try arbiter.serialize(TransitionRequest())
        try arbiter.end(owner)
        try arbiter.endSession(editor)
        #expect(arbiter.outcome(of: owner) == .completed)
        #expect(arbiter.state(of: next) == .running)
    }

    @Test mutating func `nothing that expires while it prepares is applied`() throws {
        _ = try arbiter.guarding(["editor"], editor)
        var request = try Self.pop()
        request.lease = .milliseconds(500)
        request.onExpiry = .complete
        let owner = try arbiter.start(request)
        arbiter.advance(by: .milliseconds(500))
        #expect(arbiter.outcome(of: owner) == .expired(.lease))
        #expect(arbiter.outline == "nav[list editor~>sheet other]")
    }
}
