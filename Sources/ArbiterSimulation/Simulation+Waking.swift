internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

// The answers that the engine owes, and parked awaits.

extension Simulation {
    /// Expects an answer as soon as every record of the turn is committed.
    mutating func owe(_ pending: Pending, _ state: OwedAnswer.State, verdict: Verdict, trial: Trial? = nil) {
        var owed = OwedAnswer(
            number: pending.number, request: pending.request, verdict: verdict, computedAt: outside, states: [state],
            latest: .max)
        if case .session(let id) = verdict { owed.remaining = vigils.remaining(of: id, at: now) }
        owed.trial = trial
        if case .awaitIdle(let scene, let part, let quiet, _, _) = pending.request.ask {
            owed.idleness = [idleness(of: scene, below: part, for: quiet, since: now)]
        }
        if case .attach(let token) = pending.request.ask { owed.session = oracle.sessions[token]?.id }
        owedAnswers.append(owed)
    }

    mutating func park(_ pending: Pending, _ prediction: Prediction, at sequence: UInt64) throws(Broken) {
        let ask = pending.request.ask
        if case .awaitIdle(let scene, let part, let quiet, let session, let wait) = ask {
            return parkIdler(pending, scene, below: part, quiet: quiet, session, wait)
        }
        let target: (id: TransitionID, milestone: Milestone, wait: Duration)
        switch ask {
        case .await(let id, _, let milestone, _, let wait): target = (id, milestone, wait)
        case .serialize(let request, let wait):
            let earlier = ledger.entry(withKeyOf: request, at: now)?.id
            guard let id = prediction.record?.newTransition ?? earlier else {
                throw Broken(.reply, "\(ask) parks on nothing")
            }
            target = (id, .granted, wait)
        case .start, .dryRun, .awaitIdle, .look, .end, .renew, .progress, .release, .perform, .report, .addGuard,
            .removeGuard,
            .openSession,
            .renewSession,
            .endSession,
            .revoke, .revokeAll, .update, .attach, .declare, .patch, .delete:
            preconditionFailure("\(ask) was predicted to park")
        }
        if ask.isOwners {
            ledger.hear(target.id, at: now)
            if let ticket = oracle[target.id], !ticket.isGranted, ticket.request.interrupts {
                replica.oracle.reconsidered.insert(target.id)
            }
        }
        let bound = ask.isOwners ? sessionBinding(target.id) : nil
        if let bound { vigils.attach(bound) }
        parked.append(
            Parked(
                number: pending.number, waiter: pending.waiter, request: pending.request, transition: target.id,
                milestone: target.milestone, until: now.advanced(by: target.wait), session: bound))
    }

    /// Expects the answers to the awaits whose wait has run out: a turn begins with them.
    mutating func answerDueAwaits(_ turn: inout Turn) {
        let now = now
        for waiting in parked where waiting.until <= now {
            if waiting.request.ask.isOwners { turn.ownersLeaving.insert(waiting.transition) }
            wake(waiting)
            statistics.count(.wakesUnreached)
            turn.waking.append(waiting.number)
        }
        parked.removeAll { $0.until <= now }
    }

    /// Expects the answers to the awaits whose milestone a record has reached.
    mutating func answerReachedAwaits(in turn: Turn) throws(Broken) {
        for index in owedAnswers.indices where turn.waking.contains(owedAnswers[index].number) {
            guard case .transition(let id) = owedAnswers[index].verdict else { continue }
            let state = OwedAnswer.State(transition: replica.machine.transition(id), sequence: observed)
            if owedAnswers[index].states.last?.transition != state.transition {
                owedAnswers[index].states.append(state)
            }
        }
        let (entries, reached) = (ledger, parked)
        for interrupted in oracle.line where interrupted.interruption != nil {
            if ledger.noteInterruption(of: interrupted.id, at: observedAt?.instant ?? now) {
                statistics.count(.interruptions)
            }
        }
        for waiting in reached {
            guard let entry = entries[waiting.transition] else {
                throw Broken(.wake, "\(waiting.number) waits for a transition that is not known")
            }
            let isTold = waiting.request.ask.isOwners && oracle[waiting.transition]?.interruption != nil
            guard entry.hasReached(waiting.milestone, in: oracle) || isTold && !entry.knowsInterruption else {
                continue
            }
            if isTold { ledger.noteInterruptionIsKnown(waiting.transition) }
            wake(waiting)
            parked.removeAll { $0.number == waiting.number }
        }
    }

