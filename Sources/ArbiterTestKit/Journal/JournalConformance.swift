internal import ArbiterCore
package import ArbiterEngine
internal import Dispatch

/// Checks the promises that the engine relies on in every journal.
///
/// A value performs one check on one storage, so a test makes a fresh value for each check:
///
///     @Test(arguments: JournalConformance.Check.allCases)
///     func `the journal keeps its promises`(check: JournalConformance.Check) throws {
///         let file = temporaryFile()
///         let open = { try FileJournal(file) }
///         try JournalConformance(make: open, reopen: open).run(check)
///     }
package struct JournalConformance {
    /// A promise of a journal.
    package enum Check: String, CaseIterable, Sendable {
        case anEmptyJournalHasNoRecords
        case everyFieldComesBack
        case everyRecordIsCommittedBeforeClosing
        case closeCommitsWhatWasTakenIn
        case nothingIsCommittedAfterClose
        case appendOrderIsKeptOverThreads
        case aReopenedJournalIsContinued
        case manyRecordsComeBack
        case rulesMayChangeBetweenRecords
    }

    private let make: () throws -> any Journal
    private let reopen: () throws -> any Journal
    private let many: Int
    private let patience: Duration

    /// - Parameters:
    ///   - many: how many records a large test uses.
    ///   - patience: how long a broken journal may hang; a correct one needs only its own time.
    ///   - make: makes an empty journal; called once.
    ///   - reopen: makes a journal with the contents of the one before, which is closed by then.
    package init(
        many: Int = 5000, patience: Duration = .seconds(20),
        make: @escaping () throws -> any Journal, reopen: @escaping () throws -> any Journal
    ) {
        self.many = many
        self.patience = patience
        self.make = make
        self.reopen = reopen
    }

    /// Performs a check.
    ///
    /// - Throws: `ConformanceError` if the promise is broken, and what the factories throw.
    package func run(_ check: Check) throws {
        switch check {
        case .anEmptyJournalHasNoRecords: try anEmptyJournalHasNoRecords()
        case .everyFieldComesBack: try keeps(SampleRecords.ofEveryKind())
        case .everyRecordIsCommittedBeforeClosing: try everyRecordIsCommittedBeforeClosing()
        case .closeCommitsWhatWasTakenIn: try closeCommitsWhatWasTakenIn()
        case .nothingIsCommittedAfterClose: try nothingIsCommittedAfterClose()
        case .appendOrderIsKeptOverThreads: try appendOrderIsKeptOverThreads()
        case .aReopenedJournalIsContinued: try aReopenedJournalIsContinued()
        case .manyRecordsComeBack: try keeps(SampleRecords.many(many))
        case .rulesMayChangeBetweenRecords: try keeps(SampleRecords.underChangingRules())
        }
    }
}

/// The promise that a journal has broken, and how.
package struct ConformanceError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

// MARK: - The checks

extension JournalConformance {
    private func anEmptyJournalHasNoRecords() throws {
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        try probe.close()
        try reopened(expecting: []).close()
    }

    private func keeps(_ records: [JournalEntry]) throws {
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        for record in records { probe.append(record) }
        try probe.close()
        try reopened(expecting: records).close()
        // Reading the records must not remove them.
        try reopened(expecting: records).close()
    }

    private func everyRecordIsCommittedBeforeClosing() throws {
        let records = SampleRecords.many(100)
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        // First one at a time: a journal that commits in groups must not wait until a group is full.
        for record in records.prefix(10) {
            probe.append(record)
            try probe.waitUntilAllIsCommitted()
        }
        for record in records.dropFirst(10) { probe.append(record) }
        try probe.waitUntilAllIsCommitted()
        try probe.close()
        try reopened(expecting: records).close()
    }

    private func closeCommitsWhatWasTakenIn() throws {
        let records = SampleRecords.many(300)
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        for record in records { probe.append(record) }
        try probe.close()
        guard probe.committed == 300 else {
            throw ConformanceError("300 records were taken in, and close committed only \(probe.committed)")
        }
        try reopened(expecting: records).close()
    }

    private func nothingIsCommittedAfterClose() throws {
        let records = SampleRecords.many(10)
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        for record in records.prefix(7) { probe.append(record) }
        try probe.close()
        for record in records.dropFirst(7) { probe.append(record) }
        try reopened(expecting: Array(records.prefix(7))).close()
        guard probe.committed == 7 else {
            throw ConformanceError("7 records were taken in before close, and \(probe.committed) are committed")
        }
        try probe.complain()
    }

    private func appendOrderIsKeptOverThreads() throws {
        let records = SampleRecords.many(2000)
        let probe = try JournalProbe(try make(), expecting: [], patience: patience)
        let next = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<(records.count / 8) {
                next.withLock { index in
                    probe.append(records[index])
                    index += 1
                }
            }
        }
        try probe.close()
        try reopened(expecting: records).close()
    }

    private func aReopenedJournalIsContinued() throws {
        let records = SampleRecords.many(30)
        var probe = try JournalProbe(try make(), expecting: [], patience: patience)
        for round in 0..<3 {
            for record in records[(10 * round)..<(10 * round + 10)] { probe.append(record) }
            try probe.close()
            probe = try reopened(expecting: Array(records.prefix(10 * round + 10)))
        }
        try probe.close()
    }

    private func reopened(expecting records: [JournalEntry]) throws -> JournalProbe {
        try JournalProbe(try reopen(), expecting: records, patience: patience)
    }
}
