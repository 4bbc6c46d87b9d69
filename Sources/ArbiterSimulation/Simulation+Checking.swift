internal import ArbiterCore

// What must be true after every command.

extension Simulation {
    /// Where nothing durable has changed, what is dear is looked at now and then.
    mutating func check(isDurable: Bool = true) throws(Broken) {
        let isThorough = statistics[.commands] % 8 == 0
        if isDurable || isThorough, let broken = machine.brokenInvariant() { throw Broken(.consistency, broken) }
        if let contradiction = oracle.contradiction { throw Broken(.oracle, contradiction) }
        try checkHierarchies()
        let news = try ledger.observe(
            machine, at: now, sequence: journal.last, granting: oracle.granted, isThorough: isThorough)
        for item in news {
            switch item {
            case .granted(let id): try checkGrant(of: id)
            case .ended(let id, let outcome): try checkEnding(of: id, outcome)
            case .forgotten: statistics.count(.forgotten)
            }
        }
        let ended = news.count { if case .ended = $0 { true } else { false } }
        guard ended == oracle.endings.count else {
            throw Broken(.oracle, "\(oracle.endings.map(\.id)) are to end, and \(ended) end")
        }
        try oracle.check(machine)
        try ledger.checkSessions(machine)
        for waiting in parked {
            guard let entry = ledger[waiting.transition], !entry.hasReached(waiting.milestone) else {
                throw Broken(.wake, "\(waiting.waiter) waits for what has come")
            }
        }
        oracle.forgetStep()
    }

    private mutating func checkGrant(of id: TransitionID) throws(Broken) {
        statistics.count(.grants)
        guard let entry = ledger[id], let transition = machine.transition(id) else { return }
        let name = entry.request.scene
        let scene = oracle.scene(name)
        try holds.checkGrant(
            of: id, scene.locked(by: entry.request, transition.scope), in: scene, named: name, at: outside)
        if oracle.line.contains(where: { $0.scene == name && $0.isGranted && $0.id != id }) {
            statistics.count(.grantsSideBySide)
        }
        if entry.gesture != nil { statistics.count(.decidedBeforeGrant) }
        if oracle[id]?.state == .preparing { statistics.count(.preparing) }
    }

    private mutating func checkEnding(of id: TransitionID, _ outcome: TransitionOutcome) throws(Broken) {
        guard let expected = oracle.endings.first(where: { $0.id == id })?.ending else {
            throw Broken(.oracle, "\(id) ends: \(outcome)")
        }
        guard let transition = machine.transition(id), case .ended(let ending) = transition.phase else { return }
        guard NaiveEnding(ending) == expected else {
            throw Broken(.oracle, "\(id) ends as \(NaiveEnding(ending)), and was to end as \(expected)")
        }
        switch (outcome, transition.gesture?.decision) {
        case (.completed, .cancel), (.cancelled, .finish):
            throw Broken(.life, "\(id) is \(outcome) against its gesture")
        case (.superseded(let other), _):
            guard let winner = ledger[other], winner.request.scene == transition.request.scene, winner.isSerialized,
                winner.request.coalescing?.key == transition.request.coalescing?.key, ending.grant == nil
            else { throw Broken(.life, "\(id) is superseded by \(other)") }
        default:
            break
        }
        count(outcome, transition, ending)
    }

    /// Every hierarchy is what the completed operations have made of the one that was declared.
    private func checkHierarchies() throws(Broken) {
        for (name, scene) in oracle.scenes {
            guard let (storyboard, revision) = try? machine.storyboard(of: name), revision.rawValue == scene.revision
            else { throw Broken(.hierarchy, "\(name) is to be at revision \(scene.revision)") }
            if let difference = scene.tree.difference(from: storyboard.hierarchy) {
                throw Broken(.hierarchy, "\(name): \(difference)")
            }
        }
    }

    /// What is told is what has happened, numbered without a gap.
    func check(_ events: [SceneEvent], against expected: [NaiveEvent], of command: Command) throws(Broken) {
        let told = events.compactMap(NaiveEvent.init)
        guard told == expected else {
            throw Broken(.event, "\(command) is told as \(told), and was to be told as \(expected)")
        }
    }

    /// Replays what came since a savepoint beside the machine: the same bytes must come of it.
    ///
    /// The last savepoint is enough: it was compared when it was made, and restarts begin with any of them.
    ///
    /// - Returns: the bytes as they were after `sequence`.
    @discardableResult
    mutating func compareReplay(passing sequence: UInt64) throws(Broken) -> [UInt8] {
        statistics.count(.replays)
        let limits = configuration.limits
        let savepoint = journal.savepoints.last { $0.sequence <= sequence } ?? journal.savepoints[0]
        var (replayed, oracle) = try journal.restored(from: savepoint, upTo: sequence, limits: limits)
        let passed = replayed.snapshot()
        try journal.replay(after: sequence, upTo: journal.last, on: &replayed, &oracle)
        guard replayed.snapshot() == machine.snapshot() else {
            throw Broken(.replay, "the records up to \(journal.last) give another state when they are replayed")
        }
        return passed
    }
}
