internal import ArbiterCore
internal import ArbiterModel

// The comparison of every transition in the state machine with the ledger.

extension Ledger {
    /// Compares every transition of the machine with its entry, and notes what is new.
    ///
    /// `expected` are the transitions that the last record grants, in the order of their fences. Ended transitions and
    /// requests are compared again only if `isThorough` is set.
    mutating func observe(
        _ machine: ArbiterStateMachine, at now: Instant, sequence: UInt64, granting expected: [TransitionID],
        isThorough: Bool
    ) throws(Broken) -> [News] {
        var news: [News] = []
        var grants: [(id: TransitionID, fence: Fence)] = []
        var missing: [Int] = []
        for index in entries.indices where entries[index].forgotten == nil {
            let isKnown = entries[index].ending != nil && !isThorough
            if isKnown, machine.isInUse(entries[index].id) { continue }
            guard let transition = machine.transition(entries[index].id) else {
                missing.append(index)
                continue
            }
            if isThorough { try checkRequest(of: transition, entries[index]) }
            guard transition.gesture == entries[index].gesture?.decided else {
                throw Broken(
                    .life, "\(transition.id) is decided otherwise: \(String(describing: transition.gesture))")
            }
            guard transition.isPerformed == (entries[index].performed != nil) else {
                throw Broken(.life, "\(transition.id) has another operation than it was given")
            }
            try checkPhase(of: transition, entries[index])
            if entries[index].grant == nil, let grant = transition.grant {
                grants.append((transition.id, grant.fence))
                entries[index].grant = (grant.fence, sequence)
                entries[index].heardAt = now
                entries[index].grantedAt = now
            }
            switch transition.phase {
            case .queued: break
            case .preparing: entries[index].preparingSince = entries[index].preparingSince ?? now
            case .running:
                guard entries[index].ran == nil else { break }
                entries[index].ran = sequence
                // Beginning to run makes the lease full.
                entries[index].heardAt = now
            case .ended(let ending):
                guard entries[index].ending == nil else { continue }
                entries[index].ending = (ending.outcome, ending.endedAt.instant, sequence)
                news.append(.ended(transition.id, ending.outcome))
            }
        }
        try checkGrants(grants, expected)
        return try expected.map { .granted($0) } + news + forget(missing, at: now, sequence: sequence)
    }

    private func checkRequest(of transition: Transition, _ entry: Entry) throws(Broken) {
        guard transition.token == entry.token, transition.requestedAt == entry.requestedAt,
            transition.isSerialized == entry.isSerialized, transition.request == entry.performedRequest,
            transition.lease == entry.lease
        else { throw Broken(.life, "\(entry.id) is not what was asked for") }
    }

    /// Checks that nothing of a grant or an end is taken back; the oracle compares the states.
    private func checkPhase(of transition: Transition, _ entry: Entry) throws(Broken) {
        let ending: Transition.Ending? = if case .ended(let ending) = transition.phase { ending } else { nil }
        guard entry.ending.map({ $0.outcome == ending?.outcome && $0.at == ending?.endedAt.instant }) ?? true,
            entry.grant.map({ $0.fence == transition.grant?.fence })
                ?? (entry.ending == nil || transition.grant == nil)
        else { throw Broken(.life, "\(entry.id) lives again, ended otherwise or has another fence: \(transition)") }
    }

    /// Checks that new grants have greater fences than all before, in the expected order.
    private mutating func checkGrants(
        _ grants: [(id: TransitionID, fence: Fence)], _ expected: [TransitionID]
    ) throws(Broken) {
        let found = grants.sorted { $0.fence < $1.fence }
        for (id, fence) in found {
            guard fence > lastFence, fence > lastFenceTold else {
                throw Broken(.fence, "\(id) has \(fence) after \(max(lastFence, lastFenceTold))")
            }
            lastFence = fence
        }
        guard found.map(\.id) == expected else {
            throw Broken(.order, "\(found.map(\.id)) are granted, and \(expected) were to be")
        }
    }

    /// Checks that every forgotten transition had ended, and was old or beyond the limit.
    private mutating func forget(
        _ missing: [Int], at now: Instant, sequence: UInt64
    ) throws(Broken) -> [News] {
        var news: [News] = []
        var kept = entries.count { $0.forgotten == nil && $0.ending != nil }
        for index in missing {
            guard let ending = entries[index].ending else {
                throw Broken(.life, "\(entries[index].id) is forgotten and was not over")
            }
            let isOld = ending.at.advanced(by: limits.retainedDuration) <= now
            guard kept > limits.retainedCount, isOld || kept > limits.retainedMaximum else {
                throw Broken(.life, "\(entries[index].id) is forgotten too early")
            }
            kept -= 1
            entries[index].forgotten = sequence
            news.append(.forgotten)
        }
        guard kept <= limits.retainedMaximum else { throw Broken(.life, "\(kept) ended ones are kept") }
        return news
    }
}
