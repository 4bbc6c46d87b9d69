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
                let running = grant(transition, plan, in: &step)
                if queued.completesAtGrant {
                    close(id, as: .completed, in: &step)
                } else {
                    beginLease(of: running, isAttended: id == asker, in: &step)
                    wakeWaiters(of: running, in: &step)
                }
            }
        }
    }

    private mutating func grant(
        _ transition: Transition, _ plan: OperationPlan?, in step: inout Step
    ) -> Transition {
        let name = transition.request.scene
        guard let revision = durable.scenes[name]?.numbers.revision else {
            preconditionFailure("\(transition.id) is granted in no scene")
        }
        let animation = durable.scenes[name]?.animation(of: transition.request, plan)
        durable.scenes[name]?.tickets.remove(transition.order)
        durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + 1)
        let grant = Transition.Grant(
            fence: durable.lastFence, grantedAt: step.moment.timestamp, revision: revision,
            presenter: plan?.presenter, animation: animation, appearance: plan?.beginning ?? [])
        var running = transition
        running.phase = .running(grant)
        durable.transitions[transition.id] = running
        tell(.running, running, in: &step)
        tell(grant.appearance, of: transition, in: &step)
        return running
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
    private mutating func close(
        _ id: TransitionID, as outcome: TransitionOutcome, in step: inout Step
    ) -> Transition {
        guard var transition = durable.transitions[id] else { preconditionFailure("\(id) ends and is not known") }
        let name = transition.request.scene
        step.isDurable = true
        var grant: Transition.Grant?
        var result = Result()
        switch transition.phase {
        case .queued:
            durable.scenes[name]?.tickets.remove(transition.order)
        case .running(let running):
            grant = running
            result = conclude(transition, running, as: outcome, in: &step)
        case .ended:
            preconditionFailure("\(id) cannot end as \(outcome): it has ended")
        }
        transition.phase = .ended(
            Transition.Ending(
                outcome: outcome, grant: grant, endedAt: step.moment, change: result.change,
                isNoop: outcome == .completed && grant == nil, appearance: result.appearance))
        durable.transitions[id] = transition
        durable.scenes[name]?.queue.remove(transition.order)
        for displaced in result.displaced {
            if let waiting = durable.transitions[displaced] { durable.scenes[name]?.refile(waiting) }
        }
        durable.ended.append(DurableState.Ended(id: id, at: step.now))
        momentary.deadlines.cancel(.transition(id))
        tell(result.appearance, of: transition, in: &step)
        tell(.ended, transition, in: &step)
        wakeWaiters(of: transition, in: &step)
        momentary.attention.removeValue(forKey: id)
        return transition
    }

    /// What the end of a transition that ran comes to.
    private struct Result {
        var change: Transition.Change?
        var appearance: [AppearanceEvent] = []
        /// Whoever waits and has to be filed anew.
        var displaced: [TransitionID] = []
    }

    /// Applies the operation of a transition that ends, if its outcome says so.
    private mutating func conclude(
        _ transition: Transition, _ grant: Transition.Grant, as outcome: TransitionOutcome, in step: inout Step
    ) -> Result {
        let name = transition.request.scene
        guard let operation = transition.request.operation else { return Result() }
        // Nobody else could touch what it locks, so it still comes to what it came to at its grant.
        guard let planned = try? durable.scenes[name]?.storyboard.plan(operation) else {
            preconditionFailure("\(transition.id) was granted for what is not possible: \(operation)")
        }
        let applies = outcome.applies(transition.request.onExpiry)
        let appearance = planned.ending(isCompleted: applies)
        guard applies, let done = durable.scenes[name]?.carryOut(planned, introducedBy: grant.animation?.type) else {
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
    /// Whether the operation is applied at this end.
    fileprivate func applies(_ action: ExpiryAction) -> Bool {
        switch self {
        case .completed: true
        case .expired: action == .complete
        case .cancelled, .rejected: false
        }
    }
}

// MARK: - The owner's words

extension ArbiterStateMachine {
    mutating func end(
        _ id: TransitionID, token: Token, as outcome: EndOutcome, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        let transition = try owned(id, token: token)
        switch transition.phase {
        case .ended(let ending):
            return .transition(try repeated(outcome, of: transition, ending: ending, at: step.now))
        case .running:
            return .transition(finish(id, as: TransitionOutcome(outcome), in: &step))
        case .queued(let queued):
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

    private func repeated(
        _ outcome: EndOutcome, of transition: Transition, ending: Transition.Ending, at now: Instant
    ) throws(ArbiterError) -> TransitionView {
        let view = view(of: transition, at: now)
        switch (ending.outcome, outcome) {
        case (.completed, .completed), (.cancelled, .cancelled): return view
        case (.completed, .cancelled), (.cancelled, .completed): throw .alreadyEnded(view)
        case (.expired, _), (.rejected, _): throw .endedWithoutOwner(view)
        }
    }

    mutating func renew(_ id: TransitionID, token: Token, in step: inout Step) throws(ArbiterError) -> Reply {
        let transition = try owned(id, token: token)
        let view = view(of: transition, at: step.now)
        switch transition.phase {
        case .queued, .running:
            attend(id, at: step.now)
            return .transition(try self.view(of: id, at: step.now))
        case .ended(let ending):
            switch ending.outcome {
            case .completed, .cancelled: throw .alreadyEnded(view)
            case .expired, .rejected: throw .endedWithoutOwner(view)
            }
        }
    }

    func owned(_ id: TransitionID, token: Token) throws(ArbiterError) -> Transition {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        guard transition.token.matches(token) else { throw .wrongToken(id) }
        return transition
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
