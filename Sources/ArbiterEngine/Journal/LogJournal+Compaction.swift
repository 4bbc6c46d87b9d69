internal import ArbiterCore
internal import CLinux
internal import Dispatch
internal import Logging

// Keeps the files bounded: a snapshot replaces the logs before it.

extension LogJournal {
    /// Makes a snapshot if enough records, enough bytes of records or enough logs have gathered, and none is being made.
    ///
    /// If the last snapshot is larger than `bytesBetweenSnapshots`, as many bytes as it has must gather.
    func compactIfDue() {
        let isDue = state.withLock { state in
            let isDue =
                state.last >= state.attempt + recordsBetweenSnapshots
                || state.bytes >= max(bytesBetweenSnapshots, state.snapshotBytes)
                || state.needed.logs.count > state.logsAtFailure + Self.mostLogs
            guard isDue, state.last > state.attempt, !state.isCompacting, state.life == .open else { return false }
            state.isCompacting = true
            return true
        }
        if isDue { betweenCommits { self.compact() } }
    }

    /// Begins another log, and has a snapshot made of what is in those before it.
    ///
    /// The snapshot is made by a replay of files that do not change any more, so neither the engine nor the commits wait for
    /// it.
    private func compact() {
        do throws(JournalError) {
            guard let last = try beginNextLog() else { return state.withLock { $0.isCompacting = false } }
            compaction.async { self.replaceLogs(through: last) }
        } catch {
            // The log may lack what has been committed, if the disk refused it.
            if output.withLock({ $0?.isBroken ?? false }) { fail(error) }
            noteFailedCompaction(error)
        }
    }

    /// - Returns: the last record in the logs before the new one; `nil` if the journal is closed.
    private func beginNextLog() throws(JournalError) -> UInt64? {
        guard let old = state.withLock({ $0.life == .open ? $0.header : nil }) else { return nil }
        let (journal, boot, durability) = (old.journal, boot, durability)
        let header = try output.withLock { writer throws(JournalError) -> LogHeader in
            guard var current = writer else { throw Self.vanished(storage) }
            // A copy of the writer: this is rare.
            defer { writer = current }
            try current.finish()
            let header = LogHeader(journal: journal, boot: boot, first: current.last + 1, durability: durability)
            do throws(JournalError) {
                let next = try LogWriter(header, nil, in: storage)
                current.close()
                current = next
            } catch {
                // If it has its name already, a start reads nothing of the old log that comes behind it.
                if (try? LogFiles(in: storage).logs.contains(header.first)) != false { current.giveUp() }
                throw error
            }
            return header
        }
        return state.withLock { state in
            state.header = header
            state.needed.logs.append(header.first)
            (state.attempt, state.bytes) = (header.first - 1, 0)
            return header.first - 1
        }
    }

    /// Replaces all logs up to a record by a snapshot.
    private func replaceLogs(through last: UInt64) {
        do throws(JournalError) {
            guard let journal = state.withLock({ $0.life == .open ? $0.header?.journal : nil }) else {
                return state.withLock { $0.isCompacting = false }
            }
            guard let byteCount = try writeSnapshot(through: last, of: journal) else {
                return state.withLock { $0.isCompacting = false }
            }
            try SnapshotFile.finish(last, in: storage)
            state.withLock { state in
                state.needed.snapshot = last
                state.needed.logs.removeAll { $0 <= last }
                state.snapshotBytes = byteCount
                (state.logsAtFailure, state.isCompacting) = (0, false)
            }
        } catch {
            return noteFailedCompaction(error)
        }
        removeReplaced()
        metrics.compactions.add()
        logger.debug("compacted", metadata: ["sequence": "\(last)"])
        compactIfDue()
    }

    /// The next attempt comes after as many records, or logs, again, because an immediate one would probably fail too.
    private func noteFailedCompaction(_ error: JournalError) {
        metrics.failedCompactions.add()
        logger.error("the journal was not compacted", metadata: ["reason": "\(error.reason)"])
        state.withLock { state in
            state.isCompacting = false
            (state.attempt, state.bytes, state.logsAtFailure) = (state.last, 0, state.needed.logs.count)
        }
    }

    /// Writes a snapshot that no start reads yet, and checks that it can be read.
    ///
    /// Memory holds one other state beside the engine's, and only a piece of the snapshot's bytes at a time.
    ///
    /// - Returns: the bytes of the state in it; `nil` if the journal has failed.
    private func writeSnapshot(through last: UInt64, of journal: UInt128) throws(JournalError) -> Int? {
        // Else glibc keeps the memory for this thread, and the next compaction may run on another one.
        defer { arbiter_return_memory() }
        guard try writeReplayed(through: last, of: journal) else { return nil }
        arbiter_return_memory()
        do throws(JournalError) {
            // The records before it will be deleted, so make sure that the snapshot can be decoded.
            let file = try SnapshotFile(last, in: storage, isFinished: false)
            try file.check()
            guard let machine = try? ArbiterStateMachine(snapshot: file.reader), file.matches(machine) else {
                throw JournalError(reason: "the snapshot up to record \(last) cannot be read back, and is not kept")
            }
            guard mayWrite else {
                SnapshotFile.giveUp(last, in: storage)
                return nil
            }
            return file.byteCount
        } catch {
            SnapshotFile.giveUp(last, in: storage)
            throw error
        }
    }

    /// Whether the files are those of this journal; another one may be in the place of one that was moved away.
    private var mayWrite: Bool { state.withLock { $0.life < .failed } }

    /// Replays the journal, and writes the snapshot; the machine, which is as large as the engine's, is freed before that is read.
    ///
    /// - Returns: false if nothing was written, because the journal has failed.
    private func writeReplayed(through last: UInt64, of journal: UInt128) throws(JournalError) -> Bool {
        var replay = JournalReplay()
        _ = try LogReader(storage, boot: boot).read(through: last) { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        guard replay.sequence == last, let moment = replay.moment else {
            throw JournalError(damage: "the records up to \(last) are missing", in: storage.path)
        }
        let machine = replay.finished()
        guard mayWrite else { return false }
        try SnapshotFile.begin(last, moment, of: journal, in: storage) { machine.snapshot(to: $0) }
        return true
    }

    /// Removes the files that no start needs any more; what cannot be removed is tried again after the next snapshot.
    func removeReplaced() {
        guard let needed = state.withLock({ $0.life < .failed ? $0.needed : nil }) else { return }
        do throws(JournalError) {
            let files = try LogFiles(in: storage)
            for sequence in files.snapshots where sequence < needed.snapshot {
                try storage.remove(LogFormat.snapshot(sequence))
            }
            for first in files.logs where first <= needed.snapshot { try storage.remove(LogFormat.log(first)) }
            for name in files.unfinished.snapshots { try storage.remove(name) }
        } catch {
            logger.error("files of the journal were not removed", metadata: ["reason": "\(error.reason)"])
        }
    }
}
