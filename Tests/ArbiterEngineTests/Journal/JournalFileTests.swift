import ArbiterCore
import ArbiterTestKit
import Foundation
import Glibc
import Logging
import Testing

@testable import ArbiterEngine

/// The files of a journal are protected against a second writer, links and other users, and watched while they are used.
struct JournalFileTests {
    private let records = RecordedLife(seed: 4, records: 20).records

    private func link(_ target: String, at path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func `a journal is in use even if its lock was deleted, before its first commit and after it`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let commits = Commits(of: journal)
        for record in records.prefix(2) {
            try FileManager.default.removeItem(atPath: directory.path + "/lock")
            let refusal = #expect(throws: JournalError.self) { try directory.open() }
            #expect(refusal?.kind == .inUse)
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        journal.close()
        try directory.open().close()
    }

    @Test func `a journal with a second hard link is refused until the link is deleted`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records, recordsInGroup: 5)
        let path = directory.path + "/log-1"
        try FileManager.default.linkItem(atPath: path, toPath: path + ".copy")
        let refusal = #expect(throws: JournalError.self) { try directory.contents() }
        #expect(refusal?.reason.contains("hard link") == true)
        try FileManager.default.removeItem(atPath: path + ".copy")
        #expect(try directory.contents().records == records)
    }

    @Test func `a directory that is opened through a link is in use too`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let other = try TemporaryDirectory()
        try link(directory.path, at: other.path + "/link")
        let open = {
            try LogJournal(directory: other.path + "/link", durability: .crash, logger: directory.logger)
        }
        let refusal = #expect(throws: JournalError.self) { try open() }
        #expect(refusal?.kind == .inUse)
        journal.close()
        try open().close()
    }

    @Test func `a link in the place of a file is refused`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records, recordsInGroup: 5, recordsBetweenSnapshots: 10)
        for name in try directory.names() {
            let path = directory.path + "/" + name
            try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
            for target in [path + ".real", directory.path + "/nowhere"] {
                try link(target, at: path)
                let refusal = #expect(throws: JournalError.self) { try directory.contents() }
                #expect(refusal?.kind == .inaccessible)
                #expect(refusal?.reason.contains("symbolic link") == true)
                try FileManager.default.removeItem(atPath: path)
            }
            #expect(!FileManager.default.fileExists(atPath: directory.path + "/nowhere"))
            try FileManager.default.moveItem(atPath: path + ".real", toPath: path)
        }
        #expect(try directory.contents().snapshot != nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a link away"))
    func `a symbolic link of another user is refused`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records)
        let parent = try TemporaryDirectory()
        let path = parent.path + "/data"
        try link(directory.path, at: path)
        let open = { try LogJournal(directory: path, durability: .crash, logger: directory.logger) }
        try open().close()
        try #require(unsafe lchown(path, 65_534, 65_534) == 0)
        let refusal = #expect(throws: JournalError.self) { try open() }
        #expect(refusal?.reason.contains("another user") == true)
    }

    @Test func `a journal that others can read is restricted to its owner, with a warning`() throws {
        let directory = try JournalDirectory()
        try directory.keep(records, recordsInGroup: 5, recordsBetweenSnapshots: 10)
        let names = try directory.names()
        for name in names { try #require(unsafe chmod(directory.path + "/" + name, 0o644) == 0) }
        _ = try JournalInspection(directory: directory.path)
        #expect(directory.log[.warning].isEmpty)
        _ = try directory.contents()
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        #expect(directory.log[.warning].count { $0.contains("others could read") } == names.count)
    }

    /// What happens to the files of a journal that is being written.
    enum Mishap: CaseIterable {
        case deleted, replaced, emptied, cut, extended, overwritten, moved, withoutSnapshot

        func happen(to log: String, in directory: JournalDirectory) throws {
            let path = directory.path + "/" + log
            let bytes = directory[log]
            switch self {
            case .deleted: try FileManager.default.removeItem(atPath: path)
            case .replaced:
                try FileManager.default.removeItem(atPath: path)
                directory[log] = bytes
            case .emptied: try #require(unsafe truncate(path, 0) == 0)
            case .cut: try #require(unsafe truncate(path, bytes.count - 1) == 0)
            case .extended: try #require(unsafe truncate(path, bytes.count + 1) == 0)
            case .overwritten:
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                try file.seek(toOffset: 0)
                try file.write(contentsOf: Data(count: bytes.count))
                try file.close()
            case .moved: try FileManager.default.moveItem(atPath: directory.path, toPath: directory.path + ".moved")
            case .withoutSnapshot:
                let name = try #require(directory.names().last)
                try FileManager.default.removeItem(atPath: directory.path + "/" + name)
            }
        }

        /// Whether the next commit has to see it; the rest is seen by the next look.
        var isSeenByCommits: Bool { self != .overwritten && self != .withoutSnapshot }
    }

    /// A journal that is being written, with a snapshot and a log.
    private func writing(
        _ durability: LogJournal.Durability, to directory: JournalDirectory
    ) throws -> (LogJournal, Commits, log: String) {
        let journal = try directory.open(durability, recordsBetweenSnapshots: 10)
        let commits = Commits(of: journal)
        for record in records.prefix(12) {
            journal.commit(record)
            try commits.wait(for: record.sequence)
            if record.sequence == 10 {
                try #require(try eventually { try directory.names() == ["log-11", "snapshot-10"] })
            }
        }
        return (journal, commits, "log-11")
    }

    @Test(arguments: Mishap.allCases, LogJournal.Durability.allCases)
    func `a journal whose files are changed fails without another commit`(
        mishap: Mishap, durability: LogJournal.Durability
    ) throws {
        let directory = try JournalDirectory()
        let (journal, commits, log) = try writing(durability, to: directory)
        try mishap.happen(to: log, in: directory)
        #expect(try commits.waitForFailure().kind == .vanished)
        journal.close()
        if mishap == .moved {
            try FileManager.default.moveItem(atPath: directory.path + ".moved", toPath: directory.path)
        }
    }

    @Test(arguments: Mishap.allCases.filter(\.isSeenByCommits), LogJournal.Durability.allCases)
    func `nothing is reported that is written into files that were changed`(
        mishap: Mishap, durability: LogJournal.Durability
    ) throws {
        let directory = try JournalDirectory()
        let (journal, commits, log) = try writing(durability, to: directory)
        try mishap.happen(to: log, in: directory)
        for record in records[12..<14] { journal.commit(record) }
        let failure = #expect(throws: JournalError.self) { try commits.wait(for: 13) }
        #expect(failure?.kind == .vanished)
        journal.close()
        if mishap == .moved {
            try FileManager.default.moveItem(atPath: directory.path + ".moved", toPath: directory.path)
        }
    }

    @Test func `records that piled up over several kills are compacted after the first commit`() throws {
        let directory = try JournalDirectory()
        let records = RecordedLife(seed: 9, records: 501).records
        try directory.keep(records.dropLast(), recordsInGroup: 10)
        let journal = try directory.open(recordsBetweenSnapshots: 100)
        _ = try journal.contents()
        let commits = Commits(of: journal)
        journal.commit(records[500])
        try commits.wait(for: 501)
        #expect(try eventually { try directory.files().snapshots == [501] })
        journal.close()
        let contents = try directory.contents()
        #expect(contents.snapshot?.sequence == 501)
        #expect(contents.records.isEmpty)
    }
}
