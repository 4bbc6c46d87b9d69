import ArbiterEngine
import ArbiterTestKit
import Dispatch

/// A journal in memory that commits in groups on a thread of its own, like one on a disk.
final class ThreadedJournal: Journal {
    private struct State {
        var records: [JournalEntry] = []
        var committed = 0
        var isClosed = false
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
    }

    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "journal")

    init(records: [JournalEntry] = []) {
        state = Guarded(State(records: records, committed: records.count))
    }

    func contents() throws(JournalError) -> JournalContents {
        JournalContents(records: state.withLock { Array($0.records.prefix($0.committed)) })
    }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.tell = committed }
    }

    func append(_ record: JournalEntry) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isClosed { state.records.append(record) }
            return !state.isClosed
        }
        if isTaken { queue.async { self.commit() } }
        return false
    }

    var ownership: (any Ownership)? { nil }

    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync { self.commit() }
    }

    private func commit() {
        let (tell, sequence) = state.withLock { state in
            let isNew = state.committed < state.records.count
            state.committed = state.records.count
            return (isNew ? state.tell : nil, UInt64(state.committed))
        }
        tell?(.success(sequence))
    }
}
