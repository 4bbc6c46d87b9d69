internal import ArbiterCore
internal import Dispatch
internal import Foundation
package import Logging

/// A journal in files: a snapshot of the state, and logs with the records after it, in groups, one for each commit.
///
/// One thread at a time commits what has gathered; meanwhile the next group gathers. With durability `crash`, that is the
/// thread of a request if nobody commits already; what waits for the disk is left to a queue.
package final class LogJournal: Journal {
    /// What a commit survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The death of the process: commits do not wait for the disk.
        case crash
        /// The death of the machine: every commit waits for the disk.
        case power
    }

    /// The most records in one commit, so that no commit takes long.
    static let recordsInGroup = 4096
    /// The most records for which memory is kept between groups.
    static let recordsKept = 256
    /// The groups that a thread commits one after the other, so that its other connections do not wait long.
    static let groupsAtOnce = 4
    /// The most logs that a start should have to read; each process begins one.
    static let mostLogs = 32

    let storage: any JournalStorage
    let logger: Logger
    /// The number of records after which a snapshot is made.
    let recordsBetweenSnapshots: UInt64
    /// The bytes of records after which a snapshot is made, unless the last snapshot is larger.
    let bytesBetweenSnapshots: Int
    let durability: Durability
    /// How often the files are looked for while nothing is committed; `nil` for never.
    let lookEvery: Duration?
    let metrics: JournalMetrics
    /// The current boot of the machine.
    let boot: UInt128

    let queue = DispatchQueue(label: "arbiter.journal", qos: .userInitiated)
    let compaction = DispatchQueue(label: "arbiter.journal.compaction", qos: .utility)
    /// What only the queue of compactions has.
    private static let mark = DispatchSpecificKey<Bool>()
    let state = Guarded(State())
    /// What is appended to; only who has set `isCommitting` uses it.
    let output = Guarded(LogWriter?.none)
    private let lock: DirectoryLock?

    struct State {
        var pending: [JournalEntry] = []
        /// An empty array, whose memory the next group gets.
        var spare: [JournalEntry] = []
        /// A thread commits the pending records, or is about to.
        var isCommitting = false
        /// What the queue does before the next commit.
        var tasks: [@Sendable () -> Void] = []
        var life = JournalLife.open
        /// What was found in the files; `nil` until they have been read.
        var found: LogReader.Found?
        /// The header of the log that this process writes; `nil` until its first group is committed.
        var header: LogHeader?
        var committed: @Sendable (Result<UInt64, JournalError>) -> Void = { _ in }
        /// The last record that is committed.
        var last: UInt64 = 0
        /// The files that a start needs.
        var needed = NeededFiles()
        /// The last record at the last attempt to make a snapshot.
        var attempt: UInt64 = 0
        /// How many logs there were when a snapshot could not be made; 0 if none was tried since the last one.
        var logsAtFailure = 0
        /// The size of the newest snapshot, in bytes.
        var snapshotBytes = 0
        /// The size of the records after the last attempt at a snapshot, in bytes.
        var bytes = 0
        var isCompacting = false

        /// Whether a thread of a request may commit: there is nothing that waits for the disk.
        var isFree: Bool { header != nil && tasks.isEmpty }

        /// Takes over the pending records, to commit them.
        ///
        /// - Returns: false if there are none, or if another thread commits them.
        mutating func beginCommitting() -> Bool {
            guard !pending.isEmpty, !isCommitting else { return false }
            isCommitting = true
            return true
        }
    }

    /// The files that a start needs.
    struct NeededFiles: Hashable {
        /// The last record in the snapshot; 0 if there is none.
        var snapshot: UInt64 = 0
        /// The first records of the logs behind it.
        var logs: [UInt64] = []
    }

    /// Opens the journal in a directory, or creates one there if `mayBegin` is set.
    ///
    /// Its contents are not changed before the first commit, so that a journal which turns out to be damaged stays as it
    /// was found.
    ///
    /// - Throws: `JournalError` if another process uses it, or if it cannot be written.
    package convenience init(
        directory: String, durability: Durability, logger: Logger, recordsBetweenSnapshots: UInt64 = 200_000,
        bytesBetweenSnapshots: Int = 64 * 1024 * 1024, mayBegin: Bool = true, boot: UInt128? = nil,
        metrics: JournalMetrics = JournalMetrics()
    ) throws(JournalError) {
        let directory = try TrustedPath.resolve(directory)
        let current = boot ?? MachineBoot.current()
        if current == nil {
            logger.warning("it cannot be read whether the machine has booted since: every kill counts as a power cut")
        }
        if mayBegin { try DirectoryStorage.makeDirectory(directory) }
        let storage = DirectoryStorage(directory, logger: logger)
        if !mayBegin, try LogFiles(in: storage).isEmpty { throw Self.vanished(storage) }
        DirectoryStorage.checkWriters(of: directory, logger: logger)
        let lock = try DirectoryLock(directory: directory)
        try JournalMaintenance.checkIsNotUnfinished(storage)
        try self.init(
            storage, locked: lock, durability: durability, logger: logger,
            recordsBetweenSnapshots: recordsBetweenSnapshots, bytesBetweenSnapshots: bytesBetweenSnapshots,
            mayBegin: mayBegin, boot: current ?? .random(in: .min ... .max), metrics: metrics)
    }

    /// Opens the journal in a directory that no other process uses.
    ///
    /// - Throws: `JournalError` if there is none and none may begin, or if none can be created.
    package init(
        _ storage: any JournalStorage, locked lock: consuming DirectoryLock? = nil, durability: Durability,
        logger: Logger,
        recordsBetweenSnapshots: UInt64 = 200_000, bytesBetweenSnapshots: Int = 64 * 1024 * 1024, mayBegin: Bool = true,
        boot: UInt128, lookEvery: Duration? = .milliseconds(500), metrics: JournalMetrics = JournalMetrics()
    ) throws(JournalError) {
        self.storage = storage
        self.lock = lock
        self.durability = durability
        self.logger = logger
        self.recordsBetweenSnapshots = recordsBetweenSnapshots
        self.bytesBetweenSnapshots = bytesBetweenSnapshots
        self.boot = boot
        self.lookEvery = lookEvery
        self.metrics = metrics
        compaction.setSpecific(key: Self.mark, value: true)
        guard try LogFiles(in: storage).isEmpty else { return }
        guard mayBegin else { throw Self.vanished(storage) }
        let header = LogHeader(
            journal: .random(in: 1 ... .max), boot: boot, first: 1, durability: durability)
        // It stays open, and so locked, until this process begins a log of its own.
        let writer = try LogWriter(header, [], in: storage)
        output.withLock { $0 = writer }
    }

    package func contents() throws(JournalError) -> JournalContents { try replayedContents() }

    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let reader = try LogReader(storage, boot: boot)
        let found = try reader.read({ file throws(JournalError) in try begin(file?.read()) }, take)
        let ending = found.ending(in: boot)
        if found.header == nil {
            logger.warning(
                "the newest log of the journal is missing; the last records may be lost",
                metadata: ["journal": "\(storage.path)"])
        }
        state.withLock { state in
            state.found = found
            state.last = found.last
            (state.attempt, state.snapshotBytes, state.bytes) = (found.snapshot, found.snapshotBytes, found.bytes)
            state.needed = NeededFiles(
                snapshot: found.snapshot, logs: reader.files.logs.filter { $0 > found.snapshot })
        }
        return ending
    }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.committed = committed }
        lookLater()
    }

    package func append(_ entry: JournalEntry) -> Bool {
        state.withLock { state in
            if state.life == .open { state.pending.append(entry) }
        }
        return false
    }

    package var ownership: (any Ownership)? { nil }

    package func flush(mayCommit: Bool) {
        let isOwn = state.withLock { state -> Bool? in
            guard state.beginCommitting() else { return nil }
            return mayCommit && durability == .crash && state.isFree
        }
        switch isOwn {
        case true?: commitAtOnce()
        case false?: queue.async { self.commitPending() }
        case nil: break
        }
    }

    package func close() {
        _ = state.withLock { $0.life.advance(to: .closed) }
        // A compaction that has not begun yet sees that the journal is closed; one that runs is awaited.
        betweenCommitsAndWait {}
        compaction.sync {}
        betweenCommitsAndWait { self.finish() }
        lock?.release()
    }

    /// Waits until nothing is committed any more; for simulations.
    ///
    /// - Parameter compactionToo: whether to wait until nothing is compacted any more either.
    package func settle(compactionToo: Bool = true) {
        repeat {
            queue.sync {}
            if compactionToo { compaction.sync {} }
        } while state.withLock { $0.isCommitting || (compactionToo && $0.isCompacting) }
    }

    /// Whether the calling thread compacts; for simulations.
    package static var isCompacting: Bool { DispatchQueue.getSpecific(key: mark) == true }

    static func vanished(_ storage: any JournalStorage) -> JournalError {
        JournalError(
            .vanished,
            reason:
                "the journal in \(storage.path), or a file of it, has been moved, deleted, replaced or changed: put it "
                + "back as it was, or start again without it")
    }
}

/// The boot of the machine.
enum MachineBoot {
    /// The id of the current one, which the kernel draws at random; `nil` where it cannot be read, as in a sandbox.
    static func current() -> UInt128? {
        guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
            return nil
        }
        return UInt128(text.filter(\.isHexDigit), radix: 16)
    }
}
