// Leases and tickets: how long a transition lives without a request of its owner.

extension ArbiterStateMachine {
    /// Notes a request of the owner: the lease or the ticket's time starts again at full length.
    mutating func attend(_ id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], var attention = momentary.attention[id] else { return }
        switch transition.phase {
        case .preparing, .running:
            attention.isUnclaimed = false
            momentary.attention[id] = attention
            momentary.deadlines.schedule(.transition(id), at: now.advanced(by: transition.lease))
        case .queued(let queued):
            // No limit on silence while the owner waits, has already ended the transition, or has a session instead.
            let isAttended = attention.ownersWaiting > 0 || queued.completesAtGrant || transition.session != nil
            let silence = isAttended ? nil : now.advanced(by: transition.request.ticket)
            schedule(transition, silence: silence)
        case .ended:
            break
        }
    }

    /// Notes that the owner has stopped waiting for its queued transition: the transition is due to expire at once.
    mutating func abandon(_ id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], case .queued(let queued) = transition.phase else { return }
        if !queued.completesAtGrant, transition.session == nil { schedule(transition, silence: now) }
    }

    /// Sets the deadline of a queued transition: the earlier of `silence` and its queue timeout, if there is any.
    private mutating func schedule(_ transition: Transition, silence: Instant?) {
        momentary.attention[transition.id]?.silence = silence
        if let deadline = [silence, queueTimeout(of: transition)].compactMap(\.self).min() {
            momentary.deadlines.schedule(.transition(transition.id), at: deadline)
        } else {
            momentary.deadlines.cancel(.transition(transition.id))
        }
    }

    /// When a queued transition expires in any case, if there is such a limit.
    func queueTimeout(of transition: Transition) -> Instant? {
        transition.request.queue.map { transition.requestedAt.instant.advanced(by: $0) }
    }

    /// Starts the lease of a granted transition; it is short if the owner has to claim the transition first.
    mutating func beginLease(of transition: Transition, isAttended: Bool, in step: inout Step) {
        var first = transition.lease
        if !isAttended, transition.session == nil, momentary.attention[transition.id]?.ownersWaiting == 0 {
            momentary.attention[transition.id]?.isUnclaimed = true
            first = min(limits.claim, first)
        }
        momentary.deadlines.schedule(.transition(transition.id), at: step.now.advanced(by: first))
    }
}

// MARK: - Deadlines

extension ArbiterStateMachine {
    /// An instant before which nothing is due; `nil` if there is no deadline.
    package var nextDeadline: Instant? { momentary.deadlines.next }

    /// Does everything that is due, in the order of the deadlines, and forgets idle scenes if memory is short.
    mutating func doWhatIsDue(in step: inout Step) {
        while let deadline = momentary.deadlines.firstDue(at: step.now) {
            switch deadline {
            case .waiter(let waiter): answerAsItStands(waiter, in: &step)
            case .hold: resume(in: &step)
            case .ready(let id): timeOutParticipants(of: id, in: &step)
            case .session(let id): end(id, because: .expired, in: &step)
            case .transition(let id): expire(id, because: reasonToExpire(id), in: &step)
            }
            precondition(momentary.deadlines[deadline].map { $0 > step.now } ?? true, "\(deadline) is still due")
        }
        forgetIdleScenes(in: &step)
    }

    private func reasonToExpire(_ id: TransitionID) -> ExpiryReason {
        guard let transition = durable.transitions[id] else {
            preconditionFailure("\(id) has a deadline but is not known")
        }
        switch transition.phase {
        case .queued:
            // The deadline is the earlier of the two, so it tells the reason even if the alarm is late.
            return momentary.deadlines[.transition(id)] == queueTimeout(of: transition) ? .queueTimeout : .abandoned
        case .preparing, .running:
            return momentary.attention[id]?.isUnclaimed == true ? .unclaimed : .lease
        case .ended:
            preconditionFailure("\(id) has a deadline but has ended")
        }
    }

    /// Ends an unfinished transition for which a deadline has passed.
    mutating func expire(_ id: TransitionID, because reason: ExpiryReason, in step: inout Step) {
        guard let transition = durable.transitions[id], !transition.isEnded else { return }
        step.keep(.expire(id, reason))
        endAndGrant(id, as: .expired(reason), in: &step)
    }
}
