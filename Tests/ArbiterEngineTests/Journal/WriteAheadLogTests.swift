import ArbiterEngine
import ArbiterTestKit
import Foundation
import GRDB
import Glibc
import Testing

/// A write-ahead log left by a kill is accepted; one with a gap in its middle is damaged.
struct WriteAheadLogTests {
    private static let headerBytes = 32
    private static let frameBytes = 24 + 4096
    private static let smallCommit = "INSERT INTO torn VALUES (0, 0, x'', 0)"
    private let records = RecordedLife(seed: 8, records: 60).records

    /// A journal of sixty records, one in each batch, whose writer was killed.
    private func left(_ durability: SQLiteJournal.Durability = .crash) throws -> JournalDirectory {
        let directory = try JournalDirectory()
        let journal = try directory.open(durability)
        let commits = Commits(of: journal)
        for record in records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        let killed = try directory.killed()
        journal.close()
        try #require(killed.writeAheadLog.count > Self.headerBytes + records.count * Self.frameBytes)
        return killed
    }

    private func invert(_ range: Range<Int>, in directory: JournalDirectory) {
        var log = directory.writeAheadLog
        for index in range { log[index] = ~log[index] }
        directory.writeAheadLog = log
    }

    /// Inverts a few bytes of the page in a frame.
    private func invertFrame(_ index: Int, in directory: JournalDirectory) {
        let frames = (directory.writeAheadLog.count - Self.headerBytes) / Self.frameBytes
        let start = Self.headerBytes + (index < 0 ? frames + index : index) * Self.frameBytes + 1000
        invert(start..<start + 16, in: directory)
    }

    private func expectRefusal(of directory: JournalDirectory, location: SourceLocation = #_sourceLocation) throws {
        let before = (directory.bytes, directory.writeAheadLog)
        let refusal = #expect(throws: JournalError.self, sourceLocation: location) { try directory.contents() }
        #expect(refusal?.kind == .damaged, "\(refusal?.reason ?? "")", sourceLocation: location)
        #expect(refusal?.reason.contains("\(directory.file)-wal") == true, sourceLocation: location)
        #expect(before == (directory.bytes, directory.writeAheadLog), "a file changed", sourceLocation: location)
    }

    @Test func `a journal whose writer was killed has all its records`() throws {
        let contents = try left().contents()
        #expect(contents.records == records)
        #expect(!contents.isIncomplete)
    }

    @Test(arguments: 1...15)
    func `damage before the end is refused`(sixteenths: Int) throws {
        let directory = try left()
        let start = directory.writeAheadLog.count * sixteenths / 16
        invert(start..<start + 16, in: directory)
        try expectRefusal(of: directory)
    }

    @Test func `damage in the header of a frame is refused`() throws {
        let directory = try left()
        let start = Self.headerBytes + 20 * Self.frameBytes
        invert(start..<start + 16, in: directory)
        try expectRefusal(of: directory)
    }

    @Test func `a lost frame is refused`() throws {
        let directory = try left()
        let start = Self.headerBytes + 20 * Self.frameBytes
        directory.writeAheadLog.removeSubrange(start..<start + Self.frameBytes)
        try expectRefusal(of: directory)
    }

