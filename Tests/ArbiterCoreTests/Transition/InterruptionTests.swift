import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// Interruptions: a ticket ends what is in its way, if that consents, and if the ticket is granted then.
struct InterruptionTests {
    private var arbiter = Arbiter()

    private static func consenting(
        _ by: Consent.Interrupters = .higher, grace: Duration = .seconds(1), as outcome: EndOutcome = .cancelled,
        scope: Scope? = nil
    ) -> TransitionRequest {
        TransitionRequest(
            scope: scope, interruptibility: .allowed(Consent(by: by, grace: grace, outcome: outcome)))
    }

    private static func urgent(_ priority: Int = 100, scope: Scope? = nil) -> TransitionRequest {
        TransitionRequest(
            client: ClientName("alarm"), scope: scope, priority: Priority(priority), interrupts: true)
    }

    @Test mutating func `an emergency ends an advertisement, and nobody loses a ticket`() throws {
        let advertisement = try arbiter.start(Self.consenting())
        let tickets = try (0..<5).map { _ in try arbiter.serialize(ticket: .seconds(60)) }
        let emergency = try arbiter.serialize(Self.urgent(), parked: true)
        #expect(arbiter.view(of: advertisement)?.transition.interruption?.by == emergency.id)
        #expect(arbiter.view(of: advertisement)?.transition.interruption?.client == ClientName("alarm"))
        #expect(arbiter.view(of: advertisement)?.remaining.grace == .seconds(1))
        arbiter.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(arbiter.state(of: advertisement) == .running)
        arbiter.advance(by: .nanoseconds(1))
        #expect(arbiter.outcome(of: advertisement) == .cancelled)
        #expect(arbiter.answer(to: emergency)?.state == .running)
        #expect(tickets.map { arbiter.view(of: $0)?.position } == [1, 2, 3, 4, 5])
        // Its owner's own end is a repetition; the other outcome is not.
        #expect(try arbiter.end(advertisement, as: .cancelled).outcome == .cancelled)
        #expect(throws: ArbiterError.self) { try arbiter.end(advertisement, as: .completed) }
        #expect(throws: ArbiterError.self) { try arbiter.renew(advertisement) }
    }

    @Test mutating func `without a grace the ticket is granted in the step of its request`() throws {
        let holder = try arbiter.start(Self.consenting(grace: .zero, as: .completed))
        let urgent = try arbiter.serialize(Self.urgent(1))
        #expect(arbiter.state(of: urgent) == .running)
        #expect(arbiter.outcome(of: holder) == .completed)
        let stages = arbiter.events.compactMap { if case .transition(let stage, _) = $0.kind { stage } else { nil } }
        #expect(stages == [.running, .ended, .running])
    }

    @Test mutating func `nobody is interrupted who has not consented, or not to that priority`() throws {
        for request in [TransitionRequest(), Self.consenting(.higher), Self.consenting(.equal)] {
            let holder = try arbiter.start(request)
            let ticket = try arbiter.serialize(Self.urgent(request.interruptibility?.consent?.by == .equal ? -1 : 0))
            #expect(arbiter.view(of: holder)?.transition.interruption == nil)
            #expect(arbiter.state(of: ticket) == .queued)
            try arbiter.end(holder)
            try arbiter.end(ticket)
        }
    }

    @Test mutating func `an equal that stood before it in the line has its turn`() throws {
        let first = try arbiter.start(Self.consenting(.equal))
        let second = try arbiter.serialize(Self.consenting(.equal), parked: true)
        let third = try arbiter.serialize(Self.urgent(0), parked: true)
        #expect(arbiter.view(of: first)?.transition.interruption == nil)
        try arbiter.end(first)
        #expect(arbiter.view(of: second)?.transition.interruption == nil)
        try arbiter.end(second)
        #expect(arbiter.state(of: third) == .running)
        // The newest route wins: what runs when it is asked for gives way.
        try arbiter.end(third)
        let route = try arbiter.start(Self.consenting(.equal))
        let newer = try arbiter.serialize(Self.urgent(0))
        #expect(arbiter.view(of: route)?.transition.interruption?.by == newer.id)
    }

    @Test mutating func `a ticket that replaces another one counts as asked for when that was`() throws {
        let holder = try arbiter.start()
        let equal = try arbiter.serialize(Self.consenting(.equal), parked: true)
        var coalesced = TransitionRequest(coalescing: Coalescing(key: CoalescingKey(unchecked: "r"), keep: .latest))
        _ = try arbiter.serialize(coalesced, parked: true)
        try arbiter.end(holder)
        coalesced.interrupts = true
        guard case .blocked = try dryRun(coalesced) else {
            Issue.record("it would interrupt")
            return
        }
        let newer = try arbiter.serialize(coalesced, parked: true)
        #expect(arbiter.view(of: equal)?.transition.interruption == nil)
        try arbiter.end(equal)
        #expect(arbiter.state(of: newer) == .running)
    }

