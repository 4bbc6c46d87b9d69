// Interruptions: a ticket that may not wait ends what is in its way, if that consents, and if the ticket is granted then.

/// A ticket, or a request for one, that interrupts what is in its way.
struct Interrupter {
    let request: TransitionRequest
    let scope: Scope
    let place: LinePlace
    /// The last fence that had been given when it was asked for.
    let fence: Fence
    /// The ticket; `nil` for a request.
    let id: TransitionID?
}

/// What a ticket interrupts.
struct PlannedInterruption {
    /// All in the way of the ticket, in the order of the line, also those that are being interrupted already.
    let victims: [Transition]
    /// The storyboard once they have ended; not the whole scene, of which a copy would be kept while it changes.
    let storyboard: Storyboard
    /// What the operation of the ticket changes then; `nil` if it has none.
    let plan: OperationPlan?

    /// Those whose interruption begins.
    var new: [Transition] { victims.filter { $0.interruption == nil } }

    /// How long those that run go on whose interruption begins in one step: for the longest time that one of them has.
    var grace: Duration { new.filter { $0.state == .running }.compactMap(\.consent?.grace).max() ?? .zero }

    /// Whether all of them end in this step.
    var isImmediate: Bool { grace == .zero && victims.allSatisfy { $0.interruption == nil } }
}

extension ArbiterStateMachine {
    /// What a queued transition interrupts now; `nil` if nothing.
    func plannedInterruption(for ticket: Transition) -> PlannedInterruption? {
        guard ticket.isQueued, ticket.unmet == nil, ticket.request.interrupts, let fence = ticket.fenceWhenAsked else {
            return nil
        }
        return plannedInterruption(
            for: Interrupter(
                request: ticket.request, scope: ticket.scope, place: ticket.place, fence: fence, id: ticket.id))
    }

    /// What a ticket interrupts now; `nil` if nothing more has to be interrupted for it, or if it would not be granted then.
    func plannedInterruption(for asker: Interrupter) -> PlannedInterruption? {
        guard !durable.isHoldingGrants, let scene = durable.scenes[asker.request.scene] else { return nil }
        let claim = scene.storyboard.claim(of: asker.request, scope: asker.scope)
        let holders = scene.queue.yielding(to: claim, at: asker.place) { id in
            guard let holder = durable.transitions[id] else { return false }
            return holder.consents(to: asker.place.priority, askedAt: asker.fence)
                || holder.interruption != nil && holder.interruption?.by == asker.id
        }
        guard let holders else { return nil }
        let victims = holders.compactMap { scene.queue[$0] }.compactMap { durable.transitions[$0.id] }
        return grant(of: asker, at: claim.paths, without: victims, in: scene)
    }

    /// The grant of a ticket once those in its way have been interrupted; `nil` if it is not granted then.
    private func grant(
        of asker: Interrupter, at paths: [ScopePath], without victims: [Transition], in current: Scene
    ) -> PlannedInterruption? {
        var scene = current
        var hasMoved = false
        for victim in victims {
            guard let grant = victim.grant, let operation = victim.request.operation,
                let plan = try? scene.storyboard.plan(operation, under: grant.rules)
            else { continue }
            scene.reserved.subtract(plan.arriving)
            guard victim.outcomeOfInterruption == .completed else { continue }
            let done = scene.carryOut(plan, introducedBy: grant.animation?.type)
            for id in done.displaced {
                if let moved = durable.transitions[id] { scene.refile(moved) }
            }
            let returned = scene.judge(done.touched) { durable.transitions[$0] }.contains { $0.unmet == nil }
            hasMoved = hasMoved || !done.displaced.isEmpty || returned
        }
        guard case .granted(let plan) = scene.turn(of: asker.request, scope: asker.scope, under: durable.rules) else {
            return nil
        }
        let planned = PlannedInterruption(victims: victims, storyboard: scene.storyboard, plan: plan)
        // Where nothing moves, only the victims are in the way.
        let claim = scene.storyboard.claim(of: asker.request, scope: asker.scope)
        guard hasMoved || claim.paths != paths else { return planned }
        for victim in victims { scene.leave(victim) }
        return scene.queue.isFree(claim, at: asker.place) ? planned : nil
    }

    /// Interrupts what is in the way of a ticket, in the order of the line.
    mutating func carryOut(_ planned: PlannedInterruption, for ticket: Transition, in step: inout Step) {
        let interruption = Interruption(by: ticket.id, client: ticket.request.client, grace: planned.grace)
        for victim in planned.new {
            if victim.state == .running, interruption.grace > .zero {
                beginInterruption(of: victim, interruption, in: &step)
            } else {
                end(
                    victim.id, as: TransitionOutcome(victim.outcomeOfInterruption), interruptedBy: ticket.id, in: &step)
            }
        }
    }

    private mutating func beginInterruption(
        of victim: Transition, _ interruption: Interruption, in step: inout Step
    ) {
        durable.transitions[victim.id]?.interrupt(interruption)
        durable.scenes[victim.request.scene]?.queue.noteInterruption(of: victim.place)
        guard let interrupted = durable.transitions[victim.id] else { return }
        momentary.deadlines.schedule(.interruption(victim.id), at: step.now.advanced(by: interruption.grace))
        tell(.interrupting, interrupted, in: &step)
        wakeWaiters(of: interrupted, in: &step)
    }

    /// A ticket interrupts what is in its way, later than in the step of its request.
    mutating func interrupt(for id: TransitionID, in step: inout Step) {
        guard let ticket = durable.transitions[id], let planned = plannedInterruption(for: ticket) else { return }
        step.keep(.interrupt(id))
        carryOut(planned, for: ticket, in: &step)
        settle(ticket.request.scene, step: &step)
        prune(at: step.now)
    }

    /// The grace of an interrupted transition is over.
    mutating func endInterrupted(_ id: TransitionID, in step: inout Step) {
        guard let transition = durable.transitions[id], let interruption = transition.interruption else { return }
        step.keep(.endInterrupted(id))
        endAndGrant(
            id, as: TransitionOutcome(transition.outcomeOfInterruption), interruptedBy: interruption.by, in: &step)
    }
}

// MARK: - When tickets are judged again

extension ArbiterStateMachine {
    /// Notes tickets that may interrupt somebody now; they are judged in this turn, once what happens has happened.
    ///
    /// In a replay nobody is judged: whom the machine that made the records judged then, it says in records of its own.
    mutating func reconsider(_ ids: some Sequence<TransitionID>) { momentary.reconsidered.formUnion(ids) }

    /// Interrupts for those noted whose owners are there, in the order of the line.
    package mutating func interruptForReconsidered(in step: inout Step) {
        while !momentary.reconsidered.isEmpty {
            let tickets = momentary.reconsidered.compactMap { durable.transitions[$0] }.sorted { $0.place < $1.place }
            momentary.reconsidered = []
            for ticket in tickets where isAttended(ticket) { interrupt(for: ticket.id, in: &step) }
        }
    }

    private func isAttended(_ ticket: Transition) -> Bool {
        if let session = ticket.session, let life = momentary.lives[session], life.leaving == nil { return true }
        return momentary.attention[ticket.id].map { $0.ownersWaiting > 0 } ?? false
    }
}
