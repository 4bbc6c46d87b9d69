internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import Logging

// Reads a journal.

extension SQLiteJournal {
    package func contents() throws(JournalError) -> JournalContents { try replayedContents() }

    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        do {
            var (snapshot, snapshotBytes, bytes): (UInt64, Int, Int) = (0, 0, 0)
            let found = try database.read { database in
                try Self.checkPages(of: database, at: path)
                return try Self.read(database, path: path) { newest in
                    (snapshot, snapshotBytes) = (newest?.sequence ?? 0, newest?.state.count ?? 0)
                    try begin(newest)
                } _: { records, count in
                    bytes += count
                    try take(records)
                }
            }
            if let torn = found.torn { try cutOff(torn) }
            state.withLock { [snapshot, snapshotBytes, bytes] state in
                (state.snapshot, state.superfluous, state.snapshotBytes) = (snapshot, snapshot, snapshotBytes)
                state.isTorn = found.torn != nil
                (state.last, state.bytes) = (found.last, bytes)
            }
            // The torn batch was committed once, and its answers may have been sent.
            return found.torn == nil ? ending : ending.isOfMachine ? .machineDied : .incomplete
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// What is in a database besides its snapshot and its records.
    struct Found {
        /// The last record, or the last in the snapshot if there are no records after it.
        var last: UInt64 = 0
        /// The last batch, if its bytes are not those that were written.
        var torn: RecordBatch?
        /// The number of batches that earlier starts have cut off.
        var tornBefore = 0
    }

    /// Checks that every page is in use and that the rows are in order and of their types.
    ///
    /// This also finds rows that a damaged page no longer counts, which would otherwise just be missing.
    ///
    /// - Throws: `JournalError` if the check fails.
    static func checkPages(of database: Database, at path: String) throws {
        let complaint = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard complaint == "ok" else { throw JournalError(damage: complaint ?? "no page can be read", in: path) }
    }

    /// Reads the newest snapshot and every batch after it, up to a sequence number.
    ///
    /// - Parameters:
    ///   - database: the database to read.
    ///   - path: the database's path, for errors.
    ///   - limit: the last sequence number to read.
    ///   - begin: called once, with the snapshot.
    ///   - take: called with the records of each batch, and its size in bytes.
    /// - Returns: what was found besides the snapshot and the records.
    /// - Throws: `JournalError` if a batch is missing, or if any but the last differs from what was written.
    static func read(
        _ database: Database, path: String, through limit: UInt64 = .max, _ begin: (JournalSnapshot?) throws -> Void,
        _ take: ([JournalEntry], Int) throws -> Void
    ) throws -> Found {
        var found = Found()
        do {
            // In a scope of its own, so that the snapshot, which may be as large as the state, is freed before the
            // records are read.
            let snapshot = try newestSnapshot(database, path: path)
            found.last = snapshot?.sequence ?? 0
            try begin(snapshot)
        }
        found.tornBefore = try Int.fetchOne(database, sql: "SELECT count(*) FROM torn") ?? 0
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT first, last, records, checksum FROM batch WHERE last > ? AND last <= ? ORDER BY last",
            arguments: [Int64(found.last), Int64(clamping: limit)])
        while let row = try rows.next() {
            guard found.torn == nil else { throw damaged(path, after: found.last) }
            let batch = try RecordBatch(row, of: path)
            guard let records = try batch.records(of: path) else {
                found.torn = batch
                continue
            }
            guard batch.first == found.last + 1 else { throw damaged(path, after: found.last) }
            try take(records, batch.bytes.count)
            found.last = batch.last
        }
        return found
    }

    private static func newestSnapshot(_ database: Database, path: String) throws -> JournalSnapshot? {
        // A row of a cursor is not copied.
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT sequence, moment, state, typeof(state) AS type, checksum FROM snapshot
                ORDER BY sequence DESC LIMIT 1
                """)
        guard let row = try rows.next() else { return nil }
        let sequence = UInt64(clamping: try row.number("sequence", of: path))
        var reader = BinaryReader(try row.bytes("moment", of: path))
        if let moment = try? reader.read(Moment.self), try row.text("type", of: path) == "blob" {
            let state = try row.withUnsafeData(named: "state") { $0.map { [UInt8]($0) } ?? [] }
            let snapshot = JournalSnapshot(sequence: sequence, moment: moment, state: state)
            let checksum = try row.number("checksum", of: path)
            // In form 1, the checksum covers the state alone.
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

    /// Moves the torn last batch to the table `torn`, where a person can examine it.
    private func cutOff(_ torn: RecordBatch) throws(JournalError) {
        logger.warning(
            "the end of the journal is torn and is cut off",
            metadata: ["first": "\(torn.first)", "last": "\(torn.last)", "journal": "\(path)"])
        try write { database in
            try database.execute(
                sql: "INSERT INTO torn SELECT last, first, records, checksum FROM batch WHERE last = ?",
                arguments: [Int64(torn.last)])
            try database.execute(sql: "DELETE FROM batch WHERE last = ?", arguments: [Int64(torn.last)])
            try database.execute(sql: Self.note(ending.isOfMachine ? Life.torn : Life.copied))
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
    /// CRC-32 of the whole snapshot, with bit 32 set to distinguish it from the checksum of form 1.
    var checksum: Int64 {
        var writer = BinaryWriter()
        writer.write(sequence)
        return 1 << 32 | Int64(Checksum.crc32(writer.bytes, encodedMoment, state))
    }

    var encodedMoment: [UInt8] {
        var writer = BinaryWriter()
        writer.write(moment)
        return writer.bytes
    }
}
