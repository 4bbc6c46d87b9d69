// How turns come and transitions end.

extension ArbiterStateMachine {
    /// Gives their turn to all that wait for nothing any more: grants them, or ends what is not possible or would do
    /// nothing, and completes on the way those whose owners have ended them already.
    ///
    /// The owner of the `asker` is being answered right now, and so is known to look.
    mutating func grantWhatIsFree(in scene: SceneName, asker: TransitionID? = nil, step: inout Step) {
        while !durable.isHoldingGrants, let id = durable.scenes[scene]?.queue.grantNext() {
            guard let transition = durable.transitions[id], case .queued(let queued) = transition.phase,
                let turn = durable.scenes[scene]?.turn(of: transition.request, scope: transition.scope)
            else { preconditionFailure("\(id) is granted and was not queued") }
            switch turn {
            case .rejected(let rejection):
                close(id, as: .rejected(rejection), in: &step)
            case .noop:
                close(id, as: .completed, in: &step)
            case .granted(let plan):
                let grant = grant(transition, plan, at: step.moment)
                if queued.completesAtGrant {
                    complete(transition, grant, in: &step)
                } else {
                    beginLease(of: transition, isAttended: id == asker, in: &step)
                    gather(transition, grant, in: &step)
                }
            }
        }
    }

    private mutating func grant(
        _ transition: Transition, _ plan: OperationPlan?, at moment: Moment
    ) -> Transition.Grant {
        let name = transition.request.scene
        guard let revision = durable.scenes[name]?.numbers.revision else {
            preconditionFailure("\(transition.id) is granted in no scene")
        }
        if let plan { durable.scenes[name]?.reserved.formUnion(plan.arriving) }
        let animation = durable.scenes[name]?.animation(of: transition.request, plan)
        durable.scenes[name]?.tickets.remove(transition.place)
        durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + 1)
        return Transition.Grant(
            fence: durable.lastFence, grantedAt: moment.timestamp, revision: revision,
            presenter: plan?.presenter, animation: animation, appearance: plan?.beginning ?? [])
    }

    /// Grants and completes in one step what its owner has ended already.
    private mutating func complete(_ transition: Transition, _ grant: Transition.Grant, in step: inout Step) {
        var running = transition
        running.phase = .running(grant)
        durable.transitions[transition.id] = running
        tell(.running, running, in: &step)
        tell(grant.appearance, of: running, in: &step)
        close(transition.id, as: .completed, in: &step)
    }

    /// Ends a transition and grants what it stood in the way of.
    ///
    /// - Returns: The transition as it ended; the limits may have had it forgotten by now.
    @discardableResult
    mutating func finish(
        _ id: TransitionID, as outcome: TransitionOutcome, in step: inout Step
    ) -> TransitionView {
        let ended = close(id, as: outcome, in: &step)
        grantWhatIsFree(in: ended.request.scene, step: &step)
        prune(at: step.now)
        return view(of: ended, at: step.now)
    }

    @discardableResult
    mutating func close(
        _ id: TransitionID, as outcome: TransitionOutcome, in step: inout Step
    ) -> Transition {
        guard var transition = durable.transitions[id] else { preconditionFailure("\(id) ends and is not known") }
        let name = transition.request.scene
        step.isDurable = true
        var grant: Transition.Grant?
        var result = Result()
        switch transition.phase {
        case .queued:
            durable.scenes[name]?.tickets.remove(transition.place)
        case .preparing(let given):
            // It never ran: its views have been told nothing, and are told all of it only if it is carried out.
            let isCarriedOut = outcome.carriesOut(transition)
            if isCarriedOut { tell(given.appearance, of: transition, in: &step) }
            result = conclude(transition, given, as: outcome, in: &step)
            grant = isCarriedOut ? given : given.untold
            if !isCarriedOut { result.appearance = [] }
        case .running(let given):
            grant = given
            result = conclude(transition, given, as: outcome, in: &step)
        case .ended:
            preconditionFailure("\(id) cannot end as \(outcome): it has ended")
        }
        transition.phase = .ended(
            Transition.Ending(
                outcome: outcome, grant: grant, endedAt: step.moment, change: result.change,
                isNoop: outcome == .completed && grant == nil, appearance: result.appearance))
        durable.transitions[id] = transition
        durable.changeScene(name) { $0.leave(transition) }
        durable.memory.charge(-transition.request.byteCount, to: transition.session)
        momentary.mayHaveIdleScenes = true
        durable.index.leave(transition)
        for displaced in result.displaced {
            if let waiting = durable.transitions[displaced] { durable.scenes[name]?.refile(waiting) }
        }
        durable.noteEnd(of: transition, at: step.now)
        momentary.deadlines.cancel(.transition(id))
        if !transition.participants.isEmpty { momentary.deadlines.cancel(.ready(id)) }
        tell(result.appearance, of: transition, in: &step)
        tell(.ended, transition, in: &step)
        if outcome.concernsOperator { step.effects.append(.notify(.ended(view(of: transition, at: step.now)))) }
        wakeWaiters(of: transition, in: &step)
        momentary.attention.removeValue(forKey: id)
        return transition
    }

    /// What the end of a granted transition comes to.
    private struct Result {
        var change: Transition.Change?
        var appearance: [AppearanceEvent] = []
        /// Whoever waits and has to be filed anew.
        var displaced: [TransitionID] = []
    }

    /// Applies the operation of a granted transition that ends, if its outcome says so.
    private mutating func conclude(
        _ transition: Transition, _ grant: Transition.Grant, as outcome: TransitionOutcome, in step: inout Step
    ) -> Result {
        let name = transition.request.scene
        guard let operation = transition.request.operation else { return Result() }
        // Nobody else could touch what it locks, so it still comes to what it came to at its grant.
        guard let planned = try? durable.scenes[name]?.storyboard.plan(operation) else {
            preconditionFailure("\(transition.id) was granted for what is not possible: \(operation)")
        }
        durable.scenes[name]?.reserved.subtract(planned.arriving)
        let isCarriedOut = outcome.carriesOut(transition)
        let appearance = planned.ending(isCompleted: isCarriedOut)
        guard isCarriedOut,
            let done = durable.changeScene(name, { $0.carryOut(planned, introducedBy: grant.animation?.type) })
        else {
            return Result(appearance: appearance)
        }
        publish(
            .hierarchyChanged(
                done.change.revision, by: transition.id, inserted: done.change.inserted, removed: done.change.removed),
            in: name, &step)
        return Result(change: done.change, appearance: appearance, displaced: done.displaced)
    }
}

