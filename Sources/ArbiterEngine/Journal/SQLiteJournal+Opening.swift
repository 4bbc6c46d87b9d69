internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Logging

// How the file is opened and closed.

extension SQLiteJournal {
    /// "ARBI", by which `file` and others can tell what the database is.
    static let applicationID: Int32 = 0x4152_4249
    /// How long a commit waits for another program to let go of the file.
    private static let busySeconds = 5.0
    /// The form that is written here; a file of a newer one is left alone.
    ///
    /// The second form has revocations, and snapshots that say their own form. A file of the first is read as it is, and
    /// becomes one of the second when something is written.
    static let form: Int32 = 2

    /// The name of this run of the machine: random, and made anew at every boot.
    static func currentBoot() -> String {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
    }

    /// How a connection is opened, whatever it is for.
    ///
    /// Whoever closes one locks the file for a moment against those who come; who locks it for longer is in the way.
    static func configuration(readOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(busySeconds)
        return configuration
    }

    /// Opens the database for writing, with every commit waiting for the disk.
    ///
    /// What is there is not touched, so that a journal which turns out to be damaged stays as it was found.
    ///
    /// - Returns: it, and how its last writer left it.
    static func open(
        _ path: String, boot: String, logger: Logger
    ) throws(JournalError) -> (DatabaseQueue, JournalContents.Ending) {
        let log = try WriteAheadLog.state(beside: path)
        do {
            if case .broken = log {
                // Whoever opens it for writing also tidies it up in the end.
                let reading = try DatabaseQueue(path: path, configuration: configuration(readOnly: true))
                try reading.read { database in
                    try checkForm(of: database, at: path)
                    try check(log, of: database, at: path, boot: boot)
                }
                try reading.close()
            }
            let database = try DatabaseQueue(path: path, configuration: configuration(readOnly: false))
            let ending = try database.writeWithoutTransaction { database in
                try keepLog(true, of: database)
                try checkForm(of: database, at: path)
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = FULL")
                let life = try Life(database, path: path)
                if life?.lacksLog(log) == true {
                    logger.warning(
                        "the journal was not closed, and its write-ahead log is missing; the last records may be lost",
                        metadata: ["journal": "\(path)"])
                }
                let ending = life.ending(log, boot: boot)
                if case .broken = log { try forgetLog(of: database) }
                return ending
            }
            return (database, ending)
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Sees to it that what stands behind a break will not stand behind what is written now.
    private static func forgetLog(of database: Database) throws {
        try database.execute(sql: noteTorn)
        guard try Bool.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == false else {
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }
    }

    /// Has it known at the next start too that the last records may be missing, should this one end before it writes.
    static let noteTorn = "INSERT OR REPLACE INTO life VALUES (1, '\(Life.torn)', '\(Durability.crash.rawValue)', 0)"

    /// Notes that somebody writes, in the same transaction as the first batch.
    ///
    /// Where records may be missing, that batch says so. Only once it is on the disk is this known to be another life:
    /// otherwise a second death could undo the jump of the fences, or hide that there ought to be one.
    func noteLife(in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO life VALUES (1, ?, ?, 0)", arguments: [boot, durability.rawValue])
        try database.execute(sql: "PRAGMA user_version = \(Self.form)")
    }

    /// From the second batch on a commit waits for the disk only where it has to survive the death of the machine.
    func relaxWaiting() throws(JournalError) {
        guard durability == .crash else { return }
        do {
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// - Throws: `JournalError` if a write-ahead log is broken, other than by the death of the machine, whose disk may
    ///   have taken what was written last in any order.
    static func check(_ log: WriteAheadLog.State, of database: Database, at path: String, boot: String) throws {
        guard case .broken = log, try Life(database, path: path).ending(log, boot: boot) != .incomplete else { return }
        throw JournalError(
            .damaged,
            reason:
                "\(path)-wal is damaged, and what was committed behind the damage would be lost: restore a copy of the "
                + "directory, or move it away to begin anew")
    }

    /// - Throws: `JournalError` if the file is somebody else's, or of a form that is not known here.
    static func checkForm(of database: Database, at path: String) throws {
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let form = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard application == applicationID else {
            throw JournalError(.unknownForm, reason: "\(path) is no journal of arbiterd: choose another --data")
        }
        guard form > 0 else { throw JournalError(damage: "its form is said to be \(form)", in: path) }
        guard form <= self.form else {
            throw JournalError(
                .unknownForm,
                reason:
                    "\(path) was written by a newer arbiterd (form \(form), known here are 1 to \(self.form)): run that"
            )
        }
    }

    /// Notes that somebody is about to write, in the database itself: should the write-ahead log be lost, it is known.
    ///
    /// Where records may be missing, whose life it was stands until the first batch, which makes up for them, is there.
    func noteOpening() throws(JournalError) {
        let keepsLife = ending == .incomplete || state.withLock { $0.isTorn }
        try write { database in
            if keepsLife {
                try database.execute(sql: "UPDATE life SET closed = 0")
            } else {
                try self.noteLife(in: database)
            }
        }
        do {
            // Not one that empties the log: an empty one is taken for a loss.
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Everything is on the disk now, and nobody writes any more.
    ///
    /// Where that cannot be noted, the write-ahead log stays, since without one the journal would seem to have lost it.
    func finish() {
        let (isAlive, isUnwritable, isTorn) = state.withLock { ($0.isAlive, $0.hasFailed, $0.isTorn) }
        do {
            try database.writeWithoutTransaction { database in
                guard !isUnwritable, isAlive || ending == .closed && !isTorn else { return }
                try database.execute(sql: "PRAGMA synchronous = FULL")
                if isAlive { try database.execute(sql: "UPDATE life SET closed = 1") }
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                try Self.keepLog(false, of: database)
            }
            try database.close()
        } catch {
            logger.error(
                "the journal was not closed", metadata: ["reason": "\(JournalError(error, path: path).reason)"])
        }
    }

    /// Whether the write-ahead log stays when the last connection to the database is closed.
    ///
    /// SQLite deletes it by its name, whatever file has that by then (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
    private static func keepLog(_ keeps: Bool, of database: Database) throws {
        var flag: CInt = keeps ? 1 : 0
        let status = unsafe sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }

    static func insert(_ batch: RecordBatch, into database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO batch (last, first, records, checksum) VALUES (?, ?, ?, ?)")
        try statement.execute(
            arguments: [Int64(batch.last), Int64(batch.first), Data(batch.bytes), Int64(batch.checksum)])
    }
}

/// What a journal says about who wrote it last.
struct Life {
    let boot: String
    let durability: SQLiteJournal.Durability
    let isClosed: Bool

    /// - Throws: `JournalError` if it says something else.
    init?(_ database: Database, path: String) throws {
        guard let row = try Row.fetchOne(database, sql: "SELECT boot, durability, closed FROM life") else { return nil }
        boot = try row.text("boot", of: path)
        let text = try row.text("durability", of: path)
        guard let durability = SQLiteJournal.Durability(rawValue: text) else {
            throw JournalError(damage: "there is no durability \(text)", in: path)
        }
        self.durability = durability
        isClosed = try row.number("closed", of: path) != 0
    }

    /// What stands in the place of the boot once it is known that records may be missing.
    static let torn = "torn"

    /// A writer that is killed leaves its write-ahead log.
    func lacksLog(_ log: WriteAheadLog.State) -> Bool { !isClosed && log == .missing && boot != Self.torn }
}

extension Life? {
    /// How a journal was left, by what it says and what is beside it.
    ///
    /// Records may be missing where the machine died while somebody wrote without waiting for the disk, or in the midst of
    /// the last commit, and where the write-ahead log is gone.
    func ending(_ log: WriteAheadLog.State, boot: String) -> JournalContents.Ending {
        // The last commit is in parts on the disk only if nobody was told of it. It may be the first of a life, too.
        let lacksCommit = log == .broken(commits: 1)
        guard let self else { return lacksCommit ? .incomplete : .killed }
        if self.lacksLog(log) { return .incomplete }
        if self.boot != boot, lacksCommit || !self.isClosed && self.durability == .crash { return .incomplete }
        return self.isClosed && log == .missing ? .closed : .killed
    }
}

extension JournalError {
    /// What SQLite says, and what can be done about it.
    init(_ error: any Error, path: String) {
        if let error = error as? JournalError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(reason: "\(path): \(error)")
            return
        }
        let said = error.message ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(reason: "\(path) cannot grow (\(said)): make room on its disk")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            self.init(
                reason: "\(path) cannot be written (\(said)): check its owner, its mode and how its disk is mounted")
        // Of the statements only the journal they are for can be wrong.
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG,
            .SQLITE_FORMAT, .SQLITE_RANGE, .SQLITE_EMPTY, .SQLITE_SCHEMA:
            self.init(damage: said, in: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, reason: "\(path) is in use by another program (\(said))")
        default:
            self.init(reason: "\(path): \(said)")
        }
    }
}
