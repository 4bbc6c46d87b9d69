internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

// The arbiter's own decisions: not too early, not too late, and for the right reason.

extension Simulation {
    /// Checks after a turn that nothing is overdue, and that an alarm is set for the next deadline.
    ///
    /// - Parameters:
    ///   - isDurable: whether a record was made.
    ///   - isFirst: whether the engine has just opened the journal: then it sets the alarm for what is due already.
    /// - Throws: `Broken`.
    mutating func checkTurn(isDurable: Bool, isFirst: Bool) throws(Broken) {
        if !isFirst { try checkNothingIsDue() }
        let isThorough = isDurable || statistics[.steps] % 8 == 0
        let (next, broken) = process.engine.inspect { machine in
            (machine.nextDeadline, isThorough ? machine.brokenInvariant() : nil)
        }
        if let broken { throw Broken(.consistency, broken) }
        guard let next else { return }
        guard isFirst || next > now else { throw Broken(.decision, "what is due at \(next) is not done") }
        let latest = machineClock.now().instant.advanced(
            by: max(.zero, now.duration(to: next) + process.time.standstill))
        guard let alarm = process.alarm.next, alarm <= latest else {
            throw Broken(.decision, "no alarm is set for what is due at \(next)")
        }
    }

    private func checkNothingIsDue() throws(Broken) {
        let now = now
        if let late = parked.first(where: { $0.until <= now }) {
            throw Broken(.wake, "\(late.number) has waited for longer than it asked to")
        }
        try checkNobodyWaitsForIdle()
        if oracle.isHoldingGrants, heldSince.advanced(by: configuration.limits.longestSilence) <= now {
            throw Broken(.decision, "grants are held for longer than any lease")
        }
        if let id = vigils.someDue(at: now) { throw Broken(.session, "\(id) lives on without a word") }
        for entry in ledger.entries where entry.isUnfinished {
            if entry.isQueued { try checkMayWait(entry, at: now) } else { try checkMayHold(entry, at: now) }
        }
    }

    private func checkMayHold(_ entry: Ledger.Entry, at now: Instant) throws(Broken) {
        let completes = oracle[entry.id]?.hasRememberedEnd == true
        if entry.heardAt.advanced(by: entry.lease) <= now, !completes, !isOwnerParked(on: entry) {
            throw Broken(.decision, "\(entry.id) runs on after its lease")
        }
        if let hold = entry.request.maxHold, !completes, let since = entry.grantedAt, since.advanced(by: hold) <= now {
            throw Broken(.decision, "\(entry.id) runs for longer than it may")
        }
        if let since = entry.interruptedSince, let grace = oracle[entry.id]?.interruption?.grace,
            since.advanced(by: grace) <= now
        {
            throw Broken(.decision, "\(entry.id) runs on after its grace")
        }
        if entry.isPreparing, let since = entry.preparingSince, let time = oracle[entry.id]?.timeToPrepare,
            since.advanced(by: time) <= now
        {
            throw Broken(.decision, "\(entry.id) waits on for its participants")
        }
    }

    private func checkMayWait(_ entry: Ledger.Entry, at now: Instant) throws(Broken) {
        let completes = oracle[entry.id]?.hasRememberedEnd == true
        guard !completes || oracle[entry.id]?.unmet != nil else { return }
        if let queue = entry.request.queue, entry.requestedAt.instant.advanced(by: queue) <= now {
            throw Broken(.decision, "\(entry.id) waits for longer than it was ready to")
        }
        guard !completes, entry.request.session == nil,
            entry.heardAt.advanced(by: entry.request.ticket) <= now
        else { return }
        guard isOwnerParked(on: entry) else {
            throw Broken(.decision, "\(entry.id) waits on without its owner")
        }
    }

