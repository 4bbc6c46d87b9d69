import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import Glibc
import Logging
import Testing

/// The database file is protected against a second writer, links and other users.
struct JournalFileTests {
    private let records = RecordedLife(seed: 4, records: 10).records

    private func link(_ target: String, at path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func `a journal is in use even if its lock was deleted`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        try FileManager.default.removeItem(atPath: directory.directory.path + "/lock")
        let refusal = #expect(throws: JournalError.self) { try directory.open() }
        #expect(refusal?.kind == .inUse)
        journal.close()
        try directory.open().close()
    }

    @Test func `a journal with a second hard link is refused until the link is deleted`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records, recordsInBatch: 5)
        let path = SQLiteJournal.path(in: directory.directory.path)
        try FileManager.default.linkItem(atPath: path, toPath: path + ".copy")
        let refusal = #expect(throws: JournalError.self) { try directory.open() }
        #expect(refusal?.reason.contains("hard link") == true)
        try FileManager.default.removeItem(atPath: path + ".copy")
        #expect(try directory.contents().records == records)
    }

    @Test func `a journal that is opened through a link is in use too`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let other = try JournalDirectory()
        try link(directory.file, at: other.file)
        let refusal = #expect(throws: JournalError.self) { try other.open() }
        #expect(refusal?.kind == .inUse)
        journal.close()
        // Once it is closed, it can be opened through the link; its write-ahead log is beside the real file.
        let linked = try other.open()
        #expect(FileManager.default.fileExists(atPath: directory.file + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: other.file + "-wal"))
        linked.close()
    }

    @Test func `no journal is created through a link that leads nowhere`() throws {
        let directory = try JournalDirectory()
        try link(directory.directory.path + "/nowhere", at: directory.file)
        let refusal = #expect(throws: JournalError.self) { try directory.open() }
        #expect(refusal?.kind == .inaccessible)
    }

    @Test(arguments: ["-wal", "-shm"])
    func `a link beside the database is refused`(suffix: String) throws {
        let directory = try JournalDirectory()
        try directory.keep(records)
        let target = directory.directory.path + "/elsewhere"
        try link(target, at: directory.file + suffix)
        let refusal = #expect(throws: JournalError.self) { try directory.open() }
        #expect(refusal?.kind == .inaccessible)
        #expect(refusal?.reason.contains("symbolic link") == true)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a link away"), arguments: [true, false])
    func `a symbolic link of another user is refused`(isDirectory: Bool) throws {
        let directory = try JournalDirectory()
        try directory.keep(records)
        let parent = try TemporaryDirectory()
        let path = parent.path + (isDirectory ? "/data" : "/journal.sqlite")
        try link(isDirectory ? directory.directory.path : directory.file, at: path)
        let open = {
            try SQLiteJournal(
                directory: isDirectory ? path : parent.path, durability: .crash, logger: directory.logger)
        }
        try open().close()
        try #require(unsafe lchown(path, 65_534, 65_534) == 0)
        let refusal = #expect(throws: JournalError.self) { try open() }
        #expect(refusal?.reason.contains("another user") == true)
    }

    @Test func `a journal that others can read is restricted to its owner, with a warning`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records)
        try #require(unsafe chmod(directory.file, 0o644) == 0)
        directory.writeAheadLog = Data()
        try #require(unsafe chmod(directory.file + "-wal", 0o640) == 0)
        let journal = try directory.open()
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.file + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
        #expect(directory.log[.warning].count { $0.contains("others could read") } == 2)
        journal.close()
    }

    @Test func `a journal whose file is replaced fails, and leaves the new file's write-ahead log alone`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let commits = Commits(of: journal)
        journal.commit(records[0])
        try commits.wait(for: 1)
        for suffix in ["", "-wal"] { try FileManager.default.removeItem(atPath: directory.file + suffix) }
        try Data("another".utf8).write(to: URL(fileURLWithPath: directory.file))
        directory.writeAheadLog = Data("another log".utf8)
        #expect(try commits.waitForFailure().kind == .vanished)
        journal.close()
        #expect(directory.writeAheadLog == Data("another log".utf8))
    }

    @Test func `records that piled up over several kills are compacted at the start`() throws {
        let directory = try JournalDirectory()
        try directory.keep(RecordedLife(seed: 9, records: 500).records, recordsInBatch: 10)
        let journal = try directory.open(recordsBetweenSnapshots: 100)
        _ = try journal.contents()
        journal.begin { _ in }
        #expect(try eventually { try directory.number("SELECT max(sequence) FROM snapshot") == 500 })
        journal.close()
        let contents = try directory.contents()
        #expect(contents.snapshot?.sequence == 500)
        #expect(contents.records.isEmpty)
    }
}