    @Test func `an inspection refuses a damaged log, unless a daemon writes it`() throws {
        let directory = try left(.power)
        invertFrame(20, in: directory)
        let refusal = #expect(throws: JournalError.self) { try JournalInspection(directory: directory.directory.path) }
        #expect(refusal?.kind == .damaged)

        let descriptor = unsafe open(directory.file, O_RDWR | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        defer { close(descriptor) }
        #expect(try JournalInspection(directory: directory.directory.path).records.count < records.count)
    }

    @Test func `a log that ends early is read up to its end`() throws {
        let whole = try left()
        let size = whole.writeAheadLog.count
        let last = size - Self.frameBytes
        for end in [
            0, 16, Self.headerBytes, size / 3, size / 2, last - 1, last, last + 10, last + 24, last + 25, size - 1,
        ] {
            let directory = try JournalDirectory()
            try whole.bytes.write(to: URL(fileURLWithPath: directory.file))
            directory.writeAheadLog = whole.writeAheadLog.prefix(end)
            let contents = try directory.contents()
            #expect(contents.records == Array(records.prefix(contents.records.count)), "\(end) of \(size) bytes")
        }
    }

    /// Changes the database like a writer that is killed afterwards.
    private func write(_ statements: String..., to directory: JournalDirectory) throws -> JournalDirectory {
        let database = try DatabaseQueue(path: directory.file)
        return try database.writeWithoutTransaction { database in
            for statement in statements { try database.execute(sql: statement) }
            return try directory.killed()
        }
    }

    @Test func `frames of a transaction without a commit are not damage`() throws {
        let before = try left()
        let directory = try write(
            "PRAGMA cache_size = 2",
            """
            BEGIN;
            WITH RECURSIVE number(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM number LIMIT 40)
            INSERT INTO torn SELECT value, value, randomblob(3000), 0 FROM number;
            ROLLBACK
            """,
            Self.smallCommit, to: before)
        let (log, size) = (directory.writeAheadLog, before.writeAheadLog.count)
        // After the newest commit there are older frames of the same generation with a valid checksum chain.
        try #require(log.count > size + 10 * Self.frameBytes)
        let (header, last) = (log[16..<24], log.count - Self.frameBytes)
        try #require(header == log[last + 8..<last + 16])

        let damaged = try directory.killed()
        #expect(try directory.contents().records == records)
        invertFrame(20, in: damaged)
        try expectRefusal(of: damaged)
    }

    @Test func `frames of an earlier generation are not damage`() throws {
        let directory = try write(
            "PRAGMA wal_checkpoint(RESTART)", Self.smallCommit, Self.smallCommit, to: left())
        try #require(directory.writeAheadLog.count > 20 * Self.frameBytes)
        let damaged = try directory.killed()
        #expect(try directory.contents().records == records)
        invertFrame(20, in: damaged)
        #expect(try damaged.contents().records == records)
    }

    @Test func `a damaged header is refused if the database lacks the records of the log`() throws {
        for start in [0, 4, 8, 16, 24] {
            let directory = try left()
            invert(start..<start + 4, in: directory)
            try expectRefusal(of: directory)
        }
    }

    @Test func `a torn header after a checkpoint loses no record`() throws {
        for start in [0, 12, 16, 24] {
            let directory = try write("PRAGMA wal_checkpoint(FULL)", to: left())
            try #require(directory.writeAheadLog.count > 20 * Self.frameBytes)
            invert(start..<Self.headerBytes, in: directory)
            #expect(try directory.contents().records == records)
        }
    }
}

// MARK: - After the death of the machine

extension WriteAheadLogTests {
    private func contents(of directory: JournalDirectory) throws -> JournalContents {
        let journal = try directory.open(boot: "another boot")
        defer { journal.close() }
        return try journal.contents()
    }

    @Test func `with durability crash, the death of the machine may leave gaps in the log`() throws {
        let directory = try left(.crash)
        invertFrame(20, in: directory)
        // The loss is reported at every start until the first commit.
        for _ in 0..<2 {
            let journal = try directory.open(boot: "another boot")
            let contents = try journal.contents()
            #expect(contents.isIncomplete)
            #expect(contents.records == Array(records.prefix(contents.records.count)))
            #expect(contents.records.count < records.count)
            journal.close()
        }
        #expect(try JournalInspection(directory: directory.directory.path).records.count < records.count)
    }

    @Test func `a commit after a gap is not damage after a kill`() throws {
        let directory = try left(.crash)
        invertFrame(20, in: directory)
        let journal = try directory.open(boot: "another boot")
        let found = try journal.contents().records.count
        let commits = Commits(of: journal)
        journal.commit(records[found])
        try commits.wait(for: records[found].sequence)
        let killed = try directory.killed()
        journal.close()
        let contents = try killed.open(boot: "another boot")
        #expect(try contents.contents().records == Array(records.prefix(found + 1)))
        contents.close()
    }

    @Test func `with durability power, only the last commit may be incomplete`() throws {
        let torn = try write(
            "BEGIN", "INSERT INTO torn VALUES (0, 0, randomblob(20000), 0)", "COMMIT",
            to: left(.power))
        invertFrame(-3, in: torn)
        try expectRefusal(of: torn)
        let contents = try contents(of: torn)
        #expect(contents.records == records)
        #expect(contents.isIncomplete)
        #expect(try self.contents(of: torn).isIncomplete)

        let damaged = try left(.power)
        invertFrame(20, in: damaged)
        let refusal = #expect(throws: JournalError.self) { try self.contents(of: damaged) }
        #expect(refusal?.kind == .damaged)
    }

    @Test func `the first commit of a process may be incomplete`() throws {
        let directory = try JournalDirectory()
        for (boot, record) in zip(["first boot", "second boot"], records) {
            let journal = try directory.open(.power, boot: boot)
            let before = try journal.contents().records
            let commits = Commits(of: journal)
            journal.commit(record)
            try commits.wait(for: record.sequence)
            let killed = try directory.killed()
            journal.close()
            invertFrame(0, in: killed)
            let contents = try contents(of: killed)
            #expect(contents.records == before)
            #expect(contents.isIncomplete)
        }
    }
}
