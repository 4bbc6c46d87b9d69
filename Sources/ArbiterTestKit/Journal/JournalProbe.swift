internal import ArbiterCore
internal import ArbiterEngine
internal import Dispatch
internal import Glibc

/// Uses a journal as the engine does: appends under a lock that the commit callback needs too, and records everything
/// that the journal must not do.
final class JournalProbe: Sendable {
    private struct State {
        var appended: UInt64
        var committed: UInt64
        var told: UInt64 = 0
        /// The thread that is inside `append`.
        var appender: pthread_t?
        var isClosed = false
        var complaint: String?
    }

    private let journal: any Journal
    private let patience: DispatchTimeInterval
    private let state: Guarded<State>
    private let gate = DispatchSemaphore(value: 1)
    private let progress = DispatchSemaphore(value: 0)

    /// Reads the records and begins to use the journal.
    ///
    /// - Throws: `ConformanceError` if the records are not the expected ones.
    init(_ journal: any Journal, expecting expected: [JournalEntry], patience: Duration) throws {
        let records = try journal.contents().records
        for (index, (record, wanted)) in zip(records, expected).enumerated() where record != wanted {
            throw ConformanceError("record \(index + 1) was \(wanted), and came back as \(record)")
        }
        guard records.count == expected.count else {
            throw ConformanceError("\(expected.count) records were committed, \(records.count) came back")
        }
        self.journal = journal
        self.patience = .nanoseconds(Int(patience.wholeNanoseconds))
        let last = UInt64(expected.count)
        state = Guarded(State(appended: last, committed: last))
        journal.begin { [weak self] in self?.hear($0) }
    }

    var committed: UInt64 { state.withLock { $0.committed } }

    func append(_ record: JournalEntry) {
        gate.wait()
        state.withLock { state in
            state.appender = pthread_self()
            if !state.isClosed { state.appended = record.sequence }
        }
        let isCommitted = journal.append(record)
        state.withLock { state in
            state.appender = nil
            if isCommitted { state.committed = record.sequence }
        }
        gate.signal()
        journal.flush()
    }

    /// - Throws: `ConformanceError` if they are not committed in time.
    func waitUntilAllIsCommitted() throws {
        while state.withLock({ $0.committed < $0.appended && $0.complaint == nil }) {
            guard progress.wait(timeout: .now() + patience) == .success else {
                throw ConformanceError(
                    "\(state.withLock { $0.appended }) records were taken in, \(committed) committed")
            }
        }
        try complain()
    }

    /// Closes the journal, after which everything must be committed.
    ///
    /// - Throws: `ConformanceError` if the journal broke a promise.
    func close() throws {
        journal.close()
        let (appended, committed) = state.withLock { state in
            state.isClosed = true
            return (state.appended, state.committed)
        }
        try complain()
        guard committed == appended else {
            throw ConformanceError("\(appended) records were taken in, and close committed only \(committed)")
        }
    }

    /// - Throws: `ConformanceError` if the journal broke a promise.
    func complain() throws {
        if let complaint = state.withLock({ $0.complaint }) { throw ConformanceError(complaint) }
    }

    private func hear(_ result: Result<UInt64, JournalError>) {
        let isWithinAppend = state.withLock { state in
            state.appender.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }
        if isWithinAppend {
            note("a commit was told from within append")
        } else if gate.wait(timeout: .now() + patience) == .success {
            gate.signal()
        } else {
            note("append waited for its commit to be told")
        }
        switch result {
        case .success(let sequence): hear(sequence)
        case .failure(let error): note("the journal failed: \(error.reason)")
        }
        progress.signal()
    }

    private func hear(_ sequence: UInt64) {
        let complaint = state.withLock { state -> String? in
            defer {
                state.told = sequence
                state.committed = max(state.committed, sequence)
            }
            if state.isClosed { return "sequence \(sequence) was told after close" }
            if sequence > state.appended { return "\(sequence) was told, and only \(state.appended) taken in" }
            if sequence <= state.told { return "\(sequence) was told after \(state.told)" }
            return nil
        }
        if let complaint { note(complaint) }
    }

    private func note(_ complaint: String) {
        state.withLock { $0.complaint = $0.complaint ?? complaint }
    }
}
