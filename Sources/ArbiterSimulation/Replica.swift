internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

/// A second state machine that only applies the records, and the oracle.
struct Replica {
    var machine: ArbiterStateMachine
    var oracle: NaiveOracle
    /// The hierarchy of each scene, as a client knows it that only applies the changes in events.
    private var followed: [SceneName: Hierarchy] = [:]

    /// The oracle at each savepoint of the journal.
    private var oracles: [UInt64: NaiveOracle]

    init(limits: Limits, fault: Fault?) {
        machine = ArbiterStateMachine(limits: limits)
        oracle = NaiveOracle(limits: limits)
        oracle.ignoresAncestors = fault == .ignoredAncestor
        oracle.overlooksMoves = fault == .overlookedMove
        oracle.ignoresArrivals = fault == .ignoredArrival
        oracle.forgetsRows = fault == .forgottenRow
        oracle.overtakesGrants = fault == .overtakenGrant
        oracle.ignoresPriorities = fault == .ignoredPriority
        oracle.interruptsForNothing = fault == .uselessInterruption
        oracle.asideBlocks = fault == .blockingAside
        oracle.appliesListsInPart = fault == .partialList
        oracle.losesColumns = fault == .lostColumn
        oracle.overlooksGuards = fault == .overlookedGuard
        oracle.sharesWithAll = fault == .sharedWithAll
        oracle.keepsNames = fault == .keptName
        oracles = [0: oracle]
    }

    /// Keeps the oracle of a new savepoint, and drops those of dropped savepoints.
    mutating func save(after sequence: UInt64, savepoints: [SimulatedJournal.Savepoint]) {
        oracles[sequence] = oracle
        oracles = oracles.filter { oracle in savepoints.contains { $0.sequence == oracle.key } }
    }

    /// Applies a record to the machine.
    ///
    /// - Returns: its events.
    mutating func apply(_ record: Record, at moment: Moment, sequence: UInt64) throws(Broken) -> [KeptEvent] {
        let outcome = machine.apply(record, at: moment)
        guard outcome.records == [record] else {
            throw Broken(.replay, "record \(sequence), \(record), comes to \(outcome.records) when it is replayed")
        }
        for effect in outcome.effects {
            if case .publish(let event) = effect { try follow(event) }
        }
        return outcome.effects.compactMap { if case .publish(let event) = $0 { KeptEvent(event) } else { nil } }
    }

    /// Keeps the followed tree of a scene, and compares it with the machine's.
    private mutating func follow(_ event: SceneEvent) throws(Broken) {
        switch event.kind {
        case .transition, .progress, .sessionEnded, .appearance: return
        case .sceneDeleted: followed[event.scene] = nil
        case .hierarchyChanged(let news):
            switch news.change {
            case .replaced(let hierarchy): followed[event.scene] = hierarchy
            case .edited(let edits): followed[event.scene, default: Hierarchy()].apply(edits)
            }
            // A record may change a hierarchy several times; then only the last change gives the machine's.
            guard let (hierarchy, revision) = machine.hierarchy(of: event.scene), revision == news.revision else {
                return
            }
            guard followed[event.scene] == hierarchy else {
                throw Broken(.event, "the events of \(event.scene) tell another hierarchy at \(revision)")
            }
        }
    }

    /// Rebuilds machine and oracle from a savepoint and the records after it, up to a sequence.
    ///
    /// - Returns: the events of these records.
    mutating func restore(
        from savepoint: SimulatedJournal.Savepoint, upTo sequence: UInt64, of journal: SimulatedJournal
    ) throws(Broken) -> [KeptEvent] {
        machine = try Self.machine(of: savepoint, limits: machine.limits)
        guard let oracle = oracles[savepoint.sequence] else {
            preconditionFailure("there is no oracle of savepoint \(savepoint.sequence)")
        }
        self.oracle = oracle
        followed = [:]
        for scene in machine.scenes() { followed[scene.name] = machine.hierarchy(of: scene.name)?.0 }
        var told: [KeptEvent] = []
        for entry in try journal.entries(after: savepoint.sequence, upTo: sequence) {
            let events = try apply(entry.record, at: entry.moment, sequence: entry.sequence)
            self.oracle.apply(entry.record)
            guard events.map(\.event) == self.oracle.events else {
                throw Broken(.event, "record \(entry.sequence), \(entry.record), is told as \(events) in a replay")
            }
            told += events
        }
        self.oracle.forgetStep()
        return told
    }

    private static func machine(
        of savepoint: SimulatedJournal.Savepoint, limits: Limits
    ) throws(Broken) -> ArbiterStateMachine {
        guard let snapshot = savepoint.snapshot else { return ArbiterStateMachine(limits: limits) }
        let machine: ArbiterStateMachine
        do throws(BinaryDecodingError) {
            machine = try ArbiterStateMachine(snapshot: snapshot.state, limits: limits)
        } catch {
            throw Broken(.replay, "\(error.subject) cannot be read at \(error.offset) of a snapshot")
        }
        guard machine.snapshot() == snapshot.state else {
            throw Broken(.replay, "the snapshot at \(savepoint.sequence) reads as another state")
        }
        return machine
    }
}
