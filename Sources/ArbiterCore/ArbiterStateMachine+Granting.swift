// How turns come and transitions end.

extension ArbiterStateMachine {
    /// Grants whatever waits for nothing any more, the remembered ends among it completed on the way.
    ///
    /// The owner of the `asker` is being answered right now, and so is known to look.
    mutating func grantWhatIsFree(in scene: SceneName, asker: TransitionID? = nil, step: inout Step) {
        while !durable.isHoldingGrants, let id = durable.scenes[scene]?.queue.grantNext() {
            guard var transition = durable.transitions[id], case .queued(let queued) = transition.phase else {
                preconditionFailure("\(id) is granted and was not queued")
            }
            durable.scenes[scene]?.tickets.remove(transition.order)
            durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + 1)
            transition.phase = .running(
                Transition.Grant(fence: durable.lastFence, grantedAt: step.moment.timestamp))
            durable.transitions[id] = transition
            if queued.completesAtGrant {
                close(id, as: .completed, in: &step)
            } else {
                beginLease(of: transition, isAttended: id == asker, in: &step)
                wakeWaiters(of: transition, in: &step)
            }
        }
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
        guard var transition = durable.transitions[id], !transition.isEnded else {
            preconditionFailure("\(id) cannot end as \(outcome): it is not unfinished")
        }
        step.isDurable = true
        let grant: Transition.Grant?
        switch transition.phase {
        case .queued:
            grant = nil
            durable.scenes[transition.request.scene]?.tickets.remove(transition.order)
        case .running(let running):
            grant = running
        case .ended:
            grant = nil
        }
        transition.phase = .ended(Transition.Ending(outcome: outcome, grant: grant, endedAt: step.moment))
        durable.transitions[id] = transition
        durable.scenes[transition.request.scene]?.queue.remove(transition.order)
        durable.ended.append(DurableState.Ended(id: id, at: step.now))
        momentary.deadlines.cancel(.transition(id))
        wakeWaiters(of: transition, in: &step)
        momentary.attention.removeValue(forKey: id)
        return transition
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
        case (.expired, _): throw .endedWithoutOwner(view)
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
            case .expired: throw .endedWithoutOwner(view)
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
