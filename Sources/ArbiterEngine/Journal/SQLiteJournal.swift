internal import ArbiterCore
internal import Dispatch
internal import GRDB
internal import Glibc
package import Logging

/// A journal in a SQLite database: a snapshot of the state, and the records after it in batches, one for each commit.
///
/// A queue of its own does all the writing: while one group is being committed, the next one gathers. If the journal is
/// idle and its commits do not wait for the disk, the thread that flushes it enters the queue and commits by itself.
package final class SQLiteJournal: Journal {
    /// What a commit survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The death of the process: commits do not wait for the disk (`synchronous=NORMAL`).
        case crash
        /// The death of the machine: every commit waits for the disk (`synchronous=FULL`).
        case power
    }

    /// The most records in one commit, so that no commit takes long.
    static let recordsInBatch = 4096
    /// The most records for which memory is kept between groups.
    private static let recordsKept = 256
    /// The most superfluous batches that one commit deletes, so that no commit takes long.
    static let batchesDeletedAtOnce = 128
    /// The pages that are written before the write-ahead log is copied into the database.
    fileprivate static let pagesBetweenCheckpoints = 1_000
    private static let bytesInPage = 4096
    /// How often the file's place is checked while nothing is committed.
    private static let lookEvery = Duration.milliseconds(500)

    let path: String
    let database: DatabaseQueue
    let logger: Logger
    /// The number of records after which a snapshot is made.
    let recordsBetweenSnapshots: UInt64
    /// The bytes of records after which a snapshot is made, unless the last snapshot is larger.
    let bytesBetweenSnapshots: Int
    let durability: Durability
    /// The id of the machine's current boot.
    let boot: String
    /// How the last writer stopped.
    let ending: JournalContents.Ending

    private let queue = DispatchQueue(label: "arbiter.journal", qos: .userInitiated)
    let compaction = DispatchQueue(label: "arbiter.journal.compaction", qos: .utility)
    let state = Guarded(State())
    /// Has to be released after the database is closed.
    private let file: JournalFile
    private let lock: DirectoryLock

    struct State {
        var pending: [JournalEntry] = []
        /// An empty array, whose memory the next group gets.
        var spare: [JournalEntry] = []
        /// A thread is committing, or about to commit, the pending records.
        var isCommitting = false
        var isClosed = false
        /// A write has failed, and nothing is written any more.
        var hasFailed = false
        /// The database has been closed.
        var isFinished = false
        /// The end was cut off at the start, and possibly nothing has been written since.
        var isTorn = false
        /// The first batch of this process is committed, and the row `life` with it.
        var isAlive = false
        var committed: @Sendable (Result<UInt64, JournalError>) -> Void = { _ in }
        /// The last record that is committed.
        var last: UInt64 = 0
        /// The sequence of the newest snapshot, or of the last attempt at one.
        var snapshot: UInt64 = 0
        /// The size of the newest snapshot, or of the last attempt at one, in bytes.
        var snapshotBytes = 0
        /// The size of the records after it, in bytes.
        var bytes = 0
        /// The last sequence number that the snapshot has made superfluous; 0 once those batches are deleted.
        var superfluous: UInt64 = 0
        var isCompacting = false
        /// A closure waits to run between two commits.
        var isInterrupted = false
        /// A closure runs between two commits.
        var isOccupied = false
        var pace = CommitPace()
        /// An estimate of the pages that the write-ahead log has got since the last checkpoint.
        var pagesInLog = 0

        var isCheckpointDue: Bool { pagesInLog >= SQLiteJournal.pagesBetweenCheckpoints }

        /// Takes over the pending records, to commit them.
        ///
        /// - Returns: false if there are none, or if another thread commits them.
        mutating func beginCommitting() -> Bool {
            guard !pending.isEmpty, !isCommitting else { return false }
            isCommitting = true
            return true
        }
    }

    /// Opens the journal in a directory, or creates one there if `mayBegin` is set.
    ///
    /// - Throws: `JournalError` if another process uses it, if it is damaged or of a newer form, or if it cannot be
    ///   written.
    package init(
        directory: String, durability: Durability, logger: Logger, recordsBetweenSnapshots: UInt64 = 200_000,
        bytesBetweenSnapshots: Int = 64 * 1024 * 1024, mayBegin: Bool = true, boot: String? = nil
    ) throws(JournalError) {
        let directory = try TrustedPath.resolve(directory)
        self.logger = logger
        self.recordsBetweenSnapshots = recordsBetweenSnapshots
        self.bytesBetweenSnapshots = bytesBetweenSnapshots
        self.durability = durability
        self.boot = boot ?? Self.currentBoot()
        let named = Self.path(in: directory)
        if mayBegin { try Self.makeDirectory(directory) }
        if !mayBegin, try Self.isMissing(named) { throw Self.vanished(named) }
        Self.checkWriters(of: directory, logger: logger)
        lock = try DirectoryLock(directory: directory)
        if mayBegin, try Self.isMissing(named) { try Self.make(named, boot: self.boot, durability: durability) }
        path = try TrustedPath.resolve(named)
        file = try JournalFile(path, logger: logger)
        (database, ending) = try Self.open(path, boot: self.boot, logger: logger)
    }

    /// The path of the journal in a directory.
    package static func path(in directory: String) -> String { directory + "/journal.sqlite" }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.committed = committed }
        compactIfDue()
        look()
    }

    package func append(_ entry: JournalEntry) -> Bool {
        _ = gather(entry)
        if state.withLock({ $0.beginCommitting() }) { queue.async { self.commitPending() } }
        return false
    }

    package func gather(_ entry: JournalEntry) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.pending.append(entry) }
        }
        return false
    }

    /// Who commits what has gathered.
    private enum Turn {
        case own
        case queue
        /// A thread that is committing already.
        case another
    }

    package func flush() {
        let turn = state.withLock { state -> Turn in
            guard state.beginCommitting() else { return .another }
            // The queue has nothing else to do, so it can be entered at once.
            let isFree = state.isAlive && !state.isOccupied && !state.isInterrupted && state.superfluous == 0
            return durability == .crash && isFree && state.pace.takesTurn() ? .own : .queue
        }
        switch turn {
        case .own: queue.sync { commitAtOnce() }
        case .queue: queue.async { self.commitPending() }
        case .another: break
        }
    }

    package func close() {
        let isFirst = state.withLock { state in
            defer { (state.isClosed, state.isFinished) = (true, true) }
            return !state.isFinished
        }
        guard isFirst else { return }
        queue.sync { commitPending() }
        // A compaction that has not begun yet sees that the journal is closed; one that runs is awaited.
        compaction.sync {}
        queue.sync {
            // The groups that were interrupted for a compaction.
            commitPending()
            finish()
        }
        file.release()
        lock.release()
    }
}

