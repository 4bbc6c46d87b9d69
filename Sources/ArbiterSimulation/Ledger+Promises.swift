internal import ArbiterCore

// What clients were told, and what a crash takes back.

extension Ledger {
    /// A client sees an answer, computed when `sequence` was the last record.
    mutating func tell(_ view: TransitionView, sequence: UInt64) throws(Broken) {
        let id = view.transition.id
        guard let index = index(of: id) else { return }
        guard view.transition.token == entries[index].token else { throw Broken(.promise, "\(id) has another token") }
        var told = entries[index].told
        told.known = told.known ?? sequence
        let fence: Fence?
        switch view.transition.phase {
        case .queued:
            fence = nil
        case .preparing(let grant), .running(let grant):
            fence = grant.fence
        case .ended(let ending):
            fence = ending.grant?.fence
            guard told.outcome.map({ $0.outcome == ending.outcome }) ?? true else {
                throw Broken(.promise, "\(id) was said to have ended otherwise")
            }
            told.outcome = told.outcome ?? (ending.outcome, sequence)
        }
        guard told.outcome == nil || view.transition.isEnded else { throw Broken(.promise, "\(id) lives again") }
        guard told.fence.map({ $0.fence == fence }) ?? true else {
            throw Broken(.promise, "\(id) was told another fence")
        }
        if let fence {
            told.fence = told.fence ?? (fence, sequence)
            lastFenceTold = max(lastFenceTold, fence)
        }
        entries[index].told = told
    }

    /// The machine has died: what was answered on the strength of lost records is promised no more.
    mutating func releasePromises(after sequence: UInt64) {
        for index in entries.indices {
            if let known = entries[index].told.known, known > sequence { entries[index].told.known = nil }
            if let fence = entries[index].told.fence, fence.sequence > sequence { entries[index].told.fence = nil }
            if let outcome = entries[index].told.outcome, outcome.sequence > sequence {
                entries[index].told.outcome = nil
            }
        }
    }

    /// Whatever was answered is still true.
    func checkPromises(_ machine: ArbiterStateMachine, after sequence: UInt64) throws(Broken) {
        for entry in entries where entry.told.known != nil {
            guard let transition = machine.transition(entry.id) else {
                if let forgotten = entry.forgotten, forgotten <= sequence { continue }
                throw Broken(.promise, "\(entry.id) was answered and is not known")
            }
            let grant: Transition.Grant?
            var outcome: TransitionOutcome?
            switch transition.phase {
            case .queued:
                grant = nil
            case .preparing(let running), .running(let running):
                grant = running
            case .ended(let ending):
                grant = ending.grant
                outcome = ending.outcome
            }
            guard transition.token == entry.token else { throw Broken(.promise, "\(entry.id) has another token") }
            guard entry.told.fence.map({ $0.fence == grant?.fence }) ?? true else {
                throw Broken(.promise, "\(entry.id) was granted and has lost it")
            }
            guard entry.told.outcome.map({ $0.outcome == outcome }) ?? true else {
                throw Broken(.promise, "\(entry.id) had ended, and is \(transition.state)")
            }
        }
    }

    /// Takes back what was made so by the records after one.
    ///
    /// - Returns: how many ended transitions run again.
    mutating func truncate(to sequence: UInt64) -> Int {
        var revived = 0
        entries.removeAll { $0.created > sequence }
        for index in entries.indices {
            if let remembered = entries[index].remembered, remembered > sequence { entries[index].remembered = nil }
            if let grant = entries[index].grant, grant.sequence > sequence { entries[index].grant = nil }
            if let ending = entries[index].ending, ending.sequence > sequence {
                entries[index].ending = nil
                if entries[index].grant != nil {
                    entries[index].isRevived = true
                    revived += 1
                }
            }
            if let forgotten = entries[index].forgotten, forgotten > sequence { entries[index].forgotten = nil }
        }
        lastFence = entries.compactMap { $0.grant?.fence }.max() ?? Fence(rawValue: 0)
        return revived
    }
}
