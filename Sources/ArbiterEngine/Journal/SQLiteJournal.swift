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
    static let recordsKept = 256
    /// The most superfluous batches that one commit deletes, so that no commit takes long.
    static let batchesDeletedAtOnce = 128
    /// The pages that are written before the write-ahead log is copied into the database.
    static let pagesBetweenCheckpoints = 1_000
    static let bytesInPage = 4096
    /// How often the file's place is checked while nothing is committed.
    static let lookEvery = Duration.milliseconds(500)

    let path: String
    let database: DatabaseQueue
    let logger: Logger
    /// The number of records after which a snapshot is made.
    let recordsBetweenSnapshots: UInt64
    /// The bytes of records after which a snapshot is made, unless the last snapshot is larger.
    let bytesBetweenSnapshots: Int
    let durability: Durability
    let metrics: JournalMetrics
    /// The id of the machine's current boot.
    let boot: String
    /// How the last writer stopped.
    let ending: JournalContents.Ending

    let queue = DispatchQueue(label: "arbiter.journal", qos: .userInitiated)
    let compaction = DispatchQueue(label: "arbiter.journal.compaction", qos: .utility)
    let state = Guarded(State())
    /// Has to be released after the database is closed.
    let file: JournalFile
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
        /// About how many pages the write-ahead log has got since the last checkpoint.
        var pagesInLog = 0

        /// A checkpoint has copied the write-ahead log, so the next commit begins the log again, and waits for the disk.
        var beginsLog = false

        /// Whether a commit has nothing to wait for: the queue does nothing else, and the disk is not waited for.
        var isFree: Bool { isAlive && !isOccupied && !isInterrupted && superfluous == 0 && !beginsLog }

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
        bytesBetweenSnapshots: Int = 64 * 1024 * 1024, mayBegin: Bool = true, boot: String? = nil,
        metrics: JournalMetrics = JournalMetrics()
    ) throws(JournalError) {
        let directory = try TrustedPath.resolve(directory)
        self.logger = logger
        self.recordsBetweenSnapshots = recordsBetweenSnapshots
        self.bytesBetweenSnapshots = bytesBetweenSnapshots
        self.durability = durability
        self.metrics = metrics
        let current = boot ?? Self.currentBoot()
        if current == nil {
            logger.warning("it cannot be read whether the machine has booted since: every kill counts as a power cut")
        }
        self.boot = current ?? "unknown \(UInt64.random(in: .min ... .max))"
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

    package func flush(mayCommit: Bool) {
        let turn = state.withLock { state -> Turn in
            guard state.beginCommitting() else { return .another }
            return mayCommit && durability == .crash && state.isFree && state.pace.takesTurn() ? .own : .queue
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
