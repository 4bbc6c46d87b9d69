// Leases and tickets: how long a transition lives without a request of its owner.

extension ArbiterStateMachine {
    /// Notes a request of the owner: the lease or the ticket's time starts again at full length.
    ///
    /// While an await of the owner is parked, neither runs.
    mutating func attend(_ id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], var attention = momentary.attention[id] else { return }
        attention.heardAt = now
        if !transition.isQueued { attention.isUnclaimed = false }
        momentary.attention[id] = attention
        switch transition.phase {
        case .preparing, .running:
            guard !transition.hasRememberedEnd else { return rememberEnd(of: id) }
            if attention.ownersWaiting > 0 {
                momentary.deadlines.cancel(.transition(id))
            } else {
                momentary.deadlines.schedule(.transition(id), at: now.advanced(by: transition.lease))
            }
        case .queued(let queued):
            guard !queued.completesAtGrant else { return rememberEnd(of: id) }
            // No limit on silence while the owner waits, or has a session instead.
            let isAttended = attention.ownersWaiting > 0 || transition.session != nil
            schedule(transition, silence: isAttended ? nil : now.advanced(by: transition.request.ticket))
        case .ended:
            break
        }
    }

    /// Sets the deadline of a transition whose owner has ended it before it ran, and of no other one.
    ///
    /// A remembered end is the owner's last word: nothing takes it back, but the queue timeout of one that is set aside.
    mutating func rememberEnd(of id: TransitionID) {
        guard let transition = durable.transitions[id], transition.hasRememberedEnd else { return }
        momentary.attention[id]?.isUnclaimed = false
        if transition.request.maxHold != nil { momentary.deadlines.cancel(.hold(id)) }
        momentary.attention[id]?.silence = nil
        guard transition.unmet != nil, let timeout = queueTimeout(of: transition) else {
            return momentary.deadlines.cancel(.transition(id))
        }
        momentary.deadlines.schedule(.transition(id), at: timeout)
    }

    /// Notes that the connection of the owner's last parked await has closed.
    ///
    /// A granted transition gets its full lease, unless it is still to be claimed. A queued one is due to expire at once,
    /// unless its request had a key: then its owner may ask again within `Limits.grace`.
    mutating func abandon(_ id: TransitionID, in step: borrowing Step) {
        guard let transition = durable.transitions[id] else { return }
        switch transition.phase {
        case .queued(let queued):
            guard !queued.completesAtGrant, transition.session == nil else { return }
            momentary.attention[id]?.heardAt = step.now
            let isExpected = transition.request.idempotencyKey != nil
            let grace = min(limits.grace, transition.request.ticket)
            schedule(transition, silence: isExpected ? step.now.advanced(by: grace) : step.heardUntil)
        case .preparing, .running: noteAnswer(to: id, at: step.now)
        case .ended: break
        }
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

    /// Starts the lease of a transition that is being granted; it is short if the owner has to claim the transition first.
    ///
    /// A parked request, or a session, shows that the owner is there, unless the owner has said that it claims its grants: a proxy
    /// may keep the connections of a client that is gone.
    mutating func beginLease(of transition: Transition, isAttended: Bool, in step: inout Step) {
        let id = transition.id
        if let hold = transition.request.maxHold {
            momentary.deadlines.schedule(.hold(id), at: step.now.advanced(by: hold))
        }
        if let attention = momentary.attention[id], !isAttended {
            let isShown = attention.ownersWaiting > 0 || transition.session != nil
            if attention.claims || !isShown {
                momentary.attention[id]?.isUnclaimed = true
                momentary.attention[id]?.grantedAt = step.now
            }
        }
        startLease(of: transition, at: step.now)
    }

    /// Starts the lease of a granted transition, a short one if it is unclaimed; none runs while its owner is parked.
    private mutating func startLease(of transition: Transition, at now: Instant) {
        guard let attention = momentary.attention[transition.id], attention.ownersWaiting == 0 else {
            return momentary.deadlines.cancel(.transition(transition.id))
        }
        let lease = attention.isUnclaimed ? min(limits.claim, transition.lease) : transition.lease
        momentary.deadlines.schedule(.transition(transition.id), at: now.advanced(by: lease))
    }

    /// Notes that a parked request of the owner is over, so that the lease or the ticket's time starts.
    ///
    /// It is no word of the owner: a grant that is to be claimed still is.
    mutating func noteAnswer(to id: TransitionID, at now: Instant) {
        guard let transition = durable.transitions[id], momentary.attention[id]?.isUnclaimed == true else {
            return attend(id, at: now)
        }
        startLease(of: transition, at: now)
    }

    /// Makes the lease of a transition that begins to run full, unless its owner has yet to claim it.
    mutating func renewLease(of transition: Transition, at now: Instant) {
        guard let attention = momentary.attention[transition.id], attention.ownersWaiting == 0, !attention.isUnclaimed
        else { return }
        momentary.deadlines.schedule(.transition(transition.id), at: now.advanced(by: transition.lease))
    }
}
