import ArbiterCore
import ArbiterEngine
import ArbiterTestKit

/// A journal whose process dies at one point of one commit; afterwards its methods have no effect.
final class MortalJournal: Journal {
    /// The point of a commit at which the process dies.
    enum Point: CaseIterable, Sendable {
        case beforeWriting
        case beforeCommitting
        case beforeTelling
        case afterTelling
    }

    /// The storage that outlives the process.
    final class Disk: Sendable {
        let records = Guarded([JournalEntry]())
    }

    private struct State {
        var pending: [JournalEntry] = []
        /// The records on the disk in a transaction that is not committed.
        var written: [JournalEntry] = []
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        var commitsLeft: Int
        var isDead = false
    }

    private let disk: Disk
    private let point: Point
    private let claimsTooMuch: Bool
    private let state: Guarded<State>

    /// - Parameters:
    ///   - disk: the storage.
    ///   - point: where the process dies.
    ///   - number: the commit in which it dies, counted from 1.
    ///   - claimsTooMuch: whether the journal reports records as committed when they are appended, as a planted fault.
    init(_ disk: Disk, diesAt point: Point, ofCommit number: Int, claimsTooMuch: Bool = false) {
        self.disk = disk
        self.point = point
        self.claimsTooMuch = claimsTooMuch
        state = Guarded(State(commitsLeft: number))
    }

    var isDead: Bool { state.withLock { $0.isDead } }

    func contents() throws(JournalError) -> JournalContents {
        JournalContents(records: disk.records.withLock { $0 })
    }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.tell = committed }
    }

    func append(_ record: JournalEntry) -> Bool {
        state.withLock { $0.pending.append(record) }
        return claimsTooMuch
    }

    var ownership: (any Ownership)? { nil }

    func close() {}

    /// Commits the appended records, or dies while it does.
    func commit() {
        let isLast = state.withLock { state in
            guard !state.pending.isEmpty, !state.isDead else { return nil as Bool? }
            state.commitsLeft -= 1
            return state.commitsLeft == 0
        }
        guard let isLast, !isLast || passes(.beforeWriting) else { return }
        state.withLock { state in
            state.written = state.pending
            state.pending = []
        }
        guard !isLast || passes(.beforeCommitting) else { return }
        let written = state.withLock { $0.written }
        disk.records.withLock { $0 += written }
        guard !isLast || passes(.beforeTelling) else { return }
        if !claimsTooMuch, let last = written.last { state.withLock { $0.tell }?(.success(last.sequence)) }
        _ = !isLast || passes(.afterTelling)
    }

    /// Dies if this is the point; false if it has died here.
    private func passes(_ point: Point) -> Bool {
        if point == self.point { state.withLock { $0.isDead = true } }
        return point != self.point
    }
}
