// Dry runs: what would come of a request now.

/// What would come of a `start` or `serialize` now, if it were not refused.
package struct DryRun: Hashable, Sendable {
    package let scene: SceneName
    /// What it would lock; a request without a scope gets the scene's default.
    package let scope: Scope
    /// The revision of the hierarchy now.
    package let revision: Revision
    package let outcome: Outcome

    package enum Outcome: Hashable, Sendable {
        /// It would be granted.
        case granted(Preview)
        /// It would complete at once: its operation would change nothing.
        case noop
        /// Unfinished transitions are in the way: granted ones first, at most `Limits.blockersShown`.
        case blocked(by: [TransitionID])
        /// It would wait until these have been interrupted, of whom at most `Limits.interruptedShown` are named, and those
        /// whose interruption has begun already.
        case interrupting([TransitionID], blockers: [TransitionID])
        /// It would interrupt these at once, and be granted.
        case grantedInterrupting([TransitionID], Preview)
        /// It would wait outside the line until its conditions hold, of which this one fails.
        case setAside(FailedExpectation)
        /// Nothing is granted for so long, because clients may hold leases that the journal lost.
        case withheld(for: Duration)
        /// It would end: an older ticket with its coalescing key remains.
        case superseded(by: TransitionID)
    }

    /// What a granted transition would be, and what it would change if it is completed.
    package struct Preview: Hashable, Sendable {
        /// What its segue would become; `nil` if its operation is no segue.
        package let resolved: [ResolvedSegue]
        /// The resolved animation; `nil` if there is nothing to animate.
        package let animation: Animation?
        /// The effect of its operation; `nil` if it has none.
        package let plan: OperationPlan?
        /// Whom it would wait for: its participants, and those who guard what it removes.
        package let participants: [Participant]

        /// The appearance events at its beginning, and those at its end if it is completed.
        package var appearance: [AppearanceEvent] { plan.map { $0.beginning + $0.ending(isCompleted: true) } ?? [] }
    }
}

extension ArbiterStateMachine {
    /// What would come of a request now.
    ///
    /// Nothing changes (see `coalesced`), so an idempotency key has no meaning.
    ///
    /// - Parameters:
    ///   - request: what the client would request.
    ///   - isSerialized: whether with `serialize`; otherwise with `start`.
    ///   - now: the present.
    /// - Returns: what would come of it; transitions that are in the way and grants that are withheld are no refusal.
    /// - Throws: every other refusal of the request; that of a `start` also where the turn of a `serialize` would come at
    ///   once and end it as rejected.
    package mutating func dryRun(
        _ request: TransitionRequest, isSerialized: Bool, at now: Instant
    ) throws(ArbiterError) -> DryRun {
        if let unbounded = withoutIdleBound(request) {
            return try dryRun(unbounded, isSerialized: isSerialized, at: now)
        }
        if let token = request.session { _ = try session(token) }
        try checkRules(request.neededRules)
        let outcome = try isSerialized ? outcomeOfSerialize(request, at: now) : outcomeOfStart(request, at: now)
        let scene = durable.scenes[request.scene] ?? unusedScene
        var scope = scene.resolvedScope(of: request)
        if case .anyOf = scope, case .granted = outcome,
            let free = scene.queue.freePath(of: scene.claim(of: request), at: scene.lastPlace(for: request))
        {
            scope = .controllers(free)
        }
        return DryRun(
            scene: request.scene, scope: scope, revision: scene.numbers.revision, outcome: outcome)
    }

    private func outcomeOfStart(
        _ request: TransitionRequest, at now: Instant
    ) throws(ArbiterError) -> DryRun.Outcome {
        if let withheld = withheld(at: now) { return withheld }
        let outcome = try outcomeOfTurn(request, at: now)
        // As with `start`, transitions in the way are reported before a limit that is reached.
        if case .blocked = outcome { return outcome }
        if case .setAside(let unmet) = outcome { throw .expectationFailed(unmet) }
        try admit(request)
        return outcome
    }

    private mutating func outcomeOfSerialize(
        _ request: TransitionRequest, at now: Instant
    ) throws(ArbiterError) -> DryRun.Outcome {
        try admit(request)
        let coalesced = coalesced(request)
        try checkMayWait(request, insteadOf: coalesced?.replaced ?? [])
        try checkMayWaitForState(request, insteadOf: coalesced)
        switch coalesced {
        case .givesWay(let older): return .superseded(by: older.id)
        case .takesOver(let older):
            if let withheld = withheld(at: now) { return withheld }
            return try without(older.filter { !$0.isQueued }).outcome(of: request, takingOver: older)
        case nil:
            if let withheld = withheld(at: now) { return withheld }
            let outcome = try outcomeOfTurn(request, at: now)
            guard case .blocked(let blockers) = outcome else { return outcome }
            return interruption(by: request, insteadOf: nil, blockers) ?? outcome
        }
    }

