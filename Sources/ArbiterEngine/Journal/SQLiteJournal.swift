internal import ArbiterCore
internal import Dispatch
internal import GRDB
internal import Glibc
package import Logging

/// A journal in a SQLite database: the commands in batches, one a group commit, behind a snapshot of the state.
///
/// All writing happens on a queue of its own: while one group is being committed the next one gathers.
package final class SQLiteJournal: Journal {
    /// What a commit survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The death of the process: nothing waits for the disk (`synchronous=NORMAL`).
        case crash
        /// The death of the machine: every commit waits for the disk (`synchronous=FULL`).
        case power
    }

    /// Records in one commit at most, so that none takes long.
    static let recordsInBatch = 4096
    /// Batches that a snapshot made superfluous, deleted with each commit, so that none takes long.
    static let batchesDeletedAtOnce = 128
    /// Between two looks at whether the file is still in its place, while nothing is committed.
    private static let lookEvery = Duration.milliseconds(500)

    let path: String
    let database: DatabaseQueue
    let logger: Logger
    /// Records between two snapshots.
    let recordsBetweenSnapshots: UInt64
    /// Bytes of records between two snapshots, unless the last snapshot is larger.
    let bytesBetweenSnapshots: Int
    let durability: Durability
    /// The run of the machine that this is.
    let boot: String
    /// How the last writer left it.
    let ending: JournalContents.Ending

    private let queue = DispatchQueue(label: "arbiter.journal", qos: .userInitiated)
    let compaction = DispatchQueue(label: "arbiter.journal.compaction", qos: .utility)
    let state = Guarded(State())
    /// To be let go of after the database.
    private let file: JournalFile
    private let lock: DirectoryLock

    struct State {
        var pending: [JournalRecord] = []
        /// A commit of what is pending is under way.
        var isCommitting = false
        var isClosed = false
        /// Nothing could be written any more.
        var hasFailed = false
        /// The database has been closed.
        var isFinished = false
        /// An end was cut off at the start, and perhaps nothing has been written since.
        var isTorn = false
        /// A batch has been committed, and with it the note that somebody writes.
        var isAlive = false
        var committed: @Sendable (Result<UInt64, JournalError>) -> Void = { _ in }
        /// The last record that is committed.
        var last: UInt64 = 0
        /// The sequence of the newest snapshot, or of the last attempt at one.
        var snapshot: UInt64 = 0
        /// The size of the newest snapshot.
        var snapshotBytes = 0
        /// The size of the records behind it.
        var bytes = 0
        /// Up to which sequence batches are still there that the snapshot made superfluous.
        var superfluous: UInt64 = 0
        var isCompacting = false
        /// Something waits for its turn between two commits.
        var isInterrupted = false
    }

    /// Opens the journal of a directory, or begins one there if it may.
    ///
    /// - Throws: `JournalError` if another process uses it, if it is damaged or of another form, or cannot be written.
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

    /// Where the journal of a directory is.
    package static func path(in directory: String) -> String { directory + "/journal.sqlite" }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.committed = committed }
        compactIfDue()
        look()
    }

    package func append(_ record: JournalRecord) -> Bool {
        let isIdle = state.withLock { state in
            guard !state.isClosed else { return false }
            state.pending.append(record)
            defer { state.isCommitting = true }
            return !state.isCommitting
        }
        if isIdle { queue.async { self.commitPending() } }
        return false
    }

    package func close() {
        let isFirst = state.withLock { state in
            defer { (state.isClosed, state.isFinished) = (true, true) }
            return !state.isFinished
        }
        guard isFirst else { return }
        queue.sync { commitPending() }
        // Whatever compaction is under way finds it closed.
        compaction.sync {}
        queue.sync {
            // The last groups, where a compaction came between them.
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
        while let records = nextGroup() {
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
                return
            }
            let committed = state.withLock { state in
                state.last = batch.last
                state.bytes += batch.bytes.count
                return state.committed
            }
            committed(.success(batch.last))
            compactIfDue()
            // Under endless load the next group is always there: what waits would never have its turn.
            if state.withLock({ $0.isInterrupted }) {
                queue.async { self.commitPending() }
                return
            }
        }
    }

    /// What is pending, if anything is.
    private func nextGroup() -> [JournalRecord]? {
        // Whoever is ready to run may add to the group first: fewer, larger commits. Where nobody is, this takes no time.
        sched_yield()
        return state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isCommitting = false
                return nil
            }
            guard state.pending.count > Self.recordsInBatch else {
                defer { state.pending.removeAll(keepingCapacity: true) }
                return state.pending
            }
            defer { state.pending.removeFirst(Self.recordsInBatch) }
            return Array(state.pending.prefix(Self.recordsInBatch))
        }
    }

    /// Gives up: nothing is committed any more, and what is pending never was.
    private func fail(_ error: JournalError) {
        logger.critical("the journal cannot be written", metadata: ["reason": "\(error.reason)"])
        let committed = state.withLock { state in
            (state.isClosed, state.hasFailed) = (true, true)
            state.pending = []
            return state.committed
        }
        committed(.failure(error))
    }

    /// Looks now and then whether what is written is what a start would find.
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

    /// One insertion is a transaction by itself; only where there is more to do, it has to be said.
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

    /// Writes in one transaction of its own.
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

    /// Runs on the queue that commits, between two commits.
    func betweenCommits(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.isInterrupted = true }
        queue.async {
            self.state.withLock { $0.isInterrupted = false }
            body()
        }
    }
}
