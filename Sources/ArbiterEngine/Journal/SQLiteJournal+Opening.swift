internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Logging

// Opens and closes the file.

extension SQLiteJournal {
    /// "ARBI", by which `file` and other programs identify the database.
    static let applicationID: Int32 = 0x4152_4249
    /// How long a commit waits for another program to let go of the file.
    private static let busySeconds = 5.0
    /// The form that this version writes; files of a newer form are refused.
    ///
    /// Form 2 has revocations, and its snapshots contain their own form. Since form 3, records and snapshots name the
    /// rules that they were made under; form 4 has records and snapshots of the second layout. A file of an older form is
    /// read unchanged, and becomes one of the newest form with the first commit.
    static let form: Int32 = 4

    /// The id of the machine's current boot, which the kernel draws at random; `nil` where it cannot be read, as in a sandbox.
    static func currentBoot() -> String? {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The configuration of every connection.
    ///
    /// A connection that is being closed locks the file for a moment. A program that locks it for longer causes an
    /// error.
    static func configuration(readOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(busySeconds)
        return configuration
    }

    /// Opens the database for writing, with `synchronous=FULL` until the first batch is committed.
    ///
    /// Its contents are not changed, so that a journal which turns out to be damaged stays as it was found.
    ///
    /// - Returns: the connection, and how the last writer stopped.
    static func open(
        _ path: String, boot: String, logger: Logger
    ) throws(JournalError) -> (DatabaseQueue, JournalContents.Ending) {
        let log = try WriteAheadLog.state(beside: path)
        do {
            if case .broken = log {
                // Closing a connection that can write would checkpoint the log, so a connection that only reads checks
                // it.
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
                if case .broken = log { try forgetLog(of: database, because: ending) }
                return ending
            }
            return (database, ending)
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Empties a broken log, so that its old commits will not follow the new ones.
    private static func forgetLog(of database: Database, because ending: JournalContents.Ending) throws {
        let durability = ending == .commitCutShort ? Durability.power : .crash
        try database.execute(sql: note(ending.isOfMachine ? Life.torn : Life.copied, durability))
        guard try Bool.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == false else {
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }
    }

    /// Records that the last records may be missing, in case this process ends before its first commit: `Life.torn` or
    /// `Life.copied`.
    static func note(_ life: String, _ durability: Durability = .crash) -> String {
        "INSERT OR REPLACE INTO life VALUES (1, '\(life)', '\(durability.rawValue)', 0)"
    }

    /// Stores the boot id and durability of this process, in the same transaction as its first batch.
    ///
    /// If records may be missing, the first batch contains the record that makes up for them. The row must not change
    /// before that batch is on the disk: otherwise a second crash could undo the jump of the fences, or hide that one
    /// is needed.
    func noteLife(in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO life VALUES (1, ?, ?, 0)", arguments: [boot, durability.rawValue])
        try database.execute(sql: "PRAGMA user_version = \(Self.form)")
    }

    /// Lets commits from the second on return without waiting for the disk, with durability `crash`.
    func relaxWaiting() throws(JournalError) {
        guard durability == .crash else { return }
        do {
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = NORMAL")
                // A checkpoint waits for the disk, so it is left to the journal's queue.
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// - Throws: `JournalError` if the write-ahead log is broken for any other reason than the death of the machine,
    ///   whose disk may have written the last pages in any order.
    static func check(_ log: WriteAheadLog.State, of database: Database, at path: String, boot: String) throws {
        guard case .broken = log, try !Life(database, path: path).ending(log, boot: boot).mayLackRecords else { return }
        throw JournalError(
            .damaged,
            reason:
                "\(path)-wal is damaged, and what was committed behind the damage would be lost: restore a backup, or move the "
                + "directory away to begin anew")
    }

    /// - Throws: `JournalError` if the file belongs to another application or has an unknown form.
    static func checkForm(of database: Database, at path: String) throws {
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let form = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard application == applicationID else {
            throw JournalError(.unknownForm, reason: "\(path) is no journal of arbiterd: choose another --data")
        }
        guard form > 0 else { throw JournalError(damage: "its form is said to be \(form)", in: path) }
        guard form <= self.form else {
            throw JournalError(newer: "form \(form), known here are 1 to \(self.form)", in: path)
        }
    }

    /// Marks the journal as open in the database itself, so that a loss of the write-ahead log will be noticed.
    ///
    /// If records may be missing, the rest of the row stays as it is until the first batch, which makes up for them, is
    /// committed.
    func noteOpening() throws(JournalError) {
        let keepsLife = ending.mayLackRecords || state.withLock { $0.isTorn }
        try write { database in
            if keepsLife {
                try database.execute(sql: "UPDATE life SET closed = 0")
            } else {
                try self.noteLife(in: database)
            }
        }
        do {
            // Not TRUNCATE, because an empty log counts as lost.
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Writes everything to the database file, marks the journal as closed and closes the database.
    ///
    /// If the mark cannot be written, the write-ahead log is kept, because its absence would count as a loss.
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

    /// Sets whether the write-ahead log stays when the last connection to the database is closed.
    ///
    /// SQLite deletes it by its name, even if another file has that name by then
    /// (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
    private static func keepLog(_ keeps: Bool, of database: Database) throws {
        var flag: CInt = keeps ? 1 : 0
        let status = unsafe sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }
}

/// The row that the last writer left about itself.
struct Life {
    let boot: String
    let durability: SQLiteJournal.Durability
    let isClosed: Bool

    /// - Throws: `JournalError` if the row contains unexpected values.
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

    /// Replaces the boot id once it is known that records are missing because the machine died.
    static let torn = "machine died"
    /// Replaces the boot id in a copy, behind which records may be missing; in journals of before, in one that is torn too.
    static let copied = "torn"

    /// True if the log is missing although the writer was killed, which leaves its log behind.
    func lacksLog(_ log: WriteAheadLog.State) -> Bool {
        !isClosed && log == .missing && boot != Self.torn && boot != Self.copied
    }
}

extension Life? {
    /// How the last writer stopped, according to the row and to the write-ahead log.
    ///
    /// Records may be missing if the machine died while a process wrote without waiting for the disk, or in the middle
    /// of the last commit, or if the write-ahead log is gone.
    func ending(_ log: WriteAheadLog.State, boot: String) -> JournalContents.Ending {
        // Only the last commit is incomplete, so it was never reported. It may be the first commit of a process, too.
        let lacksCommit = log == .broken(commits: 1)
        guard let self else { return lacksCommit ? .incomplete : .killed }
        if self.lacksLog(log) { return .incomplete }
        let mayLack = self.durability == .crash || self.boot == Life.torn
        if self.boot != boot, lacksCommit || !self.isClosed && mayLack {
            if self.boot == Life.copied { return .incomplete }
            return self.durability == .power ? .commitCutShort : .machineDied
        }
        return self.isClosed && log == .missing ? .closed : .killed
    }
}

extension JournalError {
    /// Translates an error of SQLite into what is wrong and what to do.
    init(_ error: any Error, path: String) {
        if let error = error as? JournalError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(reason: "\(path): \(error)")
            return
        }
        // An error of sqlite3_backup leaves no message.
        let said = error.message.flatMap { $0 == "not an error" ? nil : $0 } ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(reason: "\(path) cannot grow (\(said)): make room on its disk")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            self.init(
                reason:
                    "\(path) cannot be opened or written (\(said)): check its owner, its mode and how its disk is mounted"
            )
        // The statements are constant, so these errors can only come from a damaged journal.
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
