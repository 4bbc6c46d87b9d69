internal import ArbiterCore
internal import Dispatch
internal import GRDB
internal import Glibc
internal import Logging

// Commits groups of records, on the journal's queue.

extension SQLiteJournal {
    func commitPending() {
        letOthersJoin()
        while let records = nextGroup() {
            guard commit(records) else { return }
            takeBack(records)
            checkpointIfDue()
            // Under continuous load there is always a next group, so the closure that waits would never run.
            if state.withLock({ $0.isInterrupted }) {
                queue.async { self.commitPending() }
                return
            }
            letOthersJoin()
        }
    }

    /// Under load, lets other threads add to the next group, which makes commits fewer and larger.
    ///
    /// If none is ready, a yield costs nothing. Without load, the queue would go on until the next request of the only
    /// client is there, and that client's thread could not commit by itself.
    private func letOthersJoin() {
        if state.withLock({ $0.pace.isCrowded }) { sched_yield() }
    }

    /// Commits on the thread that flushes; under load, what gathers meanwhile is left to the queue, as a checkpoint is.
    func commitAtOnce() {
        for _ in 0..<CommitPace.groupsAtOnce {
            guard let records = nextGroup(), commit(records) else { return }
            takeBack(records)
            if state.withLock({ $0.isCheckpointDue || $0.pace.isCrowded }) { break }
        }
        let isDone = state.withLock { state in
            guard state.pending.isEmpty, !state.isCheckpointDue else { return false }
            state.isCommitting = false
            return true
        }
        guard !isDone else { return }
        queue.async {
            self.checkpointIfDue()
            self.commitPending()
        }
    }

    /// - Returns: false if the journal has failed.
    private func commit(_ records: [JournalEntry]) -> Bool {
        let batch = RecordBatch(records)
        let isFirst = state.withLock { !$0.isAlive }
        let begun = ContinuousClock.now
        do throws(JournalError) {
            if isFirst { try noteOpening() }
            try commit(batch, isFirst: isFirst)
            if isFirst {
                state.withLock { $0.isAlive = true }
                file.noteLog()
                try relaxWaiting()
            }
            guard file.isInPlace else { throw Self.vanished(path) }
        } catch {
            fail(error)
            return false
        }
        let committed = state.withLock { state in
            state.last = batch.last
            state.bytes += batch.bytes.count
            state.pace.noteCommit(followedBy: state.pending.count)
            state.beginsLog = false
            // The page of the table, in which small records are, and the pages of large ones.
            state.pagesInLog += 1 + batch.bytes.count / Self.bytesInPage
            return state.committed
        }
        metrics.commits.observe(begun.duration(to: .now))
        metrics.groups.observe(records.count)
        metrics.bytes.add(batch.bytes.count)
        committed(.success(batch.last))
        compactIfDue()
        return true
    }

    /// Copies the write-ahead log into the database, which waits for the disk.
    ///
    /// SQLite would do that within a commit, and so on the thread of a request. If a reader or a failure prevents it, the
    /// log still has everything, and grows until the next checkpoint.
    private func checkpointIfDue() {
        guard durability == .crash, state.withLock({ $0.isCheckpointDue }) else { return }
        try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
        state.withLock { ($0.pagesInLog, $0.beginsLog) = (0, true) }
    }

    /// The pending records, up to the limit of a batch or a change of the rules; `nil` if there are none.
    private func nextGroup() -> [JournalEntry]? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isCommitting = false
                return nil
            }
            let count = min(Self.recordsInBatch, RecordBatch.lengthUnderSameRules(state.pending))
            guard count < state.pending.count else {
                defer { (state.pending, state.spare) = (state.spare, []) }
                return state.pending
            }
            defer { state.pending.removeFirst(count) }
            return Array(state.pending.prefix(count))
        }
    }

    /// Keeps the memory of a group that is committed, unless it is large.
    private func takeBack(_ records: consuming [JournalEntry]) {
        guard records.capacity <= Self.recordsKept else { return }
        records.removeAll(keepingCapacity: true)
        let emptied = records
        state.withLock { $0.spare = emptied }
    }

    /// Stops after a failed write: the pending records are dropped, and nothing is committed any more.
    private func fail(_ error: JournalError) {
        metrics.failures.add()
        logger.critical("the journal cannot be written", metadata: ["reason": "\(error.reason)"])
        let committed = state.withLock { state in
            (state.isClosed, state.hasFailed) = (true, true)
            state.pending = []
            return state.committed
        }
        committed(.failure(error))
    }

    /// Checks at intervals that the files being written are those that a start would find.
    func look() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.lookEvery.wholeNanoseconds))) { [weak self] in
            guard let self, !state.withLock({ $0.isClosed }) else { return }
            guard file.isInPlace else { return fail(Self.vanished(path)) }
            look()
        }
    }

    static func vanished(_ path: String) -> JournalError {
        JournalError(
            .vanished,
            reason:
                "\(path), or the write-ahead log beside it, has been moved, deleted or replaced: put it back as it was, "
                + "or start again without it")
    }

    /// A single insertion is a transaction by itself; an explicit one is needed only if there is more to write.
    private func commit(_ batch: RecordBatch, isFirst: Bool) throws(JournalError) {
        guard !isFirst, state.withLock({ $0.superfluous }) == 0 else {
            return try write { database in
                if isFirst { try self.noteLife(in: database) }
                try database.insert(batch)
                try self.deleteSuperfluous(in: database)
            }
        }
        do {
            try database.writeWithoutTransaction { try $0.insert(batch) }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Runs the body in a transaction.
    func write(_ body: (Database) throws -> Void) throws(JournalError) {
        do {
            try database.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    try body(database)
                    return .commit
                }
            }
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// Runs the body on the journal's queue, between two commits.
    func betweenCommits(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.isInterrupted = true }
        queue.async {
            self.state.withLock { ($0.isInterrupted, $0.isOccupied) = (false, true) }
            body()
            self.state.withLock { $0.isOccupied = false }
        }
    }
}
