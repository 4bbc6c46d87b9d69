import ArbiterCluster
import ArbiterEngine
import ArbiterTestKit
import Dispatch

/// What a journal reports.
final class Commits: Sendable {
    private let state = Guarded((last: UInt64(0), failure: JournalError?.none))
    private let progress = DispatchSemaphore(value: 0)

    init(of journal: EtcdJournal) {
        journal.begin { [weak self] in self?.note($0) }
    }

    private func note(_ result: Result<UInt64, JournalError>) {
        state.withLock { state in
            switch result {
            case .success(let sequence): state.last = max(state.last, sequence)
            case .failure(let error): state.failure = error
            }
        }
        progress.signal()
    }

    /// Waits until everything up to a record is committed.
    func wait(for sequence: UInt64) throws { try wait { $0.last >= sequence } }

    /// Waits until the journal has failed.
    func failure() throws -> JournalError {
        try wait { $0.failure != nil }
        guard let failure = state.withLock({ $0.failure }) else { throw EtcdError(.unknown, "no failure") }
        return failure
    }

    private func wait(until isDone: ((last: UInt64, failure: JournalError?)) -> Bool) throws {
        let deadline = DispatchTime.now() + .seconds(60)
        while !state.withLock({ isDone($0) }) {
            guard progress.wait(timeout: deadline) == .success else {
                throw EtcdError(.unknown, "the journal reported \(state.withLock { "\($0)" }) only")
            }
        }
    }
}