    @Test mutating func `nobody is interrupted for one who waits for somebody else too`() throws {
        try arbiter.declare("split(left|right)")
        let (left, right) = (Scope.controllers([id("left")]), Scope.controllers([id("right")]))
        let consenting = try arbiter.start(Self.consenting(scope: left))
        let other = try arbiter.start(TransitionRequest(scope: right))
        let urgent = try arbiter.serialize(Self.urgent(), parked: true)
        let narrow = try arbiter.serialize(Self.urgent(1, scope: left))
        #expect(arbiter.view(of: consenting)?.transition.interruption == nil)
        // The narrow one waits for the urgent one, so it may interrupt nobody either.
        #expect(arbiter.view(of: narrow)?.blockers == [consenting.id, urgent.id])
        // It is judged again when what it waits for ends.
        try arbiter.end(other)
        #expect(arbiter.view(of: consenting)?.transition.interruption?.by == urgent.id)
        #expect(arbiter.journal.last?.record == .interrupt(urgent.id))
    }

    @Test mutating func `later it interrupts only while its owner is there`() throws {
        try arbiter.declare("split(left|right)")
        let (left, right) = (Scope.controllers([id("left")]), Scope.controllers([id("right")]))
        let consenting = try arbiter.start(Self.consenting(scope: left))
        let other = try arbiter.start(TransitionRequest(scope: right))
        let urgent = try arbiter.serialize(Self.urgent())
        try arbiter.end(other)
        #expect(arbiter.view(of: consenting)?.transition.interruption == nil)
        try arbiter.park(on: urgent)
        #expect(arbiter.view(of: consenting)?.transition.interruption?.by == urgent.id)
    }

