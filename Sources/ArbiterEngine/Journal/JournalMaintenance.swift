internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import Glibc

/// Copies of a journal, and what is done with it while no daemon uses it.
package enum JournalMaintenance {
    /// Copies the journal of a directory into a file, also while a daemon writes it (https://sqlite.org/backup.html).
    ///
    /// A daemon that starts with the copy takes it for a journal whose last records may be missing: numbers jump, and
    /// nothing is granted until every lease that was given since has run out.
    ///
    /// - Parameters:
    ///   - directory: the directory of the journal.
    ///   - file: the path of the copy, where there must be no file.
    /// - Returns: the last record of the copy, which has been read and replayed.
    /// - Throws: `JournalError` if there is no journal, if there is a file already, or if the copy cannot be written.
    package static func backUp(_ directory: String, to file: String) throws(JournalError) -> UInt64 {
        let path = try TrustedPath.resolve(SQLiteJournal.path(in: directory))
        guard FileManager.default.fileExists(atPath: path) else {
            throw JournalError(reason: "there is no journal at \(path): name its directory with --data")
        }
        return try copy(path, to: file)
    }

    /// Puts a copy in the place of a journal.
    ///
    /// - Parameters:
    ///   - file: the copy.
    ///   - directory: the directory of the journal, in which there must be none.
    /// - Returns: the last record of the journal, which has been read and replayed.
    /// - Throws: `JournalError` if the copy is damaged, if a daemon uses the directory, or if there is a journal already.
    package static func restore(_ file: String, to directory: String) throws(JournalError) -> UInt64 {
        guard FileManager.default.fileExists(atPath: file) else {
            throw JournalError(reason: "there is no file \(file)")
        }
        try SQLiteJournal.makeDirectory(directory)
        let directory = try TrustedPath.resolve(directory)
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        return try copy(file, to: SQLiteJournal.path(in: directory))
    }

    /// Replaces the records of a journal by a snapshot, and makes its file as small as possible.
    ///
    /// - Parameter directory: the directory of the journal, which no daemon uses.
    /// - Returns: the size of the file before and afterwards, in bytes.
    /// - Throws: `JournalError` if a daemon uses it, or if it is damaged.
    package static func compact(_ directory: String) throws(JournalError) -> (before: Int, after: Int) {
        let directory = try TrustedPath.resolve(directory)
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        let journal = try JournalInspection(directory: directory)
        // Closing the database removes the write-ahead log, and a journal that was not closed must have one.
        guard journal.isClosed else {
            throw JournalError(
                .damaged, reason: "\(journal.path) was not closed: start arbiterd with it, and stop it, first")
        }
        // A snapshot may be larger than the records that it would replace.
        let snapshot = try journal.snapshotOfAll().flatMap { $0.state.count < journal.size ? $0 : nil }
        do {
            let database = try DatabaseQueue(
                path: journal.path, configuration: SQLiteJournal.configuration(readOnly: false))
            if let snapshot {
                try database.write { database in
                    try SQLiteJournal.insert(snapshot, into: database)
                    try database.execute(
                        sql: "DELETE FROM batch WHERE last <= ?", arguments: [Int64(snapshot.sequence)])
                }
            }
            try database.vacuum()
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try database.close()
        } catch {
            throw JournalError(error, path: journal.path)
        }
        return (journal.size, try JournalInspection(directory: directory).size)
    }

    /// Copies a journal, checks the copy, and gives it its name only then.
    private static func copy(_ source: String, to file: String) throws(JournalError) -> UInt64 {
        // SQLite would take a log beside the copy for the copy's own.
        try checkIsAbsent(file)
        // Another backup to the same place has another name.
        let part = "\(file).\(getpid()).part"
        let reading = try open(source)
        try makeEmpty(part, for: file)
        do {
            let writing = try DatabaseQueue(path: part)
            try reading.backup(to: writing)
            try reading.close()
            try writing.writeWithoutTransaction { database in
                // The copy is one file, without a log beside it.
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: SQLiteJournal.note(Life.copied))
            }
            try writing.close()
            let copied = try inspect(part, copiedFrom: source)
            guard unsafe rename(part, file) == 0 else {
                throw JournalError(reason: "cannot write \(file): \(unsafe String(cString: strerror(errno)))")
            }
            return copied.records.last?.sequence ?? copied.snapshot?.sequence ?? 0
        } catch {
            try? FileManager.default.removeItem(atPath: part)
            // Only the source can be damaged.
            let isDamage = [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains((error as? DatabaseError)?.resultCode)
            throw JournalError(error, path: isDamage ? source : file)
        }
    }

    /// Reads and replays a copy; what is wrong with it is wrong with what was copied.
    private static func inspect(_ part: String, copiedFrom source: String) throws(JournalError) -> JournalInspection {
        do {
            let copied = try JournalInspection(path: part)
            _ = try copied.replayed()
            return copied
        } catch {
            throw JournalError(error.kind, reason: error.reason.replacing(part, with: source))
        }
    }

    /// Opens a journal that is copied, and reads a little of it.
    private static func open(_ source: String) throws(JournalError) -> DatabaseQueue {
        do {
            let database = try DatabaseQueue(path: source, configuration: SQLiteJournal.configuration(readOnly: true))
            _ = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
            return database
        } catch {
            throw JournalError(error, path: source)
        }
    }

    /// Makes an empty file that only its owner can read.
    private static func makeEmpty(_ path: String, for file: String) throws(JournalError) {
        try? FileManager.default.removeItem(atPath: path)
        guard
            FileManager.default.createFile(atPath: path, contents: Data(), attributes: [.posixPermissions: 0o600])
        else { throw JournalError(reason: "cannot write \(file): \(unsafe String(cString: strerror(errno)))") }
    }
}

extension JournalInspection {
    /// A snapshot after the last record; `nil` if there is none yet.
    fileprivate func snapshotOfAll() throws(JournalError) -> JournalSnapshot? {
        guard let last = records.last else { return nil }
        return JournalSnapshot(sequence: last.sequence, moment: last.moment, state: try replayed().snapshot())
    }
}
