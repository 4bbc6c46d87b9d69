internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTestKit

/// A journal in memory that loses what a real one may lose.
///
/// A beginning of the appended records is committed, and a beginning of those is synced. The death of the process may lose
/// records that are not committed, the death of the machine records that are not synced. The first commit of each writer
/// is synced, as in `SQLiteJournal`.
///
/// One object stands for the file and for all its writers, one after the other.
final class SimulatedJournal: Journal {
    /// A state with which a replay may begin.
    struct Savepoint: Sendable {
        let sequence: UInt64
        /// `nil` at the beginning of the journal.
        let snapshot: JournalSnapshot?
    }

    struct State {
        // The file.

        /// Oldest first, never empty.
        var savepoints = [Savepoint(sequence: 0, snapshot: nil)]
        /// The records after the oldest savepoint.
        var kept: [Kept] = []
        var last: UInt64 = 0
        var committed: UInt64 = 0
        var synced: UInt64 = 0
        /// The run of the machine in which it was last written, and whether its writer closed it.
        var writer = (boot: 0, isClosed: true)

        // The writer.

        var boot = 0
        var access = Access.closed
        /// Whether `append` commits every record.
        var isImmediate = false
        /// Whether this writer has committed a record.
        var isAlive = false
        var opened = Opened(savepoint: Savepoint(sequence: 0, snapshot: nil), last: 0, moment: nil, ending: .closed)
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        /// The engine's callback for the writer before.
        var tellBefore: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        /// The records that the simulation has not taken yet.
        var appended: [JournalEntry] = []
        /// For the planted faults.
        var chance: SplitMix64
    }

    /// What a writer found when it opened the journal.
    struct Opened: Sendable {
        /// The savepoint with which the replay begins.
        let savepoint: Savepoint
        let last: UInt64
        /// The moment of the last record.
        let moment: Moment?
        let ending: JournalContents.Ending
    }

    struct Kept {
        let sequence: UInt64
        /// The encoded moment and record.
        let bytes: [UInt8]
    }

    enum Access: Hashable {
        case open
        case closed
        /// Nothing can be written, and opening it fails so many times.
        case failed(refusals: Int)
    }

    private let fault: Fault?
    let state: Guarded<State>

    init(fault: Fault?, chance: SplitMix64) {
        self.fault = fault
        state = Guarded(State(chance: chance))
    }

    // MARK: - Journal

    func contents() throws(JournalError) -> JournalContents {
        var (snapshot, records): (JournalSnapshot?, [JournalEntry]) = (nil, [])
        let ending = try replay {
            snapshot = $0
        } _: {
            records += $0
        }
        return JournalContents(snapshot: snapshot, records: records, ending: ending)
    }

    func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let (opened, kept) = state.withLock { state in
            (state.opened, state.kept.filter { $0.sequence > state.opened.savepoint.sequence })
        }
        let (savepoint, ending) = (opened.savepoint, opened.ending)
        // The planted fault: the records after the snapshot are left out.
        if fault == .skippedReplay, let snapshot = savepoint.snapshot, let moment = opened.moment {
            try begin(JournalSnapshot(sequence: opened.last, moment: moment, state: snapshot.state))
            return ending
        }
        try begin(savepoint.snapshot)
        for start in stride(from: 0, to: kept.count, by: 7) {
            var entries: [JournalEntry] = []
            for kept in kept[start..<min(start + 7, kept.count)] {
                do throws(BinaryDecodingError) {
                    entries.append(try kept.decoded())
                } catch {
                    throw JournalError(.damaged, reason: "\(error.subject) at \(error.offset) of \(kept.sequence)")
                }
            }
            try take(entries)
        }
        // The planted fault: lost records are not noticed.
        return fault == .repeatedFence && ending == .machineDied ? .closed : ending
    }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { state in
            state.tellBefore = state.tell
            state.tell = committed
        }
    }

    func append(_ entry: JournalEntry) -> Bool {
        state.withLock { state in
            guard state.access == .open else { return false }
            state.appended.append(entry)
            state.last = entry.sequence
            if !isForgotten(entry.record, &state) { state.kept.append(Kept(entry)) }
            guard state.isImmediate else { return fault == .answerBeforeCommit }
            state.commit(upTo: entry.sequence)
            return true
        }
    }

    /// The planted fault: whether the record is never written.
    private func isForgotten(_ record: Record, _ state: inout State) -> Bool {
        guard fault == .forgottenEnd, case .end = record else { return false }
        return state.chance.isOnce(in: 20)
    }

    var ownership: (any Ownership)? { nil }

    func close() {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.access == .open else { return nil }
            let isNews = state.committed < state.last
            state.commit(upTo: state.last)
            state.synced = state.last
            if state.isAlive { state.writer.isClosed = true }
            state.access = .closed
            guard isNews, let tell = state.tell else { return nil }
            return { [last = state.last] in tell(.success(last)) }
        }
        tell?()
    }
}

extension SimulatedJournal.State {
    var ending: JournalContents.Ending {
        if writer.isClosed { return .closed }
        return writer.boot == boot ? .killed : .machineDied
    }

    mutating func commit(upTo sequence: UInt64) {
        guard committed < sequence else { return }
        committed = sequence
        guard !isAlive else { return }
        // Otherwise a second death of the machine could undo the jump of the numbers after the first.
        isAlive = true
        synced = sequence
        writer = (boot, false)
    }

    mutating func truncate(to sequence: UInt64) {
        while let newest = kept.last, newest.sequence > sequence { kept.removeLast() }
        savepoints.removeAll { $0.sequence > sequence }
        last = sequence
        synced = min(synced, sequence)
    }
}

extension SimulatedJournal.Kept {
    init(_ entry: JournalEntry) {
        var writer = BinaryWriter()
        writer.write(entry.moment)
        writer.write(entry.record)
        self.init(sequence: entry.sequence, bytes: writer.bytes)
    }

    func decoded() throws(BinaryDecodingError) -> JournalEntry {
        var reader = BinaryReader(bytes)
        let entry = JournalEntry(sequence: sequence, moment: try reader.read(), record: try reader.read())
        guard reader.isAtEnd else { throw reader.malformed("the end of a record") }
        return entry
    }
}
