// Grants and ends of transitions.

extension ArbiterStateMachine {
    /// Grants every transition of the scene whose turn has come.
    ///
    /// A transition that is not possible or would change nothing ends instead. One that its owner has already ended
    /// completes at once.
    ///
    /// - Parameters:
    ///   - scene: the scene.
    ///   - asker: the transition that this turn answers; its owner need not claim it.
    ///   - step: the turn.
    mutating func grantWhatIsFree(in scene: SceneName, asker: TransitionID? = nil, step: inout Step) {
        while !durable.isHoldingGrants, let id = durable.scenes[scene]?.queue.grantNext(under: durable.rules) {
            guard let transition = durable.transitions[id], case .queued(let queued) = transition.phase else {
                preconditionFailure("\(id) is granted but was not queued")
            }
            switch turn(of: transition) {
            case .rejected(let rejection):
                end(id, as: .rejected(rejection), in: &step)
            case .setAside(let unmet):
                setAside(transition, because: unmet, asker: asker, in: &step)
            case .noop:
                end(id, as: .completed, in: &step)
            case .granted(let plan):
                // Asked so, the scene is copied only where somebody guards something.
                let isGuarded = durable.scenes[scene]?.guards.isEmpty == false && !transition.request.ignoresGuards
                let guards =
                    isGuarded ? durable.scenes[scene]?.guards(against: plan, of: transition.session) ?? [] : []
                // One that is to get any of several names leaves the others now.
                let left = if case .anyOf = transition.scope { partsKeptBusy(by: transition) } else { [WaiterID]() }
                let grant = grant(transition, plan, at: step.moment)
                beginIdling(left, of: scene, at: step.now)
                if queued.completesAtGrant, guards.isEmpty {
                    durable.transitions[id]?.run(with: grant)
                    complete(id, in: &step)
                } else {
                    if !queued.completesAtGrant { beginLease(of: transition, isAttended: id == asker, in: &step) }
                    prepare(id, grant, asking: guards, in: &step)
                }
            }
        }
    }

    /// What happens to a transition whose turn has come.
    private func turn(of transition: Transition) -> Turn {
        if transition.request.isPlain { return .granted(nil) }
        let turn = durable.scenes[transition.request.scene]?.turn(
            of: transition.request, scope: transition.scope, under: durable.rules)
        guard let turn else { preconditionFailure("\(transition.id) is granted in a scene that is not known") }
        return turn
    }

    /// Grants every transition of the scene whose turn has come, and tells which granted ones are waited for now.
    mutating func settle(_ scene: SceneName, asker: TransitionID? = nil, step: inout Step) {
        grantWhatIsFree(in: scene, asker: asker, step: &step)
        tellContention(in: scene, step: &step)
    }

    /// Publishes, once for each granted transition, that another one has begun to wait for it.
    mutating func tellContention(in scene: SceneName, step: inout Step) {
        for id in durable.scenes[scene]?.queue.takeContended() ?? [] {
            if let transition = durable.transitions[id] { tell(.contended, transition, in: &step) }
        }
    }

