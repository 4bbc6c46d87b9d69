internal import ArbiterCore
internal import ArbiterModel

// The answers that clients got, and what a crash takes back.

extension Ledger {
    /// A client gets an answer that was computed when `sequence` was the last record.
    ///
    /// Two answers of one turn arrive in any order: an older one may say less than a client was told already.
    mutating func tell(_ view: TransitionView, sequence: UInt64) throws(Broken) {
        let id = view.transition.id
        guard let index = index(of: id) else { return }
        guard view.transition.token == entries[index].token else { throw Broken(.promise, "\(id) has another token") }
        var told = entries[index].told
        told.known = told.known ?? sequence
        let fence = view.transition.grant?.fence
        if case .ended(let ending) = view.transition.phase {
            guard told.outcome.map({ $0.outcome == ending.outcome }) ?? true else {
                throw Broken(.promise, "\(id) was said to have ended otherwise")
            }
            told.outcome = told.outcome ?? (ending.outcome, sequence)
        }
        guard told.outcome.map({ view.transition.isEnded || sequence < $0.sequence }) ?? true else {
            throw Broken(.promise, "\(id) lives again")
        }
        guard told.fence.map({ $0.fence == fence }) ?? true else {
            throw Broken(.promise, "\(id) was told another fence")
        }
        if let fence {
            told.fence = told.fence ?? (fence, sequence)
            lastFenceTold = max(lastFenceTold, fence)
        }
        if let gesture = view.transition.gesture { told.gesture = told.gesture ?? (gesture, sequence) }
        guard told.gesture?.decided == view.transition.gesture else {
            throw Broken(.promise, "\(id) was told to be decided otherwise")
        }
        if view.transition.isPerformed { told.performed = told.performed ?? sequence }
        guard view.transition.isPerformed == (told.performed != nil) else {
            throw Broken(.promise, "\(id) was told to have its operation")
        }
        if fence != nil, view.transition.state == .running || view.transition.isEnded {
            let laggards = view.transition.laggards
            told.laggards = told.laggards ?? (laggards, sequence)
            guard told.laggards?.names == laggards else {
                throw Broken(.promise, "\(id) was told to have run without others than \(laggards)")
            }
        }
        entries[index].told = told
    }

    /// The machine has died: answers that depend on lost records need not be true any more.
    mutating func releasePromises(after sequence: UInt64) {
        releaseSessionPromises(after: sequence)
        for index in entries.indices {
            if let known = entries[index].told.known, known > sequence { entries[index].told.known = nil }
            if let fence = entries[index].told.fence, fence.sequence > sequence { entries[index].told.fence = nil }
            if let laggards = entries[index].told.laggards, laggards.sequence > sequence {
                entries[index].told.laggards = nil
            }
            if let gesture = entries[index].told.gesture, gesture.sequence > sequence {
                entries[index].told.gesture = nil
            }
            if let performed = entries[index].told.performed, performed > sequence {
                entries[index].told.performed = nil
            }
            if let outcome = entries[index].told.outcome, outcome.sequence > sequence {
                entries[index].told.outcome = nil
            }
        }
    }

    /// Checks that the answers that clients got are still true.
    func checkPromises(_ machine: ArbiterStateMachine, after sequence: UInt64) throws(Broken) {
        try checkSessionPromises(machine, after: sequence)
        for entry in entries where entry.told.known != nil {
            guard let transition = machine.transition(entry.id) else {
                if let forgotten = entry.forgotten, forgotten <= sequence { continue }
                throw Broken(.promise, "\(entry.id) was answered and is not known")
            }
            var outcome: TransitionOutcome?
            if case .ended(let ending) = transition.phase { outcome = ending.outcome }
            guard transition.token == entry.token else { throw Broken(.promise, "\(entry.id) has another token") }
            guard entry.told.fence.map({ $0.fence == transition.grant?.fence }) ?? true else {
                throw Broken(.promise, "\(entry.id) was granted and has lost it")
            }
            guard entry.told.gesture.map({ $0.decided == transition.gesture }) ?? true else {
                throw Broken(.promise, "\(entry.id) was decided and is not")
            }
            guard entry.told.performed == nil || transition.isPerformed else {
                throw Broken(.promise, "\(entry.id) was given its operation and has none")
            }
            guard entry.told.outcome.map({ $0.outcome == outcome }) ?? true else {
                throw Broken(.promise, "\(entry.id) had ended, and is \(transition.state)")
            }
        }
    }

    /// Takes back the effects of the records after a sequence.
    ///
    /// - Returns: how many ended transitions run again.
    mutating func truncate(to sequence: UInt64) -> Int {
        var revived = 0
        truncateSessions(to: sequence)
        entries.removeAll { $0.created > sequence }
        for index in entries.indices {
            if let grant = entries[index].grant, grant.sequence > sequence {
                entries[index].grant = nil
                entries[index].asked = []
            }
            if let ran = entries[index].ran, ran > sequence { entries[index].ran = nil }
            if let gesture = entries[index].gesture, gesture.sequence > sequence { entries[index].gesture = nil }
            if let performed = entries[index].performed, performed.sequence > sequence {
                entries[index].performed = nil
            }
            entries[index].readied.removeAll { $0.sequence > sequence }
            entries[index].answered.removeAll { $0.sequence > sequence }
            entries[index].withdrawn.removeAll { $0.sequence > sequence }
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
