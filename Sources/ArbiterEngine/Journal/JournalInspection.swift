package import ArbiterCore
internal import Foundation
internal import GRDB

/// A journal as a person looks at it, also while a daemon writes it; nothing in it is changed.
package struct JournalInspection: Sendable {
    package let path: String
    /// The size of the file, in bytes.
    package let size: Int
    package let form: Int32
    package let durability: String
    /// Whether whoever wrote it last has closed it.
    package let isClosed: Bool
    package let snapshot: JournalSnapshot?
    /// Everything after the snapshot that can be read.
    package let records: [JournalRecord]
    /// The last batch is not as it was written, and would be cut off.
    package let isTorn: Bool
    /// Batches that were cut off before.
    package let tornBefore: Int

    /// Looks at the journal of a directory.
    ///
    /// - Throws: `JournalError` if there is none, or if it is damaged.
    package init(directory: String) throws(JournalError) {
        let path = SQLiteJournal.path(in: directory)
        self.path = path
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
            throw JournalError(reason: "there is no journal at \(path): name its directory with --data")
        }
        self.size = size
        guard size > 0 else { throw SQLiteJournal.emptied(path) }
        // What a daemon writes, or has begun to write meanwhile, cannot be judged from beside it.
        var log = DirectoryLock.isTaken(directory) ? .sound : try WriteAheadLog.state(beside: path)
        if log != .sound, DirectoryLock.isTaken(directory) { log = .sound }
        do {
            let database = try DatabaseQueue(path: path, configuration: SQLiteJournal.configuration(readOnly: true))
            let (found, form, life) = try database.read { database in
                try SQLiteJournal.checkForm(of: database, at: path)
                try SQLiteJournal.check(log, of: database, at: path, boot: SQLiteJournal.currentBoot())
                let life = try Row.fetchOne(database, sql: "SELECT durability, closed FROM life")
                return (
                    try SQLiteJournal.read(database, path: path),
                    try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                    life.map { ($0["durability"] as String, $0["closed"] as Int == 1) }
                )
            }
            self.form = form
            durability = life?.0 ?? "unknown"
            isClosed = (life?.1 ?? false) && !DirectoryLock.isTaken(directory)
            snapshot = found.snapshot
            records = found.records
            isTorn = found.torn != nil
            tornBefore = found.tornBefore
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// The state that the journal makes.
    ///
    /// - Throws: `JournalError` if it contradicts itself.
    package func replayed() throws(JournalError) -> ArbiterStateMachine {
        try ArbiterStateMachine(replaying: snapshot, records)
    }
}
