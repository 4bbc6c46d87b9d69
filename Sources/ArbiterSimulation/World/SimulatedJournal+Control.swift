internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

// The simulation's access to the journal.

extension SimulatedJournal {
    var last: UInt64 { state.withLock { $0.last } }
    var committed: UInt64 { state.withLock { $0.committed } }
    var synced: UInt64 { state.withLock { $0.synced } }
    var savepoints: [Savepoint] { state.withLock { $0.savepoints } }
    /// What the present writer found.
    var opened: Opened { state.withLock { $0.opened } }
    /// Whether it has a writer.
    var isOpen: Bool { state.withLock { $0.access == .open } }

    /// Takes the records that were appended since the last call.
    func takeAppended() -> [JournalEntry] {
        state.withLock { state in
            guard !state.appended.isEmpty else { return [] }
            defer { state.appended = [] }
            return state.appended
        }
    }

    /// Commits the records up to a sequence, and tells the engine.
    func commit(upTo sequence: UInt64) {
        let tell = state.withLock { state in
            guard state.access == .open, state.committed < sequence else {
                return nil as (@Sendable (Result<UInt64, JournalError>) -> Void)?
            }
            state.commit(upTo: sequence)
            return state.tell
        }
        tell?(.success(sequence))
    }

    func sync(upTo sequence: UInt64) {
        state.withLock { $0.synced = max($0.synced, sequence) }
    }

    /// Keeps a snapshot of the state after the last record, and drops the records that no restart needs any more.
    func save(_ snapshot: [UInt8], at moment: Moment) {
        state.withLock { state in
            if let newest = state.savepoints.last, newest.sequence < state.last {
                let snapshot = JournalSnapshot(sequence: state.last, moment: moment, state: snapshot)
                state.savepoints.append(Savepoint(sequence: state.last, snapshot: snapshot))
            }
            let oldest = state.savepoints.lastIndex { $0.sequence <= state.synced } ?? 0
            let first = state.savepoints[oldest].sequence
            state.kept.removeFirst(state.kept.firstIndex { $0.sequence > first } ?? state.kept.count)
            state.savepoints.removeFirst(oldest)
        }
    }

    /// The writer dies, and the records after a sequence are lost.
    func lose(after sequence: UInt64, isMachineDead: Bool) {
        state.withLock { state in
            state.truncate(to: sequence)
            state.committed = sequence
            state.access = .closed
            if isMachineDead { state.boot += 1 }
        }
    }

    /// Writing fails, and the records after a sequence are lost.
    func fail(keeping sequence: UInt64, refusals: Int, _ error: JournalError) {
        let tell = state.withLock { state in
            state.truncate(to: sequence)
            state.access = .failed(refusals: refusals)
            return state.tell
        }
        tell?(.failure(error))
    }

    /// Reports a late commit or failure of the writer before.
    func tellLate(_ result: Result<UInt64, JournalError>) {
        let tell = state.withLock { $0.tellBefore }
        tell?(result)
    }

    /// Opens it for another writer, whose replay begins with one of the savepoints.
    ///
    /// - Throws: `JournalError` while it still fails.
    func open(at savepoint: Int = .max, isImmediate: Bool? = nil) throws(JournalError) {
        let refusal = state.withLock { state -> JournalError? in
            if case .failed(let refusals) = state.access, refusals > 0 {
                state.access = .failed(refusals: refusals - 1)
                return JournalError(reason: "it still fails")
            }
            state.committed = state.last
            state.access = .open
            state.isAlive = false
            state.isImmediate = isImmediate ?? state.isImmediate
            let moment = (try? state.kept.last?.decoded().moment) ?? state.savepoints.last?.snapshot?.moment
            state.opened = Opened(
                savepoint: state.savepoints[min(savepoint, state.savepoints.count - 1)], last: state.last,
                moment: moment, ending: state.ending)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Decodes the records between two sequences.
    func entries(after start: UInt64, upTo end: UInt64) throws(Broken) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        for kept in state.withLock({ $0.kept }) where kept.sequence > start && kept.sequence <= end {
            do throws(BinaryDecodingError) {
                entries.append(try kept.decoded())
            } catch {
                throw Broken(.replay, "\(error.subject) cannot be read at \(error.offset) of record \(kept.sequence)")
            }
        }
        return entries
    }
}
