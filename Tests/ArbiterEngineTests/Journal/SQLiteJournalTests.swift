import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

struct SQLiteJournalTests {
    @Test(arguments: JournalConformance.Check.allCases, SQLiteJournal.Durability.allCases)
    func `the SQLite journal passes the conformance suite`(
        check: JournalConformance.Check, durability: SQLiteJournal.Durability
    ) throws {
        let directory = try JournalDirectory()
        let open = { try directory.open(durability) }
        try JournalConformance(make: open, reopen: open).run(check)
    }

    @Test func `every record reported as committed is there after a kill`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 1, records: 200)
        let journal = try directory.open()
        let commits = Commits(of: journal)
        for record in life.records {
            journal.commit(record)
            guard record.sequence.isMultiple(of: 40) else { continue }
            try commits.wait(for: record.sequence)
            #expect(try directory.asIfKilled().contents().records == Array(life.records.prefix(Int(record.sequence))))
        }
        journal.close()
    }

    @Test func `the write-ahead log is copied into the database now and then`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let commits = Commits(of: journal)
        let life = RecordedLife(seed: 1, records: 5_000)
        for record in life.records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        let size = try FileManager.default.attributesOfItem(atPath: directory.file + "-wal")[.size] as? Int
        #expect(try #require(size) < 16 * 1024 * 1024)
        #expect(try directory.asIfKilled().contents().records == life.records)
        journal.close()
    }

    @Test func `a second journal in the same directory is refused until the first is closed`() throws {
        let directory = try JournalDirectory()
        do {
            let first = try directory.open()
            let refusal = #expect(throws: JournalError.self) { try directory.open() }
            #expect(refusal?.kind == .inUse)
            #expect(refusal?.reason.contains(directory.directory.path) == true)
            first.close()
        }
        #expect(try directory.contents().records.isEmpty)
    }

    @Test func `the directory is created with access for its owner only`() throws {
        let parent = try TemporaryDirectory()
        let path = parent.path + "/a/b"
        try SQLiteJournal(directory: path, durability: .power, logger: JournalDirectory().logger).close()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func `the files of the journal are for its owner only, even in an existing directory`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.file + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        journal.close()
    }

    @Test func `a directory that cannot be created is inaccessible`() throws {
        let parent = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: parent.path + "/file"))
        let refusal = #expect(throws: JournalError.self) {
            try SQLiteJournal(
                directory: parent.path + "/file/data", durability: .crash, logger: JournalDirectory().logger)
        }
        #expect(refusal?.kind == .inaccessible)
    }

    @Test func `an inspection reads the committed records of an open journal and changes nothing`() throws {
        let directory = try JournalDirectory()
        let life = RecordedLife(seed: 2, records: 50)
        let journal = try directory.open(.power)
        let commits = Commits(of: journal)
        for record in life.records { journal.commit(record) }
        try commits.wait(for: 50)

        let alive = try JournalInspection(directory: directory.directory.path)
        #expect(alive.records == life.records)
        #expect(alive.durability == "power")
        #expect(!alive.isClosed)
        #expect(try alive.replayed().snapshot() == life.machine.snapshot())

        journal.close()
        let before = directory.bytes
        let dead = try JournalInspection(directory: directory.directory.path)
        #expect(dead.isClosed)
        #expect(dead.records == life.records)
        #expect(dead.form == 4)
        #expect(directory.bytes == before)
    }

    @Test func `an inspection without a journal is refused with the directory's path`() throws {
        let directory = try TemporaryDirectory()
        let refusal = #expect(throws: JournalError.self) { try JournalInspection(directory: directory.path) }
        #expect(refusal?.reason.contains(directory.path) == true)
    }
}
