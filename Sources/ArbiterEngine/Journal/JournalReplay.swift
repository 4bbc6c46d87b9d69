internal import ArbiterCore

/// The machine that a journal's contents make, taken in part by part; nothing momentary is true of it until it recovers.
struct JournalReplay {
    private var machine: ArbiterStateMachine
    private let limits: Limits
    private let listener: (@Sendable ([SceneEvent]) -> Void)?
    /// The last record taken in, or the last in the snapshot; 0 before the first.
    private(set) var sequence: UInt64 = 0
    /// When that was made.
    private(set) var moment: Moment?

    /// - Parameters:
    ///   - limits: those of the machine, once everything is taken in.
    ///   - listener: called with what happened.
    init(limits: Limits = Limits(), listener: (@Sendable ([SceneEvent]) -> Void)? = nil) {
        // What was admitted once is admitted again, however little the state may take by now.
        var unlimited = limits
        unlimited.memory = nil
        machine = ArbiterStateMachine(limits: unlimited)
        self.limits = limits
        self.listener = listener
    }

    /// A replay of a whole journal.
    ///
    /// - Throws: `JournalError` if the journal cannot be read, or contradicts itself.
    static func of(
        _ journal: any Journal, limits: Limits, listener: (@Sendable ([SceneEvent]) -> Void)? = nil
    ) throws(JournalError) -> Replayed {
        var replay = JournalReplay(limits: limits, listener: listener)
        let ending = try journal.replay { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let (sequence, moment) = (replay.sequence, replay.moment)
        return Replayed(machine: replay.finished(), sequence: sequence, moment: moment, ending: ending)
    }

    /// Takes in the snapshot, before any record.
    ///
    /// - Throws: `JournalError` if it holds no state.
    mutating func begin(_ snapshot: JournalSnapshot?) throws(JournalError) {
        guard let snapshot else { return }
        do {
            machine = try ArbiterStateMachine(snapshot: snapshot.state, limits: machine.limits)
        } catch {
            throw JournalError(.damaged, reason: "the journal's snapshot holds no state: restore a copy of it")
        }
        (sequence, moment) = (snapshot.sequence, snapshot.moment)
    }

    /// Takes in the next records.
    ///
    /// - Throws: `JournalError` if they contradict what was before.
    mutating func take(_ records: [JournalRecord]) throws(JournalError) {
        for record in records {
            let outcome = machine.apply(record.command, at: record.moment)
            guard outcome.isDurable else {
                throw JournalError(
                    .damaged,
                    reason: "the journal contradicts itself at record \(record.sequence): restore a copy of it")
            }
            listener?(outcome.effects.compactMap(\.event))
            (sequence, moment) = (record.sequence, record.moment)
        }
    }

    /// The machine, after everything.
    consuming func finished() -> ArbiterStateMachine {
        machine.limitMemory(to: limits.memory)
        return machine
    }
}

/// What a journal makes.
struct Replayed {
    var machine: ArbiterStateMachine
    /// The last record, 0 if there is none.
    let sequence: UInt64
    /// When that was made.
    let moment: Moment?
    /// How the journal's last writer left it.
    let ending: JournalContents.Ending
}

extension Effect {
    fileprivate var event: SceneEvent? {
        switch self {
        case .publish(let event): event
        case .wake, .notify: nil
        }
    }
}
