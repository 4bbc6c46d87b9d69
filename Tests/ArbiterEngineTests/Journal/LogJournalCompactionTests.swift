import ArbiterCore
import ArbiterTestKit
import Foundation
import Logging
import Testing

@testable import ArbiterEngine

/// Compaction changes nothing in the contents of a journal.
struct LogJournalCompactionTests {
    private static let between: UInt64 = 100
    /// How many there are where nothing else limits them.
    private static let records = Seeds.night == nil ? 1000 : 3000

    /// The state after a replay of a journal's contents.
    private func state(of contents: JournalContents) throws -> [UInt8] {
        var machine = try contents.snapshot.map { try ArbiterStateMachine(snapshot: $0.state) } ?? ArbiterStateMachine()
        for record in contents.records {
            #expect(machine.apply(record.record, at: record.moment).records == [record.record])
        }
        return machine.snapshot()
    }

    @Test(arguments: LogJournal.Durability.allCases)
    func `there are one snapshot and a bounded number of records`(durability: LogJournal.Durability) throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 3, records: Self.records)
        let journal = try directory.open(durability, recordsBetweenSnapshots: Self.between)
        let commits = Commits(of: journal)
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
            guard record.sequence.isMultiple(of: Self.between) else { continue }
            // Waits for the snapshot, so that few records are written while it is made. What it replaces goes at once.
            #expect(
                try eventually {
                    try directory.names() == ["log-\(record.sequence + 1)", "snapshot-\(record.sequence)"]
                }, "logged errors: \(directory.log[.error])")
        }
        journal.close()

        let contents = try directory.contents()
        #expect(contents.snapshot?.sequence == UInt64(Self.records))
        #expect(contents.records.isEmpty)
        #expect(try state(of: contents) == life.machine.snapshot())
    }

    @Test func `records are compacted by their bytes too, counted over several starts`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 8, records: 400)
        let whole = try JournalDirectory()
        try whole.keep(life.records)
        let bytes = whole["log-1"].count
        for records in [life.records.prefix(200), life.records.suffix(200)] {
            let journal = try directory.open(bytesBetweenSnapshots: bytes * 3 / 4)
            _ = try journal.contents()
            let commits = Commits(of: journal)
            for record in records { journal.commit(record) }
            let last = try #require(records.last).sequence
            try commits.wait(for: last)
            // The compaction has to finish before the journal is closed.
            let snapshots = last == 200 ? 0 : 1
            #expect(try eventually { try directory.files().snapshots.count == snapshots })
            journal.close()
        }
        let contents = try directory.contents()
        #expect(try #require(contents.snapshot).sequence > 200)
        #expect(try state(of: contents) == life.machine.snapshot())
    }

    @Test func `a journal is read while its files are replaced`() async throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 5, records: Self.records)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        let commits = Commits(of: journal)
        let isOver = Guarded(false)
        async let looks = Task.detached {
            var last: UInt64 = 0
            while !isOver.withLock({ $0 }) {
                let found = try JournalInspection(directory: directory.path)
                guard found.last >= last else { throw Commits.TimedOut() }
                last = found.last
            }
        }.value
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        // Closing the journal would interrupt the compaction.
        let isCompacted = try eventually { try !directory.files().snapshots.isEmpty }
        journal.close()
        isOver.withLock { $0 = true }
        try await looks
        #expect(isCompacted)
        #expect(directory.log[.error] == [])
    }

    @Test func `no record is deleted if its snapshot could not be written`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 4, records: 1000)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        // A directory is where snapshots would be written first.
        for sequence in 1...1000 {
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/snapshot-\(sequence).new", withIntermediateDirectories: false)
        }
        let commits = Commits(of: journal)
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        #expect(eventually { !directory.log[.error].isEmpty })
        journal.close()

        let contents = try directory.contents()
        #expect(contents.snapshot == nil)
        #expect(contents.records == life.records)
    }

    @Test func `behind many logs, a snapshot that cannot be made is tried once a process`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 4, records: LogJournal.mostLogs + 100).records
        for record in records.prefix(LogJournal.mostLogs) { try directory.keep([record]) }
        for sequence in 1...records.count {
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/snapshot-\(sequence).new", withIntermediateDirectories: false)
        }
        let journal = try directory.open()
        _ = try journal.contents()
        let commits = Commits(of: journal)
        for record in records.dropFirst(LogJournal.mostLogs) {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        // Closing the journal would interrupt the try.
        #expect(eventually { directory.log[.error].contains { $0.contains("was not compacted") } })
        journal.close()
        #expect(directory.log[.error].count { $0.contains("was not compacted") } == 1, "\(directory.log[.error])")
        #expect(try directory.contents().records == records)
    }

    @Test(arguments: Seeds.first(3, atNight: 8))
    func `a journal closed during its compaction has the same state when it is opened again`(seed: UInt64) throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: seed, records: 1500)
        var random = SplitMix64(seed: seed)
        var rest = life.records[...]
        while !rest.isEmpty {
            let journal = try directory.open(recordsBetweenSnapshots: Self.between)
            let contents = try journal.contents()
            let last = contents.records.last?.sequence ?? contents.snapshot?.sequence ?? 0
            #expect(Int(last) == life.records.count - rest.count)
            let commits = Commits(of: journal)
            for record in rest.prefix(Int.random(in: 1...400, using: &random)) {
                journal.commit(record)
                if random.isOnce(in: 20) { try commits.wait(for: record.sequence) }
                rest = rest.dropFirst()
            }
            journal.close()
        }
        #expect(try state(of: directory.contents()) == life.machine.snapshot(), "seed \(seed)")
        #expect(try directory.files().snapshots.count == 1, "seed \(seed)")
    }

    @Test(arguments: Seeds.first(2, atNight: 4))
    func `a journal killed during its compaction has lost nothing`(seed: UInt64) throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: seed, records: 1000)
        var random = SplitMix64(seed: seed)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        let commits = Commits(of: journal)
        var machine = ArbiterStateMachine()
        for record in life.records {
            _ = machine.apply(record.record, at: record.moment)
            journal.commit(record)
            try commits.wait(for: record.sequence)
            // Kills the journal mostly when a snapshot has just become due, and so is being made.
            guard record.sequence > Self.between, record.sequence % Self.between < 3 || random.isOnce(in: 50) else {
                continue
            }
            let killed = try directory.asIfKilled()
            #expect(try state(of: killed.contents()) == machine.snapshot(), "seed \(seed), \(record.sequence)")
        }
        journal.close()
    }

    @Test func `an engine continues from a snapshot`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 4, records: 250)
        try directory.keep(life.records, recordsInGroup: 10, recordsBetweenSnapshots: Self.between)
        let journal = try directory.open()
        let bench = try Bench(journal)
        #expect(try journal.contents().snapshot != nil)
        let known = life.machine.list(TransitionFilter(limit: 1000), at: bench.time.now().instant)
        #expect(try bench.all().map(\.transition) == known.map(\.transition))
        bench.engine.stop()
    }
}
