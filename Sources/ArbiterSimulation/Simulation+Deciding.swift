internal import ArbiterCore

// What the arbiter decides by itself, and when it has to.

extension Simulation {
    /// Does what is due, before and after every command.
    mutating func decide() throws(Broken) {
        if configuration.fault == .missedDeadline, chance.isOnce(in: 50) { return try checkNothingIsDue() }
        if configuration.fault == .hastyExpiry, chance.isOnce(in: 50),
            let running = ledger.entries.last(where: { $0.grant != nil && $0.isUnfinished })
        {
            try perform(.expire(running.id, .lease))
        }
        for _ in 0..<1000 {
            guard let decision = nextDecision() else { return try checkNothingIsDue() }
            try checkReason(for: decision)
            try perform(decision)
        }
        throw Broken(.decision, "the arbiter never stops deciding")
    }

    private mutating func nextDecision() -> Command? {
        let decision = machine.nextDecision(at: now)
        // The fault: it hears of its client, although nothing was said.
        if configuration.fault == .immortalSession, case .closeSession(let id, .expired)? = decision,
            let token = oracle.sessions.first(where: { $0.value.id == id })?.key
        {
            _ = machine.apply(.renewSession(token), at: moment)
            return machine.nextDecision(at: now)
        }
        return decision
    }

    private func checkNothingIsDue() throws(Broken) {
        if let late = parked.first(where: { $0.until <= now }) {
            throw Broken(.wake, "\(late.waiter) has waited for longer than it asked to")
        }
        if oracle.isHoldingGrants, heldSince.advanced(by: Limits.leaseDurations.upperBound) <= now {
            throw Broken(.decision, "grants are held for longer than any lease")
        }
        if let id = vigils.someDue(at: now) { throw Broken(.session, "\(id) lives on without a word") }
        for entry in ledger.entries where entry.isUnfinished {
            if entry.isQueued { try checkMayWait(entry) } else { try checkMayHold(entry) }
        }
    }

    private func checkMayHold(_ entry: Ledger.Entry) throws(Broken) {
        if entry.heardAt.advanced(by: entry.lease) <= now {
            throw Broken(.decision, "\(entry.id) runs on after its lease")
        }
        if entry.isPreparing, let since = entry.preparingSince, since.advanced(by: entry.request.ready) <= now {
            throw Broken(.decision, "\(entry.id) waits on for its participants")
        }
    }

    private func checkMayWait(_ entry: Ledger.Entry) throws(Broken) {
        if let queue = entry.request.queue, entry.requestedAt.instant.advanced(by: queue) <= now {
            throw Broken(.decision, "\(entry.id) waits for longer than it was ready to")
        }
        guard entry.remembered == nil, entry.request.session == nil,
            entry.heardAt.advanced(by: entry.request.ticket) <= now
        else { return }
        guard parked.contains(where: { $0.transition == entry.id && $0.request.ask.isOwners }) else {
            throw Broken(.decision, "\(entry.id) waits on without its owner")
        }
    }

    /// Whether the arbiter may decide that, as far as can be seen from outside.
    func checkReason(for decision: Command) throws(Broken) {
        switch decision {
        case .expire(let id, let reason):
            guard let entry = ledger[id], entry.isUnfinished, isFair(reason, for: entry) else {
                throw Broken(.decision, "\(id) expires: \(reason.rawValue)")
            }
        case .settle(let id):
            guard let entry = ledger[id], entry.isPreparing,
                entry.preparingSince.map({ $0.advanced(by: entry.request.ready) <= now }) ?? false
            else { throw Broken(.decision, "\(id) runs before its participants are late") }
        case .closeSession(let id, let ending):
            guard ending == .expired, vigils.isDue(id, at: now) else {
                throw Broken(.session, "\(id) is \(ending.rawValue) too early")
            }
        case .answer(let waiter):
            guard parked.contains(where: { $0.waiter == waiter && $0.until <= now }) else {
                throw Broken(.decision, "\(waiter) is answered too early, or does not wait")
            }
        case .resume:
            guard oracle.isHoldingGrants else { throw Broken(.decision, "grants are resumed that were not held") }
        case .start, .serialize, .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession,
            .renewSession,
            .endSession, .declare, .delete, .leave, .attach, .detach, .drain, .decide, .markReady, .distrust,
            .skipFences:
            throw Broken(.decision, "the arbiter decided \(decision)")
        }
    }

    private func isFair(_ reason: ExpiryReason, for entry: Ledger.Entry) -> Bool {
        let isOwnerParked = parked.contains { $0.transition == entry.id && $0.request.ask.isOwners }
        return switch reason {
        case .lease: !entry.isQueued
        case .unclaimed: !entry.isQueued && entry.request.session == nil
        case .abandoned:
            entry.isQueued && entry.remembered == nil && entry.request.session == nil && !isOwnerParked
        case .queueTimeout:
            entry.isQueued
                && entry.request.queue.map { entry.requestedAt.instant.advanced(by: $0) <= now } ?? false
        case .sessionLost, .participants: false
        }
    }
}