// MARK: - Committing, on the journal's queue

extension SQLiteJournal {
    private func commitPending() {
        // Other threads may add to a group first, which makes commits fewer and larger. If none is ready, a yield costs
        // nothing.
        sched_yield()
        while let records = nextGroup() {
            state.withLock { $0.pace.noteGroup(of: records.count) }
            guard commit(records) else { return }
            takeBack(records)
            checkpointIfDue()
            // Under continuous load there is always a next group, so the closure that waits would never run.
            if state.withLock({ $0.isInterrupted }) {
                queue.async { self.commitPending() }
                return
            }
            sched_yield()
        }
    }

    /// Commits one group on the thread that flushes; what gathers meanwhile, and a checkpoint, is left to the queue.
    private func commitAtOnce() {
        guard let records = nextGroup(), commit(records) else { return }
        takeBack(records)
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
            // The table's page, and the pages of the records.
            state.pagesInLog += 1 + (batch.bytes.count + Self.bytesInPage - 1) / Self.bytesInPage
            return state.committed
        }
        committed(.success(batch.last))
        compactIfDue()
        return true
    }

    /// Copies the write-ahead log into the database, which waits for the disk.
    ///
    /// SQLite would do that within a commit, and so on the thread of a request.
    private func checkpointIfDue() {
        guard durability == .crash, state.withLock({ $0.isCheckpointDue }) else { return }
        // If it fails, the log still has everything, and the next checkpoint tries again.
        try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
        state.withLock { $0.pagesInLog = 0 }
    }

    /// The pending records, up to the limit of a batch; `nil` if there are none.
    private func nextGroup() -> [JournalEntry]? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isCommitting = false
                return nil
            }
            guard state.pending.count > Self.recordsInBatch else {
                defer { (state.pending, state.spare) = (state.spare, []) }
                return state.pending
            }
            defer { state.pending.removeFirst(Self.recordsInBatch) }
            return Array(state.pending.prefix(Self.recordsInBatch))
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
        logger.critical("the journal cannot be written", metadata: ["reason": "\(error.reason)"])
        let committed = state.withLock { state in
            (state.isClosed, state.hasFailed) = (true, true)
            state.pending = []
            return state.committed
        }
        committed(.failure(error))
    }

    /// Checks at intervals that the files being written are those that a start would find.
    private func look() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.lookEvery.wholeNanoseconds))) { [weak self] in
            guard let self, !state.withLock({ $0.isClosed }) else { return }
            guard file.isInPlace else { return fail(Self.vanished(path)) }
            look()
        }
    }

    private static func vanished(_ path: String) -> JournalError {
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
                try Self.insert(batch, into: database)
                try self.deleteSuperfluous(in: database)
            }
        }
        do {
            try database.writeWithoutTransaction { try Self.insert(batch, into: $0) }
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
