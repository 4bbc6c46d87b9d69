internal import ArbiterCore

// What must be true after every command.

extension Simulation {
    mutating func check() throws(Broken) {
        if let broken = machine.brokenInvariant() { throw Broken(.consistency, broken) }
        let news = try ledger.observe(machine, at: now, sequence: journal.last)
        for item in news {
            switch item {
            case .granted(let id, let scene):
                statistics.count(.grants)
                try holds.checkGrant(of: id, in: scene, at: now)
            case .ended(let outcome):
                count(outcome)
            case .forgotten:
                statistics.count(.forgotten)
            }
        }
        try oracle.check(machine)
        for waiting in parked {
            guard let entry = ledger[waiting.transition], !entry.hasReached(waiting.milestone) else {
                throw Broken(.wake, "\(waiting.waiter) waits for what has come")
            }
        }
    }

    private mutating func count(_ outcome: TransitionOutcome) {
        switch outcome {
        case .completed: statistics.count(.completed)
        case .cancelled: statistics.count(.cancelled)
        case .expired(.lease): statistics.count(.expiredLease)
        case .expired(.abandoned): statistics.count(.expiredAbandoned)
        case .expired(.unclaimed): statistics.count(.expiredUnclaimed)
        case .expired(.queueTimeout): statistics.count(.expiredQueueTimeout)
        case .expired(.sessionLost), .expired(.participants), .rejected, .superseded: break
        }
    }

    mutating func count(_ verdict: Verdict, _ command: Command, isDurable: Bool) {
        statistics.count(.commands)
        switch verdict {
        case .new, .done: return
        case .parked: return statistics.count(.parked)
        case .known:
            switch command {
            case .start, .serialize: statistics.count(.repeatedRequests)
            case .end(let id, _, .completed):
                if isDurable, oracle.contains(id) { statistics.count(.rememberedEnds) }
            case .end, .await, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare,
                .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession,
                .distrust, .resume, .answer:
                break
            }
            return
        case .busy: statistics.count(.busy)
        case .holdingGrants: statistics.count(.holdingGrants)
        case .wrongToken: statistics.count(.wrongTokens)
        case .alreadyEnded, .alreadyDecided, .endedWithoutOwner: statistics.count(.lateEnds)
        case .keyReused: statistics.count(.reusedKeys)
        case .queueFull, .tooManyTransitions, .tooManyScenes: statistics.count(.limitsReached)
        case .impossible: break
        case .unknown: statistics.count(.unknown)
        }
        statistics.count(.refusals)
    }

    /// Replays everything beside the machine: the same bytes must come of it.
    ///
    /// - Returns: the bytes as they were after `sequence`.
    @discardableResult
    mutating func compareReplay(passing sequence: UInt64) throws(Broken) -> [UInt8] {
        statistics.count(.replays)
        let limits = configuration.limits
        let oldest = journal.savepoints[0]
        var (replayed, oracle) = try journal.restored(from: oldest, upTo: sequence, limits: limits)
        let passed = replayed.snapshot()
        try journal.replay(after: sequence, upTo: journal.last, on: &replayed, &oracle)
        guard replayed.snapshot() == machine.snapshot() else {
            throw Broken(.replay, "the records up to \(journal.last) give another state when they are replayed")
        }
        return passed
    }
}
