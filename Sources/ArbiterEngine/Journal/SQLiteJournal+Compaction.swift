internal import ArbiterCore
internal import Foundation
internal import GRDB
internal import Logging

// Keeping the file bounded: a snapshot takes the place of the records before it.

extension SQLiteJournal {
    /// Makes a snapshot of the state after a record, beside the commits.
    ///
    /// It is made by a replay of the journal itself, on a connection of its own, so that neither the engine nor the commits
    /// wait for it; the commits are only interrupted to take it in.
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
                self.logger.error("the journal was not compacted", metadata: ["reason": "\(error.reason)"])
                // Tried again only after as many records more: whatever is wrong will not be mended by haste.
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
            let machine = replay.finished()
            let state = machine.snapshot()
            // The records are deleted for it, so it has to be known that it can be read.
            guard (try? ArbiterStateMachine(snapshot: state))?.snapshot() == state else {
                throw JournalError(reason: "the snapshot up to record \(sequence) cannot be read back, and is not kept")
            }
            return JournalSnapshot(sequence: sequence, moment: moment, state: state)
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Takes a snapshot in, which replaces records of so many bytes.
    private func takeIn(_ snapshot: JournalSnapshot, for bytes: Int) {
        betweenCommits {
            var moment = BinaryWriter()
            moment.write(snapshot.moment)
            do throws(JournalError) {
                try self.write { database in
                    try database.execute(
                        sql: "INSERT INTO snapshot VALUES (?, ?, ?, ?)",
                        arguments: [
                            Int64(snapshot.sequence), Data(moment.bytes), Data(snapshot.state),
                            snapshot.checksum,
                        ])
                    // Perhaps nothing else has been written yet.
                    try database.execute(sql: "PRAGMA user_version = \(Self.form)")
                    try database.execute(
                        sql: "DELETE FROM snapshot WHERE sequence < ?", arguments: [Int64(snapshot.sequence)])
                }
                self.logger.debug("compacted", metadata: ["sequence": "\(snapshot.sequence)"])
                self.state.withLock { $0.superfluous = snapshot.sequence }
            } catch {
                self.logger.error("the journal was not compacted", metadata: ["reason": "\(error.reason)"])
            }
            self.state.withLock { state in
                state.isCompacting = false
                state.snapshot = snapshot.sequence
                state.snapshotBytes = snapshot.state.count
                state.bytes -= bytes
            }
            self.compactIfDue()
        }
    }

    /// Makes a snapshot if there are enough records for one, or enough bytes in them, and none is being made.
    ///
    /// A snapshot is as large as the state: where that is large, more bytes come before the next one.
    /// Asked at the start too: a daemon that is killed often may never write as many in one life.
    func compactIfDue() {
        let due = state.withLock { state -> UInt64? in
            let isDue =
                state.last >= state.snapshot + recordsBetweenSnapshots
                || state.bytes >= max(bytesBetweenSnapshots, state.snapshotBytes)
            return isDue && state.last > state.snapshot && !state.isCompacting ? state.last : nil
        }
        if let due { compact(through: due) }
    }

    /// Deletes some of the batches that a snapshot has made superfluous, if there are any.
    func deleteSuperfluous(in database: Database) throws {
        let superfluous = state.withLock { $0.superfluous }
        guard superfluous > 0 else { return }
        let statement = try database.cachedStatement(
            sql: "DELETE FROM batch WHERE last IN (SELECT last FROM batch WHERE last <= ? ORDER BY last LIMIT ?)")
        try statement.execute(arguments: [Int64(superfluous), Self.batchesDeletedAtOnce])
        if database.changesCount < Self.batchesDeletedAtOnce { state.withLock { $0.superfluous = 0 } }
    }
}
