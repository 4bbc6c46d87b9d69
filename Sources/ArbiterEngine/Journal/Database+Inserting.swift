internal import GRDB
internal import GRDBSQLite

// Inserts rows without GRDB's arguments, which allocate several times for each commit and copy large values.

extension Database {
    /// Executes an insertion.
    ///
    /// - Parameters:
    ///   - bytes: the value that SQLite reads where it is.
    ///   - sql: the statement; its first parameter is `bytes`.
    ///   - bind: binds the other parameters, and returns the result of each binding.
    /// - Throws: `DatabaseError`.
    func insert(_ bytes: [UInt8], sql: String, _ bind: (OpaquePointer) -> [CInt]) throws {
        let statement = try unsafe cachedStatement(sql: sql).sqliteStatement
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        // The step is taken while the bytes are there.
        let status = unsafe bytes.withUnsafeBytes { bytes in
            let status = unsafe sqlite3_bind_blob64(statement, 1, bytes.baseAddress, UInt64(bytes.count), nil)
            guard status == SQLITE_OK else { return status }
            return unsafe bind(statement).first { $0 != SQLITE_OK } ?? sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw DatabaseError(resultCode: lastErrorCode, message: lastErrorMessage) }
    }

    /// Inserts a batch of records.
    func insert(_ batch: RecordBatch) throws {
        try unsafe insert(batch.bytes, sql: "INSERT INTO batch (records, last, first, checksum) VALUES (?, ?, ?, ?)") {
            unsafe [
                sqlite3_bind_int64($0, 2, Int64(batch.last)), sqlite3_bind_int64($0, 3, Int64(batch.first)),
                sqlite3_bind_int64($0, 4, Int64(batch.checksum)),
            ]
        }
    }

    /// Inserts a snapshot, which may be as large as the state.
    func insert(_ snapshot: JournalSnapshot) throws {
        let moment = snapshot.encodedMoment
        try unsafe moment.withUnsafeBytes { moment in
            try unsafe insert(
                snapshot.state, sql: "INSERT INTO snapshot (state, sequence, moment, checksum) VALUES (?, ?, ?, ?)"
            ) {
                unsafe [
                    sqlite3_bind_int64($0, 2, Int64(snapshot.sequence)),
                    sqlite3_bind_blob64($0, 3, moment.baseAddress, UInt64(moment.count), nil),
                    sqlite3_bind_int64($0, 4, snapshot.checksum),
                ]
            }
        }
    }
}
