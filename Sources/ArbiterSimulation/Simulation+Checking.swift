internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

// The checks after every record.

extension Simulation {
    /// Compares the replica with the ledger and the oracle.
    mutating func check() throws(Broken) {
        if let contradiction = oracle.contradiction { throw Broken(.oracle, contradiction) }
        try checkHierarchies()
        let instant = observedAt?.instant ?? now
        let news = try ledger.observe(
            replica.machine, at: instant, sequence: observed, granting: oracle.granted,
            isThorough: statistics[.records] % 8 == 0)
        for item in news {
            switch item {
            case .granted(let id): try checkGrant(of: id)
            case .ended(let id, let outcome): try checkEnding(of: id, outcome)
            case .forgotten: statistics.count(.forgotten)
            }
        }
        for case .transition(.updated, let id) in oracle.events.map(\.kind) where ledger[id]?.request.unmet == .wait {
            if oracle[id]?.isGranted == false { statistics.count(oracle[id]?.unmet == nil ? .returned : .setAside) }
        }
        let ended = news.count { if case .ended = $0 { true } else { false } }
        guard ended == oracle.endings.count else {
            throw Broken(.oracle, "\(oracle.endings.map(\.id)) are to end, and \(ended) end")
        }
        try oracle.check(replica.machine)
        try ledger.checkSessions(replica.machine)
        replica.oracle.forgetStep()
    }

    private mutating func checkGrant(of id: TransitionID) throws(Broken) {
        statistics.count(.grants)
        guard let entry = ledger[id], let transition = replica.machine.transition(id) else { return }
        let name = entry.request.scene
        let scene = oracle.scene(name)
        try holds.checkGrant(
            of: id, scene.locked(by: entry.request, transition.scope), isShared: entry.request.mode == .shared,
            in: scene, named: name, at: outside)
        if oracle.line.contains(where: { $0.scene == name && $0.isGranted && $0.id != id }) {
            statistics.count(.grantsSideBySide)
        }
        if entry.request.mode == .shared { statistics.count(.grantsShared) }
        if case .anyOf? = entry.request.scope { statistics.count(.namesChosen) }
        if let known = oracle[id],
            oracle.line.contains(where: {
                $0.scene == name && !$0.isGranted && $0.order < known.order && $0.priority < known.priority
            })
        {
            statistics.count(.overtaking)
        }
        if entry.gesture != nil { statistics.count(.decidedBeforeGrant) }
        if oracle[id]?.state == .preparing { statistics.count(.preparing) }
    }

    private mutating func checkEnding(of id: TransitionID, _ outcome: TransitionOutcome) throws(Broken) {
        guard let expected = oracle.endings.first(where: { $0.id == id })?.ending else {
            throw Broken(.oracle, "\(id) ends: \(outcome)")
        }
        guard let transition = replica.machine.transition(id), case .ended(let ending) = transition.phase else {
            return
        }
        guard NaiveEnding(ending) == expected else {
            throw Broken(.oracle, "\(id) ends as \(NaiveEnding(ending)), and was to end as \(expected)")
        }
        switch (outcome, transition.gesture?.decision) {
        case (.cancelled, .finish) where ending.interruptedBy != nil && ledger[id]?.ran == nil:
            break
        case (.completed, .cancel), (.cancelled, .finish):
            throw Broken(.life, "\(id) is \(outcome) against its gesture")
        case (.superseded(let other), _):
            guard let winner = ledger[other], winner.request.scene == transition.request.scene,
                winner.request.coalescing?.key == transition.request.coalescing?.key,
                ending.grant == nil || winner.request.coalescing?.among == .unfinished && ledger[id]?.ran == nil
            else { throw Broken(.life, "\(id) is superseded by \(other)") }
        case (.completed, _), (.cancelled, _), (.expired, _), (.rejected, _), (.revoked, _):
            break
        }
        count(outcome, transition, ending)
    }

    /// Compares every hierarchy with the tree that the completed operations made of the declared one.
    private func checkHierarchies() throws(Broken) {
        for (name, scene) in oracle.scenes {
            guard let (hierarchy, revision) = replica.machine.hierarchy(of: name), revision.rawValue == scene.revision
            else { throw Broken(.hierarchy, "\(name) is to be at revision \(scene.revision)") }
            if let difference = scene.tree.difference(from: hierarchy) {
                throw Broken(.hierarchy, "\(name): \(difference)")
            }
        }
    }

    // MARK: - Replays

    /// Checks that the engine's durable state is still what its records made of it.
    func checkNothingHasChanged(because ask: Ask) throws(Broken) {
        guard configuration.watchesJournal,
            process.engine.inspect({ $0.snapshot() }) != replica.machine.snapshot()
        else { return }
        throw Broken(.replay, "\(ask) has changed something")
    }

    /// Compares the durable states of the engine and the replica, and a replay of the journal, byte for byte.
    mutating func compareReplays() throws(Broken) {
        guard configuration.watchesJournal else { return }
        statistics.count(.replays)
        let known = replica.machine.snapshot()
        if !isDown, process.engine.inspect({ $0.snapshot() }) != known {
            throw Broken(.replay, "the records up to \(observed) give another state when they are replayed")
        }
        // The last savepoint is enough: it was compared when it was made, and restarts begin with any savepoint.
        guard journal.last == observed, let savepoint = journal.savepoints.last else { return }
        var restored = replica
        _ = try restored.restore(from: savepoint, upTo: observed, of: journal)
        guard restored.machine.snapshot() == known else {
            throw Broken(.replay, "the journal gives another state up to \(observed) than what it was given")
        }
    }
}
