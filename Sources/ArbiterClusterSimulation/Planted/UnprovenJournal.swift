internal import ArbiterCluster
internal import ArbiterEngine

/// A journal that takes every turn for one in its tenure.
final class UnprovenJournal: Journal {
    private let journal: EtcdJournal
    private let unproven = Unproven()

    init(_ journal: EtcdJournal) { self.journal = journal }

    var ownership: (any Ownership)? { unproven }

    func contents() throws(JournalError) -> JournalContents { try journal.contents() }

    func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending { try journal.replay(begin, take) }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) { journal.begin(committed) }

    func append(_ entry: JournalEntry) -> Bool { journal.append(entry) }

    func flush(mayCommit: Bool) { journal.flush(mayCommit: mayCommit) }

    func close() { journal.close() }

    private final class Unproven: Ownership {
        private struct State {
            var turn: UInt64 = 0
            var shown: @Sendable (UInt64) -> Void = { _ in }
        }

        private let state = Guarded(State())

        func begin(_ shown: @escaping @Sendable (UInt64) -> Void) { state.withLock { $0.shown = shown } }

        func note(_ turn: UInt64) { state.withLock { $0.turn = turn } }

        func prove() {
            let (shown, turn) = state.withLock { ($0.shown, $0.turn) }
            shown(turn)
        }
    }
}
