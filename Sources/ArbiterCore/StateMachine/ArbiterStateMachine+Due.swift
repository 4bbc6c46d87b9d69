// What is due: deadlines that have passed, a portion of them in each turn.

extension ArbiterStateMachine {
    /// An instant before which nothing is due; `nil` if there is no deadline.
    package var nextDeadline: Instant? { momentary.deadlines.next }

    /// Does what is due, in the order of the deadlines, until the portion of the turn is used up; and forgets idle scenes if
    /// memory is short.
    mutating func doWhatIsDue(in step: inout Step) {
        while step.portion > 0, let deadline = momentary.deadlines.firstDue(at: step.now, heardUntil: step.heardUntil) {
            let portion = step.portion
            switch deadline {
            case .waiter(let waiter): answerAsItStands(waiter, in: &step)
            case .quiet(let scene): wakeIdlers(of: scene, in: &step)
            case .quietPart(let waiter): wakeIdler(ofPart: waiter, in: &step)
            case .resumption: resume(in: &step)
            case .hold(let id): expire(id, because: .hold, in: &step)
            case .interruption(let id): endInterrupted(id, in: &step)
            case .ready(let id): timeOutParticipants(of: id, in: &step)
            case .session(let id):
                if momentary.lives[id]?.leaving != nil {
                    endMore(of: id, in: &step)
                } else if !change(id, { $0?.excuse(at: step.now) ?? false }) {
                    end(id, because: .expired, in: &step)
                }
            case .transition(let id): expire(id, in: &step)
            }
            interruptForReconsidered(in: &step)
            step.spend(1)
            // A session that ends in portions remains due.
            if case .session(let id) = deadline, momentary.lives[id]?.leaving != nil { continue }
            precondition(
                step.portion <= 0 || momentary.deadlines[deadline].map { $0 > step.now } ?? true,
                "\(deadline) is still due, after \(portion - step.portion) of \(portion)")
        }
        forgetIdleScenes(in: &step)
    }

    /// Ends a transition whose deadline has passed; if it is a grant that was not claimed, with the silent tickets behind it.
    ///
    /// Of a long row, a portion of the tickets ends in each turn. The grant ends with the last ones, so that none of them is
    /// granted in between.
    private mutating func expire(_ id: TransitionID, in step: inout Step) {
        let reason = reasonToExpire(id)
        guard reason == .unclaimed else { return expire(id, because: reason, in: &step) }
        let (silent, areAll) = silentTickets(behind: id, atMost: step.portion)
        step.spend(silent.count)
        guard !silent.isEmpty else { return expire(id, because: reason, in: &step) }
        expireUnclaimed(areAll ? [id] + silent : silent, in: &step)
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

    /// Ends a grant that was not claimed, and silent tickets behind it, before anything is granted.
    mutating func expireUnclaimed(_ ids: [TransitionID], in step: inout Step) {
        guard let scene = ids.first.flatMap({ durable.transitions[$0] })?.request.scene,
            ids.allSatisfy({ durable.transitions[$0].map { !$0.isEnded } ?? false })
        else { return }
        step.keep(.expireUnclaimed(ids))
        for id in ids { end(id, as: .expired(.unclaimed), in: &step) }
        settle(scene, step: &step)
        prune(at: step.now)
    }

    /// The tickets whose turn would come if an unclaimed grant ended, and whose owners have said nothing since that grant,
    /// in the order of their places; so a row of dead owners costs the time of one claim.
    ///
    /// A ticket whose end is remembered blocks none of them: it ends in its turn.
    ///
    /// - Returns: at most so many, and whether there are no others.
    private func silentTickets(behind id: TransitionID, atMost limit: Int) -> (silent: [TransitionID], areAll: Bool) {
        guard !durable.isHoldingGrants, let unclaimed = durable.transitions[id],
            let since = momentary.attention[id]?.grantedAt, let scene = durable.scenes[unclaimed.request.scene]
        else { return ([], true) }
        var queue = scene.queue
        queue.remove(unclaimed.place)
        var silent: [Transition] = []
        // One that is to get any of its names stands in everybody's way at all of them until it is granted.
        while let next = queue.grantNext(under: durable.rules, mayChoose: false).flatMap({ durable.transitions[$0] }) {
            let isSilent = isSilent(next, since: since)
            if isSilent {
                guard silent.count < limit else { return (ids(of: silent), false) }
                silent.append(next)
            }
            // What is neither silent nor ended keeps the others behind it waiting.
            if isSilent || next.hasRememberedEnd { queue.remove(next.place) }
        }
        return (ids(of: silent), true)

        func ids(of tickets: [Transition]) -> [TransitionID] { tickets.sorted { $0.place < $1.place }.map(\.id) }
    }

    private func isSilent(_ ticket: Transition, since: Instant) -> Bool {
        guard let attention = momentary.attention[ticket.id], !ticket.hasRememberedEnd else { return false }
        return attention.ownersWaiting == 0 && ticket.session == nil && attention.heardAt <= since
    }

    /// Ends an unfinished transition for which a deadline has passed.
    mutating func expire(_ id: TransitionID, because reason: ExpiryReason, in step: inout Step) {
        guard let transition = durable.transitions[id], !transition.isEnded else { return }
        step.keep(.expire(id, reason))
        let unmet = reason == .queueTimeout ? transition.unmet : nil
        endAndGrant(id, as: unmet.map { .rejected(.expectationFailed($0)) } ?? .expired(reason), in: &step)
    }
}
