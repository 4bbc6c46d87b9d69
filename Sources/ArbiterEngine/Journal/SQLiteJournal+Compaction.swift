internal import ArbiterCore
internal import CLinux
internal import Dispatch
internal import GRDB
internal import Logging

// Keeps the file bounded: a snapshot replaces the records before it.

extension SQLiteJournal {
    /// Makes a snapshot of the state after a record, while commits continue.
    ///
    /// The snapshot is made by a replay of the journal on a separate connection, so that neither the engine nor the
    /// commits wait for it. Only storing it takes place between two commits.
    func compact(through sequence: UInt64) {
        let bytes = state.withLock { state in
            state.isCompacting = true
            return state.bytes
        }
        compaction.async {
            do throws(JournalError) {
                if !self.state.withLock({ $0.isClosed }) {
                    self.takeIn(try self.replayed(through: sequence), for: bytes)
                }
            } catch {
                self.metrics.failedCompactions.add()
                self.logger.error("the journal was not compacted", metadata: ["reason": "\(error.reason)"])
                // The next attempt comes after as many records again, because an immediate one would probably fail too.
                self.state.withLock { state in
                    state.isCompacting = false
                    state.snapshot = sequence
                    state.bytes -= bytes
                }
            }
        }
    }

    private func replayed(through sequence: UInt64) throws(JournalError) -> JournalSnapshot {
        do {
            let snapshot = try encoded(through: sequence)
            // Else glibc keeps the memory for this thread, and the next compaction may run on another one.
            defer { arbiter_return_memory() }
            arbiter_return_memory()
            // The records before it will be deleted, so make sure that the snapshot can be decoded.
            guard (try? ArbiterStateMachine(snapshot: snapshot.state))?.matches(snapshot.state) == true else {
                throw JournalError(reason: "the snapshot up to record \(sequence) cannot be read back, and is not kept")
            }
            return snapshot
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Replays the journal; the machine, which is as large as the engine's, is freed before the snapshot is used.
    private func encoded(through sequence: UInt64) throws -> JournalSnapshot {
        let reading = try DatabaseQueue(path: path, configuration: Self.configuration(readOnly: true))
        defer { try? reading.close() }
        var replay = JournalReplay()
        _ = try reading.read { database in
            try Self.read(database, path: path, through: sequence) { snapshot in
                try replay.begin(snapshot)
            } _: { records, _ in
                try replay.take(records)
            }
        }
        guard replay.sequence == sequence, let moment = replay.moment else {
            throw JournalError(.damaged, reason: "\(path) lacks the records up to \(sequence)")
        }
        return JournalSnapshot(sequence: sequence, moment: moment, state: replay.finished().snapshot())
    }

    /// Stores a snapshot, and deletes the earlier ones.
    static func insert(_ snapshot: JournalSnapshot, into database: Database) throws {
        try database.insert(snapshot)
        // This may be the first write in a file of an older form.
        try database.execute(sql: "PRAGMA user_version = \(form)")
        try database.execute(sql: "DELETE FROM snapshot WHERE sequence < ?", arguments: [Int64(snapshot.sequence)])
    }

    /// Stores a snapshot that replaces records of this many bytes.
    private func takeIn(_ snapshot: JournalSnapshot, for bytes: Int) {
        betweenCommits {
            do throws(JournalError) {
                try self.write { database in
                    try Self.insert(snapshot, into: database)
                }
                self.metrics.compactions.add()
                self.logger.debug("compacted", metadata: ["sequence": "\(snapshot.sequence)"])
                self.state.withLock { state in
                    state.superfluous = snapshot.sequence
                    state.snapshotBytes = snapshot.state.count
                }
            } catch {
                self.metrics.failedCompactions.add()
                self.logger.error("the journal was not compacted", metadata: ["reason": "\(error.reason)"])
            }
            // After a failure, too: an immediate second attempt would probably fail as well.
            self.state.withLock { state in
                state.isCompacting = false
                state.snapshot = snapshot.sequence
                state.bytes -= bytes
            }
            self.compactIfDue()
        }
    }

    /// Makes a snapshot if enough records, or enough bytes of records, have gathered and no compaction runs.
    ///
    /// If the last snapshot is larger than `bytesBetweenSnapshots`, as many bytes as it has must gather. Also called at
    /// the start, because a daemon that is killed often may never write enough records in one run.
    func compactIfDue() {
        let due = state.withLock { state -> UInt64? in
            let isDue =
                state.last >= state.snapshot + recordsBetweenSnapshots
                || state.bytes >= max(bytesBetweenSnapshots, state.snapshotBytes)
            return isDue && state.last > state.snapshot && !state.isCompacting ? state.last : nil
        }
        if let due { compact(through: due) }
    }

    /// Deletes some of the superfluous batches, if there are any.
    func deleteSuperfluous(in database: Database) throws {
        let superfluous = state.withLock { $0.superfluous }
        guard superfluous > 0 else { return }
        let statement = try database.cachedStatement(
            sql: "DELETE FROM batch WHERE last IN (SELECT last FROM batch WHERE last <= ? ORDER BY last LIMIT ?)")
        try statement.execute(arguments: [Int64(superfluous), Self.batchesDeletedAtOnce])
        if database.changesCount < Self.batchesDeletedAtOnce { state.withLock { $0.superfluous = 0 } }
    }
}
