internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import Logging

// Reading what is there.

extension SQLiteJournal {
    package func contents() throws(JournalError) -> JournalContents {
        do {
            let found = try database.read { database in
                try Self.checkPages(of: database, at: path)
                return try Self.read(database, path: path)
            }
            if let torn = found.torn { try cutOff(torn) }
            state.withLock { state in
                state.snapshot = found.snapshot?.sequence ?? 0
                state.superfluous = state.snapshot
                state.isTorn = found.torn != nil
                state.last = found.records.last?.sequence ?? state.snapshot
            }
            // What was cut off had been committed once, and perhaps answered.
            return JournalContents(
                snapshot: found.snapshot, records: found.records, ending: found.torn == nil ? ending : .incomplete)
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// What is in a database, whoever has it open.
    struct Found {
        var snapshot: JournalSnapshot?
        var records: [JournalRecord] = []
        /// The last batch, if its bytes are not those that were written.
        var torn: RecordBatch?
        /// Batches that were cut off before.
        var tornBefore = 0
    }

    /// Checks that every page belongs somewhere, and that every row is in its order and of its types.
    ///
    /// Rows that are struck off a page leave no other trace.
    ///
    /// - Throws: `JournalError` if anything is wrong.
    static func checkPages(of database: Database, at path: String) throws {
        let complaint = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard complaint == "ok" else { throw JournalError(damage: complaint ?? "no page can be read", in: path) }
    }

    /// Reads the newest snapshot and every batch after it, up to a sequence.
    ///
    /// - Throws: `JournalError` if anything but the last batch is not as it was written, or is missing.
    static func read(_ database: Database, path: String, through limit: UInt64 = .max) throws -> Found {
        var found = Found()
        found.snapshot = try newestSnapshot(database, path: path)
        found.tornBefore = try Int.fetchOne(database, sql: "SELECT count(*) FROM torn") ?? 0
        var last = found.snapshot?.sequence ?? 0
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT first, last, records, checksum FROM batch WHERE last > ? AND last <= ? ORDER BY last",
            arguments: [Int64(last), Int64(clamping: limit)])
        while let row = try rows.next() {
            guard found.torn == nil else { throw damaged(path, after: last) }
            let batch = try RecordBatch(row, of: path)
            guard let records = batch.records else {
                found.torn = batch
                continue
            }
            guard batch.first == last + 1 else { throw damaged(path, after: last) }
            found.records += records
            last = batch.last
        }
        return found
    }

    private static func newestSnapshot(_ database: Database, path: String) throws -> JournalSnapshot? {
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT sequence, moment, state, checksum FROM snapshot ORDER BY sequence DESC LIMIT 1")
        else { return nil }
        let sequence = UInt64(clamping: try row.number("sequence", of: path))
        var reader = BinaryReader(try row.bytes("moment", of: path))
        if let moment = try? reader.read(Moment.self) {
            let snapshot = JournalSnapshot(
                sequence: sequence, moment: moment, state: try row.bytes("state", of: path))
            let checksum = try row.number("checksum", of: path)
            // The first form's is that of the state alone.
            if checksum == snapshot.checksum || checksum == Int64(Checksum.crc32(snapshot.state)) { return snapshot }
        }
        throw JournalError(damage: "the snapshot at \(sequence) is not what was written", in: path)
    }

    private static func damaged(_ path: String, after sequence: UInt64) -> JournalError {
        JournalError(
            .damaged,
            reason:
                "\(path) is damaged after record \(sequence), and there is more behind it: restore a copy of it, or move "
                + "it away to begin anew")
    }

    /// Takes the torn end out of the journal; it is kept aside, in case somebody wants to look.
    private func cutOff(_ torn: RecordBatch) throws(JournalError) {
        logger.warning(
            "the end of the journal is torn and is cut off",
            metadata: ["first": "\(torn.first)", "last": "\(torn.last)", "journal": "\(path)"])
        try write { database in
            try database.execute(
                sql: "INSERT INTO torn SELECT last, first, records, checksum FROM batch WHERE last = ?",
                arguments: [Int64(torn.last)])
            try database.execute(sql: "DELETE FROM batch WHERE last = ?", arguments: [Int64(torn.last)])
            try database.execute(sql: Self.noteTorn)
        }
    }
}

extension RecordBatch {
    fileprivate init(_ row: Row, of path: String) throws {
        self.init(
            first: UInt64(clamping: try row.number("first", of: path)),
            last: UInt64(clamping: try row.number("last", of: path)), bytes: try row.bytes("records", of: path),
            checksum: UInt32(truncatingIfNeeded: try row.number("checksum", of: path)))
    }
}

extension JournalSnapshot {
    /// CRC-32 of all that is in it, and a mark above that, by which it is told from one of the state alone.
    var checksum: Int64 {
        var writer = BinaryWriter()
        writer.write(sequence)
        writer.write(moment)
        return 1 << 32 | Int64(Checksum.crc32(writer.bytes + state))
    }
}
