import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Logging
import Testing

/// Compaction changes nothing in the contents of a journal.
struct SQLiteJournalCompactionTests {
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

    @Test func `the file holds one snapshot and a bounded number of records`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 3, records: Self.records)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        let commits = Commits(of: journal)
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
            guard record.sequence.isMultiple(of: Self.between) else { continue }
            // Waits for the snapshot, so that few records are written while it is made.
            #expect(
                try eventually {
                    try directory.number("SELECT max(sequence) FROM snapshot") == Int(record.sequence)
                }, "logged errors: \(directory.log[.error])")
            #expect(try directory.number("SELECT count(*) FROM snapshot") == 1)
            #expect(try directory.number("SELECT coalesce(sum(last - first + 1), 0) FROM batch") <= 2 * Self.between)
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
        let bytes = try whole.number("SELECT sum(length(records)) FROM batch")
        for records in [life.records.prefix(200), life.records.suffix(200)] {
            let journal = try directory.open(bytesBetweenSnapshots: bytes * 3 / 4)
            _ = try journal.contents()
            let commits = Commits(of: journal)
            for record in records { journal.commit(record) }
            let last = try #require(records.last).sequence
            try commits.wait(for: last)
            // The compaction has to finish before the journal is closed.
            let snapshots = last == 200 ? 0 : 1
            #expect(try eventually { try directory.number("SELECT count(*) FROM snapshot") == snapshots })
            journal.close()
        }
        let contents = try directory.contents()
        #expect(try #require(contents.snapshot).sequence > 200)
        #expect(try state(of: contents) == life.machine.snapshot())
    }

    @Test func `readers of the file do not prevent its compaction`() async throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 5, records: Self.records)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        let commits = Commits(of: journal)
        let isOver = Guarded(false)
        async let looks = Task.detached {
            var count = 0
            while !isOver.withLock({ $0 }) { count += try directory.number("SELECT count(*) FROM snapshot") }
            return count
        }.value
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        journal.close()
        isOver.withLock { $0 = true }
        _ = try await looks
        #expect(directory.log[.error] == [])
        #expect(try directory.number("SELECT max(sequence) FROM snapshot") > 0)
    }

    @Test func `no record is deleted if its snapshot could not be written`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 4, records: 1000)
        let journal = try directory.open(recordsBetweenSnapshots: Self.between)
        try directory.sql("CREATE TRIGGER refusal BEFORE INSERT ON snapshot BEGIN SELECT RAISE(ABORT, 'refused'); END")
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
        #expect(try directory.number("SELECT count(*) FROM snapshot") == 1, "seed \(seed)")
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
        try directory.keep(life.records, recordsInBatch: 10, recordsBetweenSnapshots: Self.between)
        let journal = try directory.open()
        let bench = try Bench(journal)
        #expect(try journal.contents().snapshot != nil)
        let known = life.machine.list(TransitionFilter(limit: 1000), at: bench.time.now().instant)
        #expect(try bench.all().map(\.transition) == known.map(\.transition))
        bench.engine.stop()
    }
}
