package import ArbiterEngine

/// A journal that commits and fails only on command, so that a test can check what the engine does before that.
package final class HeldJournal: Journal {
    private struct State {
        var records: [JournalEntry]
        var committed: UInt64
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        var mayCommit: [Bool] = []
        /// Whether it was closed or has failed; then it accepts no records.
        var isOver = false
    }

    private let state: Guarded<State>

    /// A journal with these records, all of them committed.
    package init(records: [JournalEntry] = []) {
        state = Guarded(State(records: records, committed: records.last?.sequence ?? 0))
    }

    package func contents() throws(JournalError) -> JournalContents {
        let committed = state.withLock { state in state.records.filter { $0.sequence <= state.committed } }
        return JournalContents(records: committed)
    }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.tell = committed }
    }

    package func append(_ record: JournalEntry) -> Bool {
        state.withLock { state in
            if !state.isOver { state.records.append(record) }
        }
        return false
    }

    package var ownership: (any Ownership)? { nil }

    package func flush(mayCommit: Bool) {
        state.withLock { $0.mayCommit.append(mayCommit) }
    }

    package func close() {
        commit()
        state.withLock { $0.isOver = true }
    }
}

// MARK: - Commands of a test

extension HeldJournal {
    /// All records that it accepted, committed or not.
    package var appended: [JournalEntry] {
        state.withLock { $0.records }
    }

    /// For each time that it was flushed, whether the thread might have committed.
    package var flushes: [Bool] {
        state.withLock { $0.mayCommit }
    }

    /// Commits the accepted records up to this sequence number, all of them by default, and reports it.
    package func commit(upTo sequence: UInt64 = .max) {
        let (tell, committed) = state.withLock { state in
            guard !state.isOver, let last = state.records.last?.sequence, min(last, sequence) > state.committed else {
                return (nil as (@Sendable (Result<UInt64, JournalError>) -> Void)?, state.committed)
            }
            state.committed = min(last, sequence)
            return (state.tell, state.committed)
        }
        tell?(.success(committed))
    }

    /// Drops what is not committed, and reports the failure; a journal that is stalled drops nothing, and goes on.
    package func fail(_ error: JournalError) {
        let tell = state.withLock { state -> (@Sendable (Result<UInt64, JournalError>) -> Void)? in
            guard !state.isOver else { return nil }
            guard error.kind != .stalled else { return state.tell }
            state.isOver = true
            state.records.removeAll { $0.sequence > state.committed }
            return state.tell
        }
        tell?(.failure(error))
    }
}
