internal import ArbiterCore

/// A journal in memory, which commits every record at once and ends with the process.
package final class MemoryJournal: Journal {
    private struct State {
        var records: [JournalEntry] = []
        var isClosed = false
    }

    private let state = Guarded(State())
    private let keepsRecords: Bool

    /// - Parameter keepsRecords: whether the records can be read back. Only a process that reads them back should keep
    ///   them, because they grow without bound.
    package init(keepsRecords: Bool) {
        self.keepsRecords = keepsRecords
    }

    package func contents() throws(JournalError) -> JournalContents {
        JournalContents(snapshot: nil, records: state.withLock { $0.records }, ending: .closed)
    }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {}

    package func append(_ record: JournalEntry) -> Bool {
        state.withLock { state in
            if keepsRecords, !state.isClosed { state.records.append(record) }
            return !state.isClosed
        }
    }

    package var ownership: (any Ownership)? { nil }

    package func close() {
        state.withLock { $0.isClosed = true }
    }
}