    /// Changes the scene for a grant: reserves ids, removes the ticket and draws the next fence.
    private mutating func grant(
        _ transition: Transition, _ plan: OperationPlan?, at moment: Moment
    ) -> Transition.Grant {
        let name = transition.request.scene
        guard let revision = durable.scenes[name]?.numbers.revision else {
            preconditionFailure("\(transition.id) is granted in a scene that is not known")
        }
        if let plan { durable.scenes[name]?.reserved.formUnion(plan.arriving) }
        let animation =
            transition.request.isPlain && transition.update == nil
            ? nil : durable.scenes[name]?.animation(of: transition.request, plan, changedBy: transition.update)
        durable.scenes[name]?.dropTicket(of: transition)
        if case .anyOf = transition.scope, let chosen = durable.scenes[name]?.queue.locks(of: transition.place) {
            durable.transitions[transition.id]?.lock(chosen)
        }
        durable.memory.queued -= 1
        let resolved =
            durable.scenes[name]?.storyboard.resolved(transition.request.operation, under: durable.rules) ?? []
        durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + 1)
        return Transition.Grant(
            fence: durable.lastFence, grantedAt: moment.timestamp, instant: moment.instant, revision: revision,
            presenter: plan?.presenter, animation: animation, appearance: plan?.beginning ?? [],
            resolved: resolved, rules: durable.rules)
    }

    /// Completes, in the step in which it begins to run, a transition that its owner ended before.
    mutating func complete(_ id: TransitionID, in step: inout Step) {
        guard let running = durable.transitions[id], let grant = running.grant else {
            preconditionFailure("\(id) runs but is not known")
        }
        tell(.running, running, in: &step)
        tell(grant.appearance, of: running, in: &step)
        end(id, as: .completed, in: &step)
    }

    /// Ends a transition, and grants those whose turn comes because of it.
    ///
    /// - Returns: the ended transition; it may already be forgotten because of the limits.
    @discardableResult
    mutating func endAndGrant(
        _ id: TransitionID, as outcome: TransitionOutcome, interruptedBy interrupter: TransitionID? = nil,
        in step: inout Step
    ) -> TransitionView {
        let ended = end(id, as: outcome, interruptedBy: interrupter, in: &step)
        settle(ended.request.scene, step: &step)
        prune(at: step.now)
        return view(of: ended, at: step.now)
    }

    /// Ends a transition; the caller grants what it blocked later in the same step.
    @discardableResult
    mutating func end(
        _ id: TransitionID, as outcome: TransitionOutcome, interruptedBy interrupter: TransitionID? = nil,
        in step: inout Step
    ) -> Transition {
        guard var transition = durable.transitions[id] else { preconditionFailure("\(id) ends but is not known") }
        let name = transition.request.scene
        let parts = momentary.idling.hasParts ? partsKeptBusy(by: transition) : []
        var grant: Transition.Grant?
        var effect = OperationEffect()
        switch transition.phase {
        case .queued:
            durable.scenes[name]?.dropTicket(of: transition)
            durable.memory.queued -= 1
        case .preparing(let given, _):
            // It never ran, so its views have got no events. They get all of them now if it is carried out, else none.
            let isCarriedOut = outcome.carriesOut(transition)
            if isCarriedOut { tell(given.appearance, of: transition, in: &step) }
            effect = endOperation(of: transition, given, as: outcome, in: &step)
            grant = isCarriedOut ? given : given.untold
            if !isCarriedOut { effect.appearance = [] }
        case .running(let given):
            grant = given
            effect = endOperation(of: transition, given, as: outcome, in: &step)
        case .ended:
            preconditionFailure("\(id) has already ended, and ends again as \(outcome)")
        }
        let isInterrupted = transition.interruption != nil
        transition.end(
            Transition.Ending(
                outcome: outcome, grant: grant, endedAt: step.moment, change: effect.done?.change,
                isNoop: outcome == .completed && grant == nil, interruptedBy: interrupter,
                appearance: effect.appearance))
        durable.transitions[id] = transition
        // Asked so, the queue is copied only where somebody interrupts.
        if (durable.scenes[name]?.queue.interrupting ?? 0) > 0 {
            reconsider(durable.scenes[name]?.queue.interrupters(behind: transition.place) ?? [])
        }
        durable.changeScene(name) { $0.leave(transition) }
        durable.memory.charge(-transition.unfinishedByteCount, to: transition.session)
        momentary.mayHaveIdleScenes = true
        beginIdling(name, at: step.now)
        durable.index.leave(transition)
        for displaced in effect.done?.displaced ?? [] {
            if let waiting = durable.transitions[displaced] { durable.scenes[name]?.refile(waiting) }
        }
        if momentary.idling.hasParts {
            // In another tree, what waits may lock less than before.
            if effect.done != nil { scheduleQuietParts(of: name) }
            beginIdling(parts, of: name, at: step.now)
        }
        durable.noteEnd(of: transition, at: step.now)
        momentary.deadlines.cancel(.transition(id))
        if transition.request.maxHold != nil { momentary.deadlines.cancel(.hold(id)) }
        if isInterrupted { momentary.deadlines.cancel(.interruption(id)) }
        if !transition.participants.isEmpty { momentary.deadlines.cancel(.ready(id)) }
        tell(effect.appearance, of: transition, in: &step)
        tell(.ended, transition, in: &step)
        if outcome.concernsOperator { step.add(.notify(.ended(view(of: transition, at: step.now)))) }
        wakeWaiters(of: transition, in: &step)
        momentary.attention.removeValue(forKey: id)
        if !momentary.reconsidered.isEmpty { momentary.reconsidered.remove(id) }
        if let touched = effect.done?.touched { judge(touched, in: name, step: &step) }
        return transition
    }

    /// What the end of a granted transition changes in the hierarchy, for the views and in the queue.
    private struct OperationEffect {
        /// What the operation has changed; `nil` if it was not applied.
        var done: Scene.CarriedOut?
        var appearance: [AppearanceEvent] = []
    }

    /// Applies the operation of a granted transition that ends, if its outcome carries it out.
    private mutating func endOperation(
        of transition: Transition, _ grant: Transition.Grant, as outcome: TransitionOutcome, in step: inout Step
    ) -> OperationEffect {
        let name = transition.request.scene
        guard let operation = transition.request.operation else { return OperationEffect() }
        // No other transition could change what it locks, so this plan is the same as at the grant.
        guard let planned = try? durable.scenes[name]?.storyboard.plan(operation, under: grant.rules) else {
            preconditionFailure("\(transition.id) was granted with an operation that is not possible: \(operation)")
        }
        durable.scenes[name]?.reserved.subtract(planned.arriving)
        let isCarriedOut = outcome.carriesOut(transition)
        let appearance = planned.ending(isCompleted: isCarriedOut)
        // Each operation of a list has a type of its own, unless the request names one.
        let type = planned.isNet ? transition.request.animation?.type : grant.animation?.type
        guard isCarriedOut, let done = durable.changeScene(name, { $0.carryOut(planned, introducedBy: type) })
        else {
            return OperationEffect(appearance: appearance)
        }
        publish(
            .hierarchyChanged(
                HierarchyUpdate(
                    revision: done.change.revision, transition: transition.id, inserted: done.change.inserted,
                    removed: done.change.removed, change: done.told)),
            in: name, &step)
        return OperationEffect(done: done, appearance: appearance)
    }
}

extension TransitionOutcome {
    /// Whether the operator is notified: an owner was silent, or lost its transition to an administrator.
    fileprivate var concernsOperator: Bool {
        switch self {
        case .expired, .revoked: true
        case .completed, .cancelled, .rejected, .superseded: false
        }
    }

    /// Whether a granted transition that ends so has its operation applied; never if its gesture was cancelled.
    fileprivate func carriesOut(_ transition: Transition) -> Bool {
        switch self {
        case .completed: true
        case .expired(.participants): false
        case .expired(let reason): transition.isCarriedOutAtExpiry(because: reason)
        case .cancelled, .rejected, .superseded, .revoked: false
        }
    }
}

extension Transition {
    /// Whether its operation is applied although its owner has not ended it.
    ///
    /// A gesture ends as it was decided. One that was not decided is cancelled, as a system cancels the touches of an app that dies.
    fileprivate func isCarriedOutAtExpiry(because reason: ExpiryReason) -> Bool {
        guard state == .running, reason != .unclaimed else { return false }
        if let gesture { return gesture.decision == .finish }
        return !request.isInteractive && request.onExpiry == .complete
    }
}
