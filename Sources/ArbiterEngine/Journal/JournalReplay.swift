package import ArbiterCore

/// Rebuilds a state machine from a journal, part by part; its momentary state is empty until it recovers.
package struct JournalReplay {
    private var machine: ArbiterStateMachine
    private let limits: Limits
    private var listener: (@Sendable ([SceneEvent]) -> Void)?
    /// The last record that was replayed, or the last in the snapshot; 0 before the first.
    package private(set) var sequence: UInt64 = 0
    /// The moment of that record.
    package private(set) var moment: Moment?

    /// - Parameters:
    ///   - limits: the limits of the machine once the replay has finished; also what is forgotten, where the journal does not
    ///     say that.
    ///   - listener: called with the events of the replayed records.
    package init(limits: Limits = Limits(), listener: (@Sendable ([SceneEvent]) -> Void)? = nil) {
        machine = ArbiterStateMachine(limits: limits.ofReplay, rules: .first)
        self.limits = limits
        self.listener = listener
    }

    /// Replays a whole journal, or the rest of one.
    ///
    /// - Parameters:
    ///   - journal: the journal.
    ///   - limits: the limits of the machine once the replay has finished.
    ///   - ahead: what was replayed before; the journal begins behind it, or from the beginning again.
    ///   - listener: called with the events of the replayed records.
    /// - Returns: the machine, and how the journal ends.
    /// - Throws: `JournalError` if the journal cannot be read, or contradicts itself.
    static func of(
        _ journal: any Journal, limits: Limits, ahead: JournalReplay? = nil,
        listener: (@Sendable ([SceneEvent]) -> Void)? = nil
    ) throws(JournalError) -> Replayed {
        var replay = ahead ?? JournalReplay(limits: limits)
        replay.listener = listener
        let ending = try journal.replay { snapshot throws(JournalError) in
            if ahead != nil { replay = JournalReplay(limits: limits, listener: listener) }
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let (sequence, moment) = (replay.sequence, replay.moment)
        return Replayed(machine: replay.finished(), sequence: sequence, moment: moment, ending: ending)
    }

    /// Restores the snapshot; to be called before any record is replayed.
    ///
    /// - Throws: `JournalError` if the snapshot cannot be decoded.
    package mutating func begin(_ snapshot: JournalSnapshot?) throws(JournalError) {
        guard let snapshot else { return }
        try begin(BinaryReader(snapshot.state), snapshot.sequence, snapshot.moment)
    }

    /// Restores a snapshot from its file, which is never in memory as a whole.
    ///
    /// - Throws: `JournalError` if the snapshot cannot be decoded.
    mutating func begin(_ snapshot: SnapshotFile?) throws(JournalError) {
        guard let snapshot else { return }
        try begin(snapshot.reader, snapshot.sequence, snapshot.moment)
    }

    private mutating func begin(
        _ state: BinaryReader, _ sequence: UInt64, _ moment: Moment
    ) throws(JournalError) {
        do {
            machine = try ArbiterStateMachine(snapshot: state, limits: machine.limits)
        } catch {
            if error.isUnknownVersion { throw JournalError(newer: error.subject) }
            throw JournalError(.damaged, reason: "the journal's snapshot cannot be decoded: restore a copy of it")
        }
        (self.sequence, self.moment) = (sequence, moment)
    }

    /// Replays the next records.
    ///
    /// - Throws: `JournalError` if they contradict what was before.
    package mutating func take(_ entries: [JournalEntry]) throws(JournalError) {
        for entry in entries {
            let outcome = machine.apply(entry.record, at: entry.moment, under: entry.rules)
            guard !outcome.records.isEmpty else {
                throw JournalError(
                    .damaged,
                    reason: "the journal contradicts itself at record \(entry.sequence): restore a copy of it")
            }
            listener?(outcome.effects.compactMap(\.event))
            (sequence, moment) = (entry.sequence, entry.moment)
        }
    }

    /// The machine after the replay, with the limits in force.
    package consuming func finished() -> ArbiterStateMachine {
        machine.enforce(limits)
        return machine
    }
}

/// The result of a replay.
struct Replayed {
    var machine: ArbiterStateMachine
    /// The last record; 0 if there is none.
    let sequence: UInt64
    /// The moment of that record.
    let moment: Moment?
    /// How the journal's last writer stopped.
    let ending: JournalContents.Ending
}

extension Effect {
    fileprivate var event: SceneEvent? {
        switch self {
        case .publish(let event): event
        case .wake, .wakeForState, .notify: nil
        }
    }
}