    mutating func answerAllAwaits() {
        for waiting in parked {
            wake(waiting)
            owedAnswers[owedAnswers.count - 1].latest = observed
        }
        parked.removeAll()
    }

    private mutating func wake(_ waiting: Parked) {
        let state = OwedAnswer.State(transition: replica.machine.transition(waiting.transition), sequence: observed)
        note(.woken(waiting.number, waiting.transition, state.transition?.state ?? .ended))
        var owed = OwedAnswer(
            number: waiting.number, request: waiting.request, verdict: .transition(waiting.transition),
            computedAt: outside, states: [state], latest: .max)
        owed.wasParked = true
        if waiting.request.ask.isOwners { ledger.hear(waiting.transition, at: now, isWord: false) }
        if let session = waiting.session {
            vigils.detach(session, client: .present, grace: configuration.limits.grace, at: now)
        }
        // The connection of the await closes in this turn.
        guard waiting.number != leavingAwait else { return }
        statistics.count(.wakes)
        owedAnswers.append(owed)
    }

    // MARK: - Momentary state

    /// The living session that binds a transition.
    private func sessionBinding(_ id: TransitionID) -> SessionID? {
        ledger[id]?.request.session.flatMap { oracle.sessions[$0]?.id }
    }

    /// Applies the changes of an ask that have no record: signs of life and gesture progress.
    mutating func listen(to ask: Ask, _ prediction: Prediction, after sequence: UInt64) throws(Broken) {
        if case .transition(let id) = prediction.verdict, ask.isOwners { ledger.hear(id, at: now) }
        if case .performed = prediction.verdict, let (id, _) = ask.acted { ledger.hear(id, at: now) }
        // Every word counts, refused or not.
        if let (id, token) = ask.acted, let entry = ledger[id], entry.forgotten == nil, entry.token == token,
            let session = sessionBinding(id)
        {
            vigils.hear(session, at: now)
        }
        switch ask {
        case .await(let id, _?, _, let claims, _):
            if case .refused = prediction.verdict { break }
            ledger.note(id, claims: claims)
            if oracle[id]?.interruption != nil { ledger.noteInterruptionIsKnown(id) }
        case .start(let request), .serialize(let request, _):
            if let session = request.session.flatMap({ oracle.sessions[$0] }) { vigils.hear(session.id, at: now) }
        case .addGuard(_, _, _, let token), .removeGuard(_, _, let token):
            if let id = oracle.sessions[token]?.id { vigils.hear(id, at: now) }
        case .report(_, let id, _, let token):
            guard let entry = ledger[id], entry.forgotten == nil, let session = oracle.sessions[token]?.id else {
                break
            }
            vigils.hear(session, at: now)
        case .renewSession(let token): if let id = oracle.sessions[token]?.id { vigils.hear(id, at: now) }
        case .attach(let token): if let id = oracle.sessions[token]?.id { vigils.attach(id) }
        case .progress(let id, _, let progress):
            guard case .progress(let isApplied) = prediction.verdict else { break }
            ledger.hear(id, at: now)
            if isApplied { events.expect(.progress(id, ledger.drive(id, to: progress)), after: sequence) }
        case .dryRun, .openSession, .endSession, .await, .awaitIdle, .look, .end, .revoke, .revokeAll, .update, .renew,
            .release, .perform,
            .declare,
            .patch,
            .delete:
            break
        }
    }
}

extension Record {
    fileprivate var newTransition: TransitionID? {
        switch self {
        case .start(_, let id, _), .serialize(_, let id, _): id
        case .end, .revoke, .revokeAll, .update, .decide, .perform, .markReady, .veto, .answerGuards, .addGuard,
            .removeGuard, .markGone,
            .openSession, .endSession, .declare,
            .patch,
            .delete, .expire, .interrupt, .endInterrupted,
            .expireUnclaimed, .timeOutParticipants, .adopt, .distrust, .skipFences, .resume, .stop:
            nil
        }
    }
}
