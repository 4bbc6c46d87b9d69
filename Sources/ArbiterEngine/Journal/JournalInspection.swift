package import ArbiterCore
internal import Foundation
internal import GRDB

/// A journal as shown to a person; reading it changes nothing and works while a daemon writes it.
package struct JournalInspection: Sendable {
    package let path: String
    /// The size of the file, in bytes.
    package let size: Int
    package let form: Int32
    package let durability: String
    /// Whether its last writer closed it.
    package let isClosed: Bool
    package let snapshot: JournalSnapshot?
    /// All records after the snapshot that can be read.
    package let records: [JournalEntry]
    /// Whether the last batch differs from what was written; a start would cut it off.
    package let isTorn: Bool
    /// The number of batches that earlier starts have cut off.
    package let tornBefore: Int
    /// Whether the journal was not closed and its write-ahead log is gone, with the records in it.
    package let lacksLog: Bool

    /// Reads the journal in a directory.
    ///
    /// - Throws: `JournalError` if there is no journal, or if it is damaged.
    package init(directory: String) throws(JournalError) {
        try self.init(path: TrustedPath.resolve(SQLiteJournal.path(in: directory)))
    }

    /// Reads the journal in a file.
    ///
    /// - Throws: `JournalError` if there is no journal, or if it is damaged.
    init(path: String) throws(JournalError) {
        self.path = path
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
            throw JournalError(reason: "there is no journal at \(path): name its directory with --data")
        }
        self.size = size
        guard size > 0 else { throw SQLiteJournal.emptied(path) }
        // A log that a daemon writes now, or has begun to write meanwhile, cannot be checked from outside.
        var isTaken = JournalFile.isTaken(path)
        var log = isTaken ? .sound : try WriteAheadLog.state(beside: path)
        isTaken = isTaken || JournalFile.isTaken(path)
        if isTaken { log = .sound }
        do {
            let database = try DatabaseQueue(path: path, configuration: SQLiteJournal.configuration(readOnly: true))
            let (found, contents, form, life) = try database.read { database in
                try SQLiteJournal.checkForm(of: database, at: path)
                try SQLiteJournal.check(log, of: database, at: path, boot: SQLiteJournal.currentBoot() ?? "unknown")
                try SQLiteJournal.checkPages(of: database, at: path)
                var contents: (snapshot: JournalSnapshot?, records: [JournalEntry]) = (nil, [])
                let found = try SQLiteJournal.read(database, path: path) {
                    contents.snapshot = $0
                } _: { records, _ in
                    contents.records += records
                }
                return (
                    found, contents,
                    try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                    try Life(database, path: path)
                )
            }
            try database.close()
            self.form = form
            durability = life?.durability.rawValue ?? "unknown"
            isClosed = (life?.isClosed ?? false) && !isTaken && !JournalFile.isTaken(path)
            lacksLog = life?.lacksLog(log) ?? false
            snapshot = contents.snapshot
            records = contents.records
            isTorn = found.torn != nil
            tornBefore = found.tornBefore
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// The state machine after a replay of the journal.
    ///
    /// - Throws: `JournalError` if the journal contradicts itself.
    package func replayed() throws(JournalError) -> ArbiterStateMachine {
        var replay = JournalReplay()
        try replay.begin(snapshot)
        try replay.take(records)
        return replay.finished()
    }
}
