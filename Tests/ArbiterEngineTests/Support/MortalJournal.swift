import ArbiterCore
import ArbiterEngine
import ArbiterTestKit

/// A journal whose process dies at one point of one commit: from then on nothing it does has any effect.
final class MortalJournal: Journal {
    /// Where in a commit.
    enum Point: CaseIterable, Sendable {
        case beforeWriting
        case beforeCommitting
        case beforeTelling
        case afterTelling
    }

    /// What outlives the process.
    final class Disk: Sendable {
        let records = Guarded([JournalRecord]())
    }

    private struct State {
        var pending: [JournalRecord] = []
        /// On the disk, but in a transaction that is not committed.
        var written: [JournalRecord] = []
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        var commitsLeft: Int
        var isDead = false
    }

    private let disk: Disk
    private let point: Point
    private let claimsTooMuch: Bool
    private let state: Guarded<State>

    /// A journal that dies; one that claims too much calls committed what it has only taken in.
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

    func append(_ record: JournalRecord) -> Bool {
        state.withLock { $0.pending.append(record) }
        return claimsTooMuch
    }

    func close() {}

    /// Commits what was taken in, or dies of it.
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
        let written = state.withLock { $0.written.map(\.kept) }
        disk.records.withLock { $0 += written }
        guard !isLast || passes(.beforeTelling) else { return }
        if !claimsTooMuch, let last = written.last { state.withLock { $0.tell }?(.success(last.sequence)) }
        _ = !isLast || passes(.afterTelling)
    }

    /// Dies here, if this is where.
    private func passes(_ point: Point) -> Bool {
        if point == self.point { state.withLock { $0.isDead = true } }
        return point != self.point
    }
}

extension JournalRecord {
    /// As bytes keep it: without who waits.
    fileprivate var kept: JournalRecord {
        guard case .serialize(let request, let id, let token, _) = command else { return self }
        return JournalRecord(
            sequence: sequence, moment: moment, command: .serialize(request, id: id, token: token, park: nil))
    }
}
