// Leases and tickets: how long a transition lives without a word from its owner.

extension ArbiterStateMachine {
    /// Takes note of a word of the owner: a full lease, or a ticket as good as new.
    mutating func attend(_ id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], var attention = momentary.attention[id] else { return }
        switch transition.phase {
        case .preparing, .running:
            attention.isUnclaimed = false
            momentary.attention[id] = attention
            momentary.deadlines.schedule(.transition(id), at: now.advanced(by: transition.lease))
        case .queued(let queued):
            // An owner who waits, or who has nothing more to say, cannot be silent for too long.
            let isAttended = attention.ownersWaiting > 0 || queued.completesAtGrant || transition.session != nil
            let silence = isAttended ? nil : now.advanced(by: transition.request.ticket)
            schedule(transition, silence: silence)
        case .ended:
            break
        }
    }

    /// The owner of a queued transition has gone.
    mutating func abandon(_ id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], case .queued(let queued) = transition.phase else { return }
        if !queued.completesAtGrant, transition.session == nil { schedule(transition, silence: now) }
    }

    private mutating func schedule(_ transition: Transition, silence: Instant?) {
        if let deadline = [silence, queueTimeout(of: transition)].compactMap(\.self).min() {
            momentary.deadlines.schedule(.transition(transition.id), at: deadline)
        } else {
            momentary.deadlines.cancel(.transition(transition.id))
        }
    }

    private func queueTimeout(of transition: Transition) -> Instant? {
        transition.request.queue.map { transition.requestedAt.instant.advanced(by: $0) }
    }

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
    /// An instant before which nothing is due; `nil` if nothing ever is.
    package var nextDeadline: Instant? { momentary.deadlines.next }

    /// The next thing the arbiter has to decide by itself at this instant: a command to apply before any other.
    package mutating func nextDecision(at now: Instant) -> Command? {
        switch momentary.deadlines.firstDue(at: now) {
        case .waiter(let waiter): .answer(waiter)
        case .hold: .resume
        case .ready(let id): .settle(id)
        case .session(let id): .closeSession(id, .expired)
        case .transition(let id): .expire(id, reasonToExpire(id))
        case nil: nextEviction()
        }
    }

    private func reasonToExpire(_ id: TransitionID) -> ExpiryReason {
        guard let transition = durable.transitions[id] else {
            preconditionFailure("a deadline of \(id), which is not known")
        }
        switch transition.phase {
        case .queued:
            // Whichever of the two came first is the deadline, however late it is noticed.
            return momentary.deadlines[.transition(id)] == queueTimeout(of: transition) ? .queueTimeout : .abandoned
        case .preparing, .running:
            return momentary.attention[id]?.isUnclaimed == true ? .unclaimed : .lease
        case .ended:
            preconditionFailure("a deadline of \(id), which has ended")
        }
    }

    mutating func expire(_ id: TransitionID, because reason: ExpiryReason, in step: inout Step) -> Reply {
        if let transition = durable.transitions[id], !transition.isEnded { finish(id, as: .expired(reason), in: &step) }
        return .done
    }
}