    /// Checks that a grant which nobody claimed takes exactly the silent tickets behind it with it.
    private func checkUnclaimed(_ ids: [TransitionID]) throws(Broken) {
        guard let first = ids.first, let entry = ledger[first], entry.isUnfinished, isFair(.unclaimed, for: entry),
            let since = entry.grantedAt
        else { throw Broken(.decision, "\(ids) were not to be claimed") }
        let row = oracle.row(behind: first) { id in
            ledger[id].map { $0.heardAt <= since && !isOwnerParked(on: $0) } ?? false
        }
        guard ids == row else { throw Broken(.decision, "\(ids) expire unclaimed, and not \(row)") }
    }

    private func isOwnerParked(on entry: Ledger.Entry) -> Bool {
        parked.contains { $0.transition == entry.id && $0.request.ask.isOwners }
    }

    /// Checks that a record of the arbiter's own is made at a time and for a reason that the rules allow.
    mutating func checkReason(for record: Record) throws(Broken) {
        if let expected = restartRecords.first, expected == record {
            restartRecords.removeFirst()
            return
        }
        guard configuration.watchesJournal else { return }
        switch record {
        case .expire(let id, .unclaimed): try checkUnclaimed([id])
        case .expireUnclaimed(let ids): try checkUnclaimed(ids)
        case .expire(let id, let reason):
            guard let entry = ledger[id], entry.isUnfinished, isFair(reason, for: entry) else {
                throw Broken(.decision, "\(id) expires: \(reason.rawValue)")
            }
        case .timeOutParticipants(let id):
            guard let entry = ledger[id], entry.isPreparing, let time = oracle[id]?.timeToPrepare,
                entry.preparingSince.map({ $0.advanced(by: time) <= now }) ?? false
            else { throw Broken(.decision, "\(id) runs before its participants are late") }
        case .endInterrupted(let id):
            guard let since = ledger[id]?.interruptedSince, let grace = oracle[id]?.interruption?.grace,
                since.advanced(by: grace) <= now
            else { throw Broken(.decision, "\(id) ends before its grace is over") }
        case .endSession(let id, let ending):
            guard ending == .expired, vigils.isDue(id, at: now) else {
                throw Broken(.session, "\(id) is \(ending.rawValue) too early")
            }
        case .resume:
            guard oracle.isHoldingGrants, heldSince.advanced(by: configuration.limits.longestSilence) <= now else {
                throw Broken(.decision, "grants are resumed that were not held, or not for long enough")
            }
        case .stop:
            guard isDown else { throw Broken(.decision, "the daemon stopped by itself") }
        case .start, .serialize, .end, .revoke, .revokeAll, .update, .openSession, .declare, .patch, .delete, .decide,
            .perform, .markReady,
            .veto, .answerGuards, .addGuard, .removeGuard,
            .interrupt, .markGone, .adopt, .distrust, .skipFences:
            throw Broken(.decision, "the arbiter decided \(record)")
        }
    }

    /// When a grant ends at the earliest, if it is not claimed.
    private func claimTime(of entry: Ledger.Entry, since grant: Instant) -> Instant {
        grant.advanced(by: min(configuration.limits.claim, entry.lease))
    }

    private func isFair(_ reason: ExpiryReason, for entry: Ledger.Entry) -> Bool {
        let isAlone = !isOwnerParked(on: entry)
        let completes = oracle[entry.id]?.hasRememberedEnd == true
        return switch reason {
        case .lease: !entry.isQueued && !completes && isAlone
        case .hold:
            !entry.isQueued && !completes
                && (entry.request.maxHold.flatMap { hold in entry.grantedAt.map { $0.advanced(by: hold) <= now } }
                    ?? false)
        case .unclaimed:
            !entry.isQueued && !completes && (entry.request.session == nil || entry.claims) && isAlone
                && !entry.isClaimed
                && entry.grantedAt.map { claimTime(of: entry, since: $0) <= now } ?? false
        case .abandoned: entry.isQueued && !completes && entry.request.session == nil && isAlone
        case .queueTimeout:
            entry.isQueued && (!completes || oracle[entry.id]?.unmet != nil)
                && entry.request.queue.map { entry.requestedAt.instant.advanced(by: $0) <= now } ?? false
        case .sessionLost, .participants: false
        }
    }
}