extension TransitionOutcome {
    /// Whether an operator has to know of it: somebody was not looked after, or was taken the lock.
    fileprivate var concernsOperator: Bool {
        switch self {
        case .expired, .revoked: true
        case .completed, .cancelled, .rejected, .superseded: false
        }
    }

    /// Whether the operation of a granted transition is applied at this end; what its gesture has decided against is not.
    fileprivate func carriesOut(_ transition: Transition) -> Bool {
        switch self {
        case .completed: true
        case .expired(.participants): false
        case .expired: transition.request.onExpiry == .complete && transition.gesture?.decision != .cancel
        case .cancelled, .rejected, .superseded, .revoked: false
        }
    }
}

// MARK: - The owner's words

extension ArbiterStateMachine {
    mutating func end(
        _ id: TransitionID, token: Token, as given: EndOutcome?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        let transition = try owned(id, token: token)
        let outcome = given ?? transition.decidedOutcome
        step.record = .end(id, token: token, outcome)
        switch transition.phase {
        case .ended(let ending):
            return .transition(try repeated(outcome, of: transition, ending: ending, at: step.now))
        case .preparing, .running:
            try checkGesture(of: transition, allows: outcome, at: step.now)
            return .transition(finish(id, as: TransitionOutcome(outcome), in: &step))
        case .queued(let queued):
            try checkGesture(of: transition, allows: outcome, at: step.now)
            switch (outcome, queued.completesAtGrant) {
            case (.completed, true):
                break
            case (.cancelled, true):
                throw .alreadyDecided(view(of: transition, at: step.now))
            case (.completed, false):
                step.isDurable = true
                durable.transitions[id]?.phase = .queued(Transition.Queued(completesAtGrant: true))
                attend(id, at: step.now)
            case (.cancelled, false):
                return .transition(finish(id, as: .cancelled, in: &step))
            }
        }
        return .transition(try view(of: id, at: step.now))
    }

    /// - Throws: if the gesture that drove it was decided otherwise.
    private func checkGesture(
        of transition: Transition, allows outcome: EndOutcome, at now: Instant
    ) throws(ArbiterError) {
        switch (transition.gesture?.decision, outcome) {
        case (nil, _), (.finish, .completed), (.cancel, .cancelled): break
        case (.finish, .cancelled), (.cancel, .completed): throw .decidedOtherwise(view(of: transition, at: now))
        }
    }

    private func repeated(
        _ outcome: EndOutcome, of transition: Transition, ending: Transition.Ending, at now: Instant
    ) throws(ArbiterError) -> TransitionView {
        let view = view(of: transition, at: now)
        switch (ending.outcome, outcome) {
        case (.completed, .completed), (.cancelled, .cancelled): return view
        case (.completed, .cancelled), (.cancelled, .completed): throw .alreadyEnded(view)
        case (.expired, _), (.rejected, _), (.superseded, _), (.revoked, _): throw .endedWithoutOwner(view)
        }
    }

    /// Ends what its owner does not end; the hierarchy stays as it was.
    mutating func revoke(
        _ id: TransitionID, because reason: RevocationReason, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        switch transition.phase {
        case .queued, .preparing, .running:
            return .transition(finish(id, as: .revoked(reason), in: &step))
        case .ended(let ending):
            let view = view(of: transition, at: step.now)
            switch ending.outcome {
            case .revoked: return .transition(view)
            case .completed, .cancelled: throw .alreadyEnded(view)
            case .expired, .rejected, .superseded: throw .endedWithoutOwner(view)
            }
        }
    }

    mutating func renew(_ id: TransitionID, token: Token, in step: inout Step) throws(ArbiterError) -> Reply {
        let transition = try owned(id, token: token)
        let view = view(of: transition, at: step.now)
        switch transition.phase {
        case .queued, .preparing, .running:
            attend(id, at: step.now)
            return .transition(try self.view(of: id, at: step.now))
        case .ended(let ending):
            throw ending.outcome.isOwners ? .alreadyEnded(view) : .endedWithoutOwner(view)
        }
    }

    func owned(_ id: TransitionID, token: Token) throws(ArbiterError) -> Transition {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        guard transition.token.matches(token) else { throw .wrongToken(id) }
        return transition
    }
}

extension Transition {
    /// What an end without an outcome means.
    fileprivate var decidedOutcome: EndOutcome {
        switch gesture?.decision {
        case .cancel: .cancelled
        case .finish, nil: .completed
        }
    }
}

extension TransitionOutcome {
    fileprivate init(_ outcome: EndOutcome) {
        switch outcome {
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        }
    }
}
