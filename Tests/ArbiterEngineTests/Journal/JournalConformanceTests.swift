import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// The suite accepts correct journals and finds broken ones.
struct JournalConformanceTests {
    @Test(arguments: JournalConformance.Check.allCases)
    func `a correct journal with a thread of its own passes`(check: JournalConformance.Check) throws {
        let storage = Guarded(ThreadedJournal())
        try JournalConformance(make: { storage.withLock { $0 } }) {
            let reopened = ThreadedJournal(records: try storage.withLock { $0 }.records())
            storage.withLock { $0 = reopened }
            return reopened
        }.run(check)
    }

    @Test(arguments: Fault.allCases)
    func `the suite finds the fault of a broken journal`(fault: Fault) {
        let broken = JournalConformance.Check.allCases.filter { check in
            let storage = Storage()
            let open = { FaultyJournal(storage, fault) }
            let suite = JournalConformance(many: 200, patience: .milliseconds(20), make: open, reopen: open)
            return (try? suite.run(check)) == nil
        }
        #expect(broken.contains(fault.check))
    }
}

/// The faults of a journal.
enum Fault: String, CaseIterable, Sendable {
    case beginsWithARecord
    case losesTheToken
    case losesTheLast
    case swapsTwo
    case skipsASequence
    case commitsOnlyAtClose
    case doesNotCommitAtClose
    case keepsOnlyTheFirstHundred
    case takesMoreAfterClose
    case tellsFromWithinAppend
    case tellsOfMoreThanThereIs
    case tellsOfLess
    case forgetsWhatWasThereBefore

    /// A check that must find the fault.
    var check: JournalConformance.Check {
        switch self {
        case .beginsWithARecord: .anEmptyJournalHasNoRecords
        case .losesTheToken, .swapsTwo, .skipsASequence, .losesTheLast: .everyFieldComesBack
        case .commitsOnlyAtClose, .tellsOfMoreThanThereIs: .everyRecordIsCommittedBeforeClosing
        case .doesNotCommitAtClose, .tellsFromWithinAppend, .tellsOfLess: .closeCommitsWhatWasTakenIn
        case .takesMoreAfterClose: .nothingIsCommittedAfterClose
        case .keepsOnlyTheFirstHundred: .manyRecordsComeBack
        case .forgetsWhatWasThereBefore: .aReopenedJournalIsContinued
        }
    }
}

private final class Storage: Sendable {
    let records = Guarded([JournalEntry]())
    let openings = Guarded(0)
}

/// A journal that commits at once, with a single fault.
private final class FaultyJournal: Journal {
    private struct State {
        var tell: (@Sendable (Result<UInt64, JournalError>) -> Void)?
        var isClosed = false
        var hasTaken = false
    }

    private let storage: Storage
    private let fault: Fault
    private let state = Guarded(State())

    init(_ storage: Storage, _ fault: Fault) {
        self.storage = storage
        self.fault = fault
        storage.openings.withLock { $0 += 1 }
        if fault == .beginsWithARecord {
            let (time, id) = (ManualTime(), TransitionID(rawValue: 7))
            storage.records.withLock {
                $0 = [JournalEntry(sequence: 1, moment: time.now(), record: .expire(id, .lease))]
            }
        }
    }

    func contents() throws(JournalError) -> JournalContents {
        var records = storage.records.withLock { $0 }
        switch fault {
        case .losesTheToken: records = records.map(Self.withoutToken)
        case .losesTheLast: records = records.dropLast()
        case .swapsTwo where records.count > 1: records.swapAt(0, 1)
        case .skipsASequence where records.count > 1: records.remove(at: 1)
        case .keepsOnlyTheFirstHundred: records = Array(records.prefix(100))
        default: break
        }
        return JournalContents(records: records)
    }

    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.tell = committed }
    }

    func append(_ record: JournalEntry) -> Bool {
        let (isClosed, isFirst, tell) = state.withLock { state in
            defer { state.hasTaken = true }
            return (state.isClosed, !state.hasTaken, state.tell)
        }
        guard !isClosed || fault == .takesMoreAfterClose else { return false }
        storage.records.withLock { records in
            if fault == .forgetsWhatWasThereBefore, isFirst { records = [] }
            records.append(record)
        }
        switch fault {
        case .commitsOnlyAtClose, .doesNotCommitAtClose, .tellsOfMoreThanThereIs, .tellsOfLess: return false
        case .tellsFromWithinAppend:
            tell?(.success(record.sequence))
            return false
        default: return true
        }
    }

    var ownership: (any Ownership)? { nil }

    func close() {
        let tell = state.withLock { state in
            state.isClosed = true
            return state.tell
        }
        guard let last = storage.records.withLock({ $0.last?.sequence }) else { return }
        switch fault {
        case .commitsOnlyAtClose: tell?(.success(last))
        case .tellsOfMoreThanThereIs: tell?(.success(last + 1))
        case .tellsOfLess: tell?(.success(last - 1))
        default: break
        }
    }

    private static func withoutToken(_ record: JournalEntry) -> JournalEntry {
        guard case .end(let id, let token, let outcome) = record.record else { return record }
        let truncated = Token(high: token.high, low: token.low & .max >> 1)
        return JournalEntry(
            sequence: record.sequence, moment: record.moment, record: .end(id, token: truncated, outcome))
    }
}
