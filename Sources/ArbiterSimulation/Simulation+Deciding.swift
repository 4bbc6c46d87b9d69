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
            guard let decision = machine.nextDecision(at: now) else { return try checkNothingIsDue() }
            try checkReason(for: decision)
            try perform(decision)
        }
        throw Broken(.decision, "the arbiter never stops deciding")
    }

    private func checkNothingIsDue() throws(Broken) {
        if let late = parked.first(where: { $0.until <= now }) {
            throw Broken(.wake, "\(late.waiter) has waited for longer than it asked to")
        }
        if oracle.isHoldingGrants, heldSince.advanced(by: Limits.leaseDurations.upperBound) <= now {
            throw Broken(.decision, "grants are held for longer than any lease")
        }
        for entry in ledger.entries where entry.isUnfinished {
            let request = entry.request
            guard entry.isQueued else {
                if entry.heardAt.advanced(by: request.lease ?? Limits.defaultLease) > now { continue }
                throw Broken(.decision, "\(entry.id) runs on after its lease")
            }
            if let queue = request.queue, entry.requestedAt.instant.advanced(by: queue) <= now {
                throw Broken(.decision, "\(entry.id) waits for longer than it was ready to")
            }
            guard entry.remembered == nil, entry.heardAt.advanced(by: request.ticket) <= now else { continue }
            guard parked.contains(where: { $0.transition == entry.id && $0.request.ask.isOwners }) else {
                throw Broken(.decision, "\(entry.id) waits on without its owner")
            }
        }
    }

    /// Whether the arbiter may decide that, as far as can be seen from outside.
    func checkReason(for decision: Command) throws(Broken) {
        switch decision {
        case .expire(let id, let reason):
            guard let entry = ledger[id], entry.isUnfinished else {
                throw Broken(.decision, "\(id) is not unfinished and expires")
            }
            let isOwnerParked = parked.contains { $0.transition == id && $0.request.ask.isOwners }
            let isFair =
                switch reason {
                case .lease, .unclaimed: !entry.isQueued
                case .sessionLost, .participants: false
                case .abandoned: entry.isQueued && entry.remembered == nil && !isOwnerParked
                case .queueTimeout:
                    entry.isQueued
                        && entry.request.queue.map { entry.requestedAt.instant.advanced(by: $0) <= now } ?? false
                }
            guard isFair else { throw Broken(.decision, "\(id) expires: \(reason.rawValue)") }
        case .answer(let waiter):
            guard parked.contains(where: { $0.waiter == waiter && $0.until <= now }) else {
                throw Broken(.decision, "\(waiter) is answered too early, or does not wait")
            }
        case .resume:
            guard oracle.isHoldingGrants else { throw Broken(.decision, "grants are resumed that were not held") }
        case .start, .serialize, .await, .end, .renew, .progress, .release, .ready, .openSession, .renewSession,
            .endSession, .declare, .delete, .leave, .attach, .detach, .drain, .decide, .markReady, .settle,
            .closeSession,
            .distrust:
            throw Broken(.decision, "the arbiter decided \(decision)")
        }
    }
}