    @Test mutating func `nobody is interrupted for one who would be rejected then`() throws {
        try arbiter.declare("nav[home]")
        var push = Self.consenting(as: .completed, scope: .operation)
        push.operation = .push(navigation: id("nav"), controller: try .outlined("a"))
        let pushing = try arbiter.start(push)
        var expecting = Self.urgent()
        expecting.expectations = [.controller(id("a"), is: .absent)]
        let first = try arbiter.serialize(expecting, parked: true)
        #expect(arbiter.view(of: pushing)?.transition.interruption == nil)
        expecting.expectations = [.controller(id("a"), is: .exists)]
        expecting.priority = Priority(200)
        let second = try arbiter.serialize(expecting, parked: true)
        #expect(arbiter.view(of: pushing)?.transition.interruption?.by == second.id)
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outline == "nav[home a]")
        #expect(arbiter.state(of: second) == .running && arbiter.state(of: first) == .queued)
    }

    @Test mutating func `those that run all get the longest grace, and a preparing one ends at once`() throws {
        try arbiter.declare("tabs{*a b c}")
        func scope(_ name: String) -> Scope { .controllers([id(name)]) }
        let short = try arbiter.start(Self.consenting(grace: .zero, scope: scope("a")))
        let long = try arbiter.start(Self.consenting(grace: .seconds(3), scope: scope("b")))
        _ = try arbiter.openSession(client: "view")
        var waiting = Self.consenting(grace: .seconds(9), scope: scope("c"))
        waiting.participants = [Participant(client: try #require(ClientName("view")))]
        waiting.ready = .seconds(60)
        let preparing = try arbiter.start(waiting)
        #expect(arbiter.state(of: preparing) == .preparing)
        let urgent = try arbiter.serialize(Self.urgent(), parked: true)
        #expect(arbiter.outcome(of: preparing) == .cancelled)
        #expect(arbiter.view(of: short)?.remaining.grace == .seconds(3))
        arbiter.advance(by: .seconds(1))
        // One more that asks does not lengthen it, and changes nobody's grace.
        _ = try arbiter.serialize(Self.urgent(200, scope: scope("a")), parked: true)
        #expect(arbiter.view(of: short)?.transition.interruption?.by == urgent.id)
        arbiter.advance(by: .seconds(2))
        #expect(arbiter.outcome(of: short) == .cancelled && arbiter.outcome(of: long) == .cancelled)
    }

    @Test mutating func `every parked await of its owner is answered, or the first that comes`() throws {
        let holder = try arbiter.start(Self.consenting(grace: .seconds(5)))
        let parked = try [Milestone.ended, .interrupted].map { try arbiter.park(on: holder, until: $0) }
        let stranger = try arbiter.park(on: holder, until: .ended, asOwner: false)
        _ = try arbiter.serialize(Self.urgent(), parked: true)
        #expect(parked.allSatisfy { arbiter.answers[$0]?.transition.interruption != nil })
        #expect(arbiter.answers[stranger] == nil)
        // It knows now, so the next one waits for the end.
        let next = try arbiter.park(on: holder, until: .ended)
        #expect(arbiter.stillParked.contains(next))
        // After a restart it is told again, and the grace begins anew.
        arbiter.advance(by: .seconds(4))
        try arbiter.restart()
        #expect(arbiter.view(of: holder)?.remaining.grace == .seconds(5))
        let again = try arbiter.park(on: holder, until: .ended)
        #expect(arbiter.answers[again]?.transition.interruption != nil)
        let last = try arbiter.park(on: holder, until: .ended)
        #expect(arbiter.stillParked.contains(last))
    }

    @Test mutating func `within the grace its owner goes on, but is given no operation`() throws {
        try arbiter.declare("nav[home]")
        let holder = try arbiter.start(Self.consenting(grace: .seconds(5)))
        let ticket = try arbiter.serialize(Self.urgent())
        #expect(throws: ArbiterError.self) {
            try arbiter.give(holder, .push(navigation: id("nav"), controller: try .outlined("a")))
        }
        try arbiter.renew(holder)
        // The end of the ticket takes nothing back.
        try arbiter.end(ticket, as: .cancelled)
        #expect(arbiter.view(of: holder)?.transition.interruption?.by == ticket.id)
        let view = try arbiter.end(holder)
        #expect(view.outcome == .completed)
        if case .ended(let ending) = view.transition.phase { #expect(ending.interruptedBy == nil) }
        arbiter.advance(by: .seconds(5))
    }

    @Test(arguments: [GestureDecision.finish, .cancel])
    mutating func `a gesture that was decided decides how it ends`(decision: GestureDecision) throws {
        var request = Self.consenting(as: decision == .finish ? .cancelled : .completed)
        request.isInteractive = true
        let holder = try arbiter.start(request)
        try arbiter.release(holder, GestureRelease(decision: decision))
        _ = try arbiter.serialize(Self.urgent())
        arbiter.advance(by: .seconds(1))
        #expect(arbiter.outcome(of: holder) == (decision == .finish ? .completed : .cancelled))
    }

    @Test mutating func `a scene consents for those that say nothing`() throws {
        let consent = Consent(by: .higher, grace: .zero)
        try arbiter.declare(Storyboard(defaults: Storyboard.Defaults(consent: consent)))
        let silent = try arbiter.start()
        let urgent = try arbiter.serialize(Self.urgent())
        #expect(arbiter.outcome(of: silent) == .cancelled)
        try arbiter.end(urgent)
        let firm = try arbiter.start(TransitionRequest(interruptibility: .never))
        _ = try arbiter.serialize(Self.urgent())
        // A consent is resolved when it is asked for.
        try arbiter.patch(StoryboardPatch(defaults: StoryboardPatch.DefaultsChange(interruptibility: .never)))
        #expect(arbiter.state(of: firm) == .running)
        try arbiter.restart()
        #expect(arbiter.machine.brokenInvariant() == nil)
    }

    @Test mutating func `while grants are held nobody is interrupted`() throws {
        let holder = try arbiter.start(Self.consenting(grace: .zero))
        try arbiter.perform { machine, step in machine.distrust(holdsGrants: true, in: &step) }
        let session = try arbiter.openSession(timeToLive: .seconds(3600))
        var request = Self.urgent()
        request.session = session.token
        request.ticket = .seconds(3600)
        let urgent = try arbiter.serialize(request)
        try arbiter.park(on: holder, until: .ended)
        #expect(arbiter.state(of: holder) == .running)
        try arbiter.perform { machine, step in machine.resume(in: &step) }
        #expect(arbiter.outcome(of: holder) == .cancelled)
        #expect(arbiter.state(of: urgent) == .running)
    }

    @Test mutating func `a dry run says whom it would interrupt`() throws {
        let holder = try arbiter.start(Self.consenting(grace: .seconds(1)))
        guard case .interrupting([holder.id], blockers: [holder.id]) = try dryRun(Self.urgent()) else {
            Issue.record("it would not wait for an interruption")
            return
        }
        try arbiter.end(holder)
        let yielding = try arbiter.start(Self.consenting(grace: .zero))
        guard case .grantedInterrupting([yielding.id], _) = try dryRun(Self.urgent()) else {
            Issue.record("it would not be granted at once")
            return
        }
        guard case .blocked(by: [yielding.id]) = try dryRun(Self.urgent(0)) else {
            Issue.record("it would interrupt")
            return
        }
    }

    private func dryRun(_ request: TransitionRequest) throws -> DryRun.Outcome {
        try arbiter.dryRun(request, isSerialized: true).outcome
    }

    @Test func `the first rules know no interruptions`() throws {
        var arbiter = Arbiter(rules: .first)
        #expect(throws: ArbiterError.olderRules) { try arbiter.serialize(TransitionRequest(interrupts: true)) }
        #expect(throws: ArbiterError.olderRules) { try arbiter.start(TransitionRequest(interruptibility: .never)) }
        let defaults = Storyboard.Defaults(consent: Consent(by: .equal))
        #expect(throws: ArbiterError.olderRules) { try arbiter.declare(Storyboard(defaults: defaults)) }
        try arbiter.declare("a")
        let same = StoryboardPatch(
            defaults: StoryboardPatch.DefaultsChange(lease: .seconds(3), interruptibility: .never))
        #expect(throws: Never.self) { try arbiter.patch(same) }
    }
}
