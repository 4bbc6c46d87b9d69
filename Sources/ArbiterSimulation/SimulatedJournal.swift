internal import ArbiterCore

/// A journal in memory that loses what a real one may lose.
///
/// Of everything appended the beginning is committed, and of that the beginning is synced. The death of the process
/// may take what is not committed, the death of the machine what is not synced.
struct SimulatedJournal {
    /// A state to begin a replay from.
    struct Savepoint {
        let sequence: UInt64
        let snapshot: [UInt8]
        let oracle: NaiveOracle
    }

    /// Oldest first, never empty.
    private(set) var savepoints: [Savepoint]
    /// Everything after the oldest savepoint.
    private var records: [Record] = []
    private struct Record {
        /// Encoded.
        let bytes: [UInt8]
        /// What was told with it.
        let events: [KeptEvent]
    }

    private(set) var committed: UInt64 = 0
    private(set) var synced: UInt64 = 0

    init(beginning machine: ArbiterStateMachine, _ oracle: NaiveOracle) {
        savepoints = [Savepoint(sequence: 0, snapshot: machine.snapshot(), oracle: oracle)]
    }

    private var first: UInt64 { savepoints[0].sequence }
    var last: UInt64 { first + UInt64(records.count) }

    mutating func append(_ command: Command, at moment: Moment, _ events: [SceneEvent]) {
        var writer = BinaryWriter()
        writer.write(moment)
        writer.write(command)
        records.append(Record(bytes: writer.bytes, events: events.compactMap(KeptEvent.init)))
    }

    mutating func commit(upTo sequence: UInt64) {
        committed = max(committed, sequence)
    }

    mutating func sync(upTo sequence: UInt64) {
        synced = max(synced, sequence)
    }

    /// Keeps the state as it is now, and drops what no restart can need any more.
    mutating func save(_ machine: ArbiterStateMachine, _ oracle: NaiveOracle) {
        if savepoints.last?.sequence != last {
            savepoints.append(Savepoint(sequence: last, snapshot: machine.snapshot(), oracle: oracle))
        }
        guard let oldest = savepoints.lastIndex(where: { $0.sequence <= synced }), oldest > 0 else { return }
        records.removeFirst(Int(savepoints[oldest].sequence - first))
        savepoints.removeFirst(oldest)
    }

    /// Loses everything after a record; what is left is all there is.
    mutating func truncate(to sequence: UInt64) {
        records.removeLast(Int(last - sequence))
        savepoints.removeAll { $0.sequence > sequence }
        committed = sequence
        synced = min(synced, sequence)
    }

    /// The state after a record, by way of one of the savepoints before it.
    func restored(
        from savepoint: Savepoint, upTo sequence: UInt64, limits: Limits
    ) throws(Broken) -> (machine: ArbiterStateMachine, oracle: NaiveOracle) {
        var machine = try Self.read(savepoint, limits: limits)
        guard machine.snapshot() == savepoint.snapshot else {
            throw Broken(.replay, "the snapshot at \(savepoint.sequence) reads as another state")
        }
        var oracle = savepoint.oracle
        try replay(after: savepoint.sequence, upTo: sequence, on: &machine, &oracle)
        return (machine, oracle)
    }

    private static func read(_ savepoint: Savepoint, limits: Limits) throws(Broken) -> ArbiterStateMachine {
        do throws(BinaryDecodingError) {
            return try ArbiterStateMachine(snapshot: savepoint.snapshot, limits: limits)
        } catch {
            throw Broken(.replay, "\(error.subject) cannot be read at \(error.offset) of a snapshot")
        }
    }

    func replay(
        after start: UInt64, upTo end: UInt64, on machine: inout ArbiterStateMachine, _ oracle: inout NaiveOracle
    ) throws(Broken) {
        for sequence in start..<end {
            let (command, moment) = try record(Int(sequence - first))
            let outcome = machine.apply(command, at: moment)
            guard outcome.record == command else {
                throw Broken(
                    .replay,
                    "record \(sequence + 1), \(command), comes to \(String(describing: outcome.record)) when it is replayed"
                )
            }
            let events = Applied(outcome).events.compactMap(KeptEvent.init)
            guard events == records[Int(sequence - first)].events else {
                throw Broken(.event, "record \(sequence + 1), \(command), is told as \(events) when it is replayed")
            }
            oracle.apply(command)
        }
        oracle.forgetStep()
    }

    private func record(_ index: Int) throws(Broken) -> (Command, Moment) {
        var reader = BinaryReader(records[index].bytes)
        do throws(BinaryDecodingError) {
            let moment: Moment = try reader.read()
            let command: Command = try reader.read()
            guard reader.isAtEnd else { throw reader.malformed("the end of a record") }
            return (command, moment)
        } catch {
            throw Broken(.replay, "\(error.subject) cannot be read at \(error.offset) of a record")
        }
    }
}

/// What of an event is the same at every replay: all but what is momentary in it.
private struct KeptEvent: Hashable {
    let event: NaiveEvent
    let timestamp: Timestamp
    /// As it stood.
    let transition: Transition?

    init?(_ event: SceneEvent) {
        guard let naive = NaiveEvent(event) else { return nil }
        self.event = naive
        timestamp = event.timestamp
        if case .transition(_, let view) = event.kind { transition = view.transition } else { transition = nil }
    }
}