    /// What would come of a request that takes over the place of older tickets.
    private func outcome(
        of request: TransitionRequest, takingOver older: [Transition]
    ) throws(ArbiterError) -> DryRun.Outcome {
        if let blockers = blockers(of: request, takingOver: older) {
            return interruption(by: request, insteadOf: older[0], blockers) ?? .blocked(by: blockers)
        }
        return preview(of: try possibleTurn(of: request), request)
    }

    /// The arbiter with a scene as it would be after the end of transitions that prepare.
    private func without(_ preparing: [Transition]) -> ArbiterStateMachine {
        guard let name = preparing.first?.request.scene, var scene = durable.scenes[name] else { return self }
        for transition in preparing {
            if let grant = transition.grant, let operation = transition.request.operation,
                let plan = try? scene.storyboard.plan(operation, under: grant.rules)
            {
                scene.reserved.subtract(plan.arriving)
            }
            scene.leave(transition)
        }
        var left = self
        left.durable.scenes[name] = scene
        return left
    }

    /// What a request would interrupt at the place of a ticket that it replaces, or at the last one.
    private func interruption(
        by request: TransitionRequest, insteadOf replaced: Transition?, _ blockers: [TransitionID]
    ) -> DryRun.Outcome? {
        guard request.interrupts, let scene = durable.scenes[request.scene] else { return nil }
        let asker = Interrupter(
            request: request, scope: scene.resolvedScope(of: request),
            place: replaced.map { place(of: request, countingFrom: $0.place.order) } ?? scene.lastPlace(for: request),
            fence: replaced?.fenceWhenAsked ?? durable.lastFence, id: nil)
        guard let planned = plannedInterruption(for: asker) else { return nil }
        let ids = planned.new.prefix(Limits.interruptedShown).map(\.id)
        guard planned.isImmediate else { return .interrupting(ids, blockers: blockers) }
        var left = scene
        left.storyboard = planned.storyboard
        return .grantedInterrupting(ids, preview(of: planned.plan, request, in: left))
    }

    private func place(of request: TransitionRequest, countingFrom order: RequestOrder) -> LinePlace {
        let scene = durable.scenes[request.scene] ?? unusedScene
        return LinePlace(order, scene.resolvedPriority(of: request))
    }

    private func withheld(at now: Instant) -> DryRun.Outcome? {
        remainingHold(at: now).map { .withheld(for: $0) }
    }

    /// What would come of a request that takes the last place in the queue.
    private func outcomeOfTurn(_ request: TransitionRequest, at now: Instant) throws(ArbiterError) -> DryRun.Outcome {
        do throws(ArbiterError) {
            return preview(of: try checkIsPossible(request, at: now), request)
        } catch {
            guard case .busy(let busy) = error else { throw error }
            return .blocked(by: busy.blockers)
        }
    }

    /// The transitions in the way of a request that takes over the place of older tickets; `nil` if its turn comes at once.
    private func blockers(of request: TransitionRequest, takingOver older: [Transition]) -> [TransitionID]? {
        guard let order = older.first?.place.order, let scene = durable.scenes[request.scene] else { return nil }
        let (claim, place) = (scene.claim(of: request), place(of: request, countingFrom: order))
        guard !scene.queue.isFree(claim, at: place) else { return nil }
        return scene.queue.blockers(of: claim, at: place, limit: Limits.blockersShown)
    }

    private func preview(of turn: Turn, _ request: TransitionRequest) -> DryRun.Outcome {
        switch turn {
        case .granted(let plan):
            return .granted(preview(of: plan, request, in: durable.scenes[request.scene] ?? unusedScene))
        case .noop: return .noop
        case .setAside(let unmet): return .setAside(unmet)
        case .rejected(let rejection): preconditionFailure("\(rejection) is refused before")
        }
    }

    private func preview(
        of plan: OperationPlan?, _ request: TransitionRequest, in scene: Scene
    ) -> DryRun.Preview {
        DryRun.Preview(
            resolved: scene.storyboard.resolved(request.operation, under: durable.rules),
            animation: scene.animation(of: request, plan, changedBy: nil), plan: plan,
            participants: request.participants
                + (request.ignoresGuards ? [] : scene.guards(against: plan, of: sessionID(of: request.session)))
                .map(\.participant))
    }
}
