import ArbiterEngine
import ArbiterTestKit
import Foundation
import Logging
import Testing

/// Damage is detected, and reading a damaged journal never makes it worse.
struct SQLiteJournalDamageTests {
    /// A journal of forty records in four batches, closed.
    private func sound() throws -> (JournalDirectory, [JournalEntry]) {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 5, records: 40).records
        try directory.keep(records, recordsInBatch: 10)
        try #require(directory.number("SELECT count(*) FROM batch") >= 4)
        return (directory, records)
    }

    private func expectRefusal(
        _ kind: JournalError.Kind, of directory: JournalDirectory, location: SourceLocation = #_sourceLocation
    ) throws {
        let before = directory.bytes
        let refusal = #expect(throws: JournalError.self, sourceLocation: location) { try directory.contents() }
        #expect(refusal?.kind == kind, "\(refusal?.reason ?? "")", sourceLocation: location)
        #expect(refusal?.reason.contains(directory.file) == true, sourceLocation: location)
        #expect(directory.bytes == before, "the file was changed", sourceLocation: location)
    }

    /// Changes one byte of a blob.
    private func flip(_ column: String, of row: String, in directory: JournalDirectory) throws {
        try directory.sql(
            """
            UPDATE \(row.contains("sequence") ? "snapshot" : "batch") SET \(column) =
            CAST(substr(\(column), 1, 7) || x'a5' || substr(\(column), 9) AS BLOB) WHERE \(row)
            """)
    }

    @Test func `a torn end is cut off, kept aside and logged`() throws {
        let (directory, records) = try sound()
        let lost = try directory.number("SELECT first FROM batch ORDER BY last DESC LIMIT 1")
        try flip("records", of: "last = 40", in: directory)
        #expect(try JournalInspection(directory: directory.directory.path).isTorn)

        let contents = try directory.contents()

        #expect(contents.records == Array(records.prefix(lost - 1)))
        // Its answers may have been sent, so fences must jump.
        #expect(contents.isIncomplete)
        #expect(try directory.number("SELECT count(*) FROM torn WHERE last = 40 AND first = \(lost)") == 1)
        #expect(directory.log[.warning].count == 1)
        // It is cut off only once; after that the journal is sound, and continues at its end.
        #expect(try directory.contents() == contents)
        #expect(directory.log[.warning].count == 1)
        let inspection = try JournalInspection(directory: directory.directory.path)
        #expect(!inspection.isTorn)
        #expect(inspection.tornBefore == 1)
        try directory.keep(Array(records.dropFirst(lost - 1)))
        #expect(try directory.contents().records == records)
    }

    @Test func `a flipped byte before the end is refused`() throws {
        let (directory, _) = try sound()
        try flip("records", of: "last = (SELECT min(last) FROM batch)", in: directory)
        try expectRefusal(.damaged, of: directory)
        #expect(throws: JournalError.self) { try JournalInspection(directory: directory.directory.path) }
    }

    @Test func `a flipped byte in the snapshot is refused`() throws {
        let directory = try JournalDirectory()
        try directory.keep(
            RecordedLife(seed: 6, records: 60).records, recordsInBatch: 10, recordsBetweenSnapshots: 20)
        try #require(directory.number("SELECT count(*) FROM snapshot") == 1)
        try flip("state", of: "sequence > 0", in: directory)
        try expectRefusal(.damaged, of: directory)
    }

    @Test func `a gap is refused`() throws {
        let (directory, _) = try sound()
        try directory.sql("DELETE FROM batch WHERE last = (SELECT last FROM batch ORDER BY last LIMIT 1 OFFSET 1)")
        try expectRefusal(.damaged, of: directory)
    }

    @Test func `a last group whose sequences do not match its records is cut off`() throws {
        let (directory, records) = try sound()
        let lost = try directory.number("SELECT first FROM batch ORDER BY last DESC LIMIT 1")
        try directory.sql("UPDATE batch SET first = first - 1 WHERE last = 40")
        #expect(try directory.contents().records == Array(records.prefix(lost - 1)))
    }

    @Test func `a newer form is left alone`() throws {
        let (directory, _) = try sound()
        try directory.sql("PRAGMA user_version = 5")
        try expectRefusal(.unknownForm, of: directory)
    }

    @Test func `a database of another application is left alone`() throws {
        let directory = try JournalDirectory()
        try directory.sql("CREATE TABLE song (title TEXT)")
        try expectRefusal(.unknownForm, of: directory)
        try directory.sql("PRAGMA application_id = 7")
        try expectRefusal(.unknownForm, of: directory)
    }

    @Test func `a file that is not a database is left alone`() throws {
        let directory = try JournalDirectory()
        try Data(String(repeating: "Dear diary, ", count: 1000).utf8).write(to: URL(fileURLWithPath: directory.file))
        try expectRefusal(.damaged, of: directory)
    }

    @Test(arguments: [1, 2, 3])
    func `a truncated file is refused`(quarters: Int) throws {
        let (directory, _) = try sound()
        let bytes = directory.bytes
        try bytes.prefix(bytes.count * quarters / 4).write(to: URL(fileURLWithPath: directory.file))
        try expectRefusal(.damaged, of: directory)
    }

    @Test func `an emptied file is refused`() throws {
        let (directory, _) = try sound()
        try Data().write(to: URL(fileURLWithPath: directory.file))
        try expectRefusal(.damaged, of: directory)
        let refusal = #expect(throws: JournalError.self) { try JournalInspection(directory: directory.directory.path) }
        #expect(refusal?.kind == .damaged)
    }

    @Test func `a database without the tables of a journal is refused`() throws {
        let directory = try JournalDirectory()
        try directory.sql("VACUUM")
        try expectRefusal(.unknownForm, of: directory)
    }

    @Test func `a write-ahead log without its journal is refused`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let killed = try directory.killed()
        journal.close()
        try FileManager.default.removeItem(atPath: killed.file)
        try expectRefusal(.damaged, of: killed)
        #expect(!FileManager.default.fileExists(atPath: killed.file))
    }

    @Test(arguments: ["", "SQLite format 3"])
    func `a first start that was interrupted is repeated from the beginning`(content: String) throws {
        let directory = try JournalDirectory()
        for suffix in [".new", ".new-journal"] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: directory.file + suffix))
        }
        #expect(try directory.contents().records.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.directory.path)
        #expect(names.sorted() == ["journal.sqlite", "lock"])
    }

    @Test func `damage in the records that were cut off earlier is found at the start`() throws {
        let (directory, _) = try sound()
        try flip("records", of: "last = 40", in: directory)
        _ = try directory.contents()
        let page = try directory.number("SELECT rootpage FROM sqlite_schema WHERE name = 'torn'")
        var bytes = directory.bytes
        for index in (page - 1) * 4096..<(page - 1) * 4096 + 16 { bytes[index] = ~bytes[index] }
        try bytes.write(to: URL(fileURLWithPath: directory.file))
        try expectRefusal(.damaged, of: directory)
        #expect(throws: JournalError.self) { try JournalInspection(directory: directory.directory.path) }
    }
}
