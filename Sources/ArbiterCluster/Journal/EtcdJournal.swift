package import ArbiterCore
package import ArbiterEngine
package import Logging

/// The journal of a shard in etcd: a snapshot of the state, and the records after it in groups, one for each commit.
///
/// One commit is on its way at a time, while the next group gathers. A commit is a transaction that holds only while the
/// owner's key is that of this tenure, and while the last record in etcd is the one before the group. So nothing is committed
/// twice, out of order or after the tenure, however late or often a transaction arrives.
package final class EtcdJournal: Journal {
    /// The most bytes of a group of records, unless it is a single record.
    static let bytesInGroup = 512 << 10
    /// The most bytes of the record of a declaration; etcd takes 1.5 MiB in one request (`--max-request-bytes`).
    package static let bytesInRecord = 1 << 20
    /// The most records of a group.
    static let recordsInGroup = 4096
    /// The bytes of records after which a snapshot is made, unless the last snapshot is larger.
    package static let bytesBetweenSnapshots = 1 << 20
    /// How long etcd may refuse a commit for want of room before that is reported.
    static let stallPatience = Duration.seconds(1)
    /// How long an answer of etcd is waited for.
    static let patience = Duration.seconds(2)
    /// How long a journal that is closed waits for its last commits.
    package static let closingPatience = Duration.seconds(2)

    let shard: Int
    let keys: ClusterKeys
    let tenure: Tenure
    let etcd: any Etcd
    private let commits: SharedCommits
    private let time: any TimeSource
    let alarm: any Alarm
    let logger: Logger
    let metrics: JournalMetrics
    let bytesBetweenSnapshots: Int
    private let closingPatience: Duration
    let workers: any Workers
    let compaction: any WorkQueue
    let state: Guarded<State>

    struct State {
        var life = JournalLife.open
        var pending: [JournalEntry] = []
        var sending = Sending.nothing
        var committed: @Sendable (Result<UInt64, JournalError>) -> Void = { _ in }
        var whenFailed: @Sendable (JournalError) -> Void = { _ in }
        /// The last record that is committed; 0 if there is none.
        var last: UInt64 = 0
        /// Called when nothing is on its way any more.
        var whenIdle: [@Sendable () -> Void] = []
        /// How far the shard was read before it was owned.
        var ahead: (progress: ShardReader.Progress, beginAgain: @Sendable () -> Void)?
        /// The manifest of the newest snapshot as it is in etcd.
        var manifest: [UInt8]?
        /// The size of the newest snapshot.
        var snapshotBytes = 0
        /// The size of the records after it.
        var bytes = 0
        var isCompacting = false
        /// What is forgotten where the records do not say it.
        var limits: Limits

        /// Whether a record waits to be committed, or is on its way.
        var isBusy: Bool { sending != .nothing || !pending.isEmpty }
    }

    enum Sending {
        case nothing
        /// A group is on its way.
        case underWay
        /// A group is on its way, and it is reported that etcd refuses it.
        case stalled
    }

    /// - Parameters:
    ///   - tenure: the time for which this node owns the shard.
    ///   - keys: where it is.
    ///   - etcd: where it is kept.
    ///   - commits: what sends the commits of all shards of the node; by default this shard's alone.
    ///   - limits: the limits of the shard, which say what is forgotten where the records do not.
    ///   - time: how long commits take.
    ///   - alarm: when it tries again.
    ///   - workers: where it makes snapshots, and how it waits.
    ///   - logger: tells the operator.
    ///   - bytesBetweenSnapshots: the bytes of records after which a snapshot is made.
    ///   - closingPatience: how long it waits for its last commits when it is closed.
    ///   - metrics: what it counts.
    package init(
        tenure: Tenure, keys: ClusterKeys, etcd: any Etcd, commits: SharedCommits? = nil,
        limits: Limits = Limits(), time: any TimeSource = SystemTimeSource(), alarm: any Alarm = SystemAlarm(),
        workers: any Workers = DispatchWorkers(),
        logger: Logger,
        bytesBetweenSnapshots: Int = bytesBetweenSnapshots, closingPatience: Duration = closingPatience,
        metrics: JournalMetrics = JournalMetrics()
    ) {
        shard = tenure.shard
        (self.tenure, self.keys, self.etcd, self.alarm, self.logger) = (tenure, keys, etcd, alarm, logger)
        (self.workers, self.time) = (workers, time)
        compaction = workers.queue("arbiter.etcd.compaction", isUrgent: false)
        self.commits = commits ?? SharedCommits(etcd: etcd)
        state = Guarded(State(limits: limits))
        (self.bytesBetweenSnapshots, self.closingPatience, self.metrics) = (
            bytesBetweenSnapshots, closingPatience, metrics
        )
    }

    package var ownership: (any Ownership)? { tenure }

    /// Has the replay begin where the shard was read to before it was owned.
    ///
    /// - Parameters:
    ///   - progress: how far it was read.
    ///   - beginAgain: called in the replay if a newer snapshot has taken the place of what would follow, so that the replay
    ///     begins with that snapshot, and the events in between are not known.
    package func goOn(after progress: ShardReader.Progress, orElse beginAgain: @escaping @Sendable () -> Void = {}) {
        state.withLock { $0.ahead = (progress, beginAgain) }
    }

    /// Sets the limits of the shard, which are those of the cluster.
    package func use(_ limits: Limits) { state.withLock { $0.limits = limits } }

    package func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {
        state.withLock { $0.committed = committed }
        tenure.whenLost { [weak self] in self?.fail(Self.lost) }
        compactIfDue()
    }

    /// Sets what is called when nothing is committed any more although the tenure lasts.
    func whenFailed(_ body: @escaping @Sendable (JournalError) -> Void) { state.withLock { $0.whenFailed = body } }

    package func append(_ entry: JournalEntry) -> Bool {
        state.withLock { state in
            if state.life == .open { state.pending.append(entry) }
        }
        return false
    }

    package func flush(mayCommit: Bool) { commitNext() }

    package func close() {
        let idle = workers.bell()
        let isBusy = state.withLock { state in
            state.life.advance(to: .closed)
            guard state.life < .failed, state.isBusy else { return false }
            state.whenIdle.append { idle.ring() }
            return true
        }
        if isBusy {
            commitNext()
            alarm.ring(after: closingPatience) { idle.ring() }
            idle.wait()
            if state.withLock({ $0.isBusy }) {
                // The commit on its way may arrive until the tenure ends.
                fail(JournalError(reason: "etcd has not taken the last commits before the journal was closed"))
            }
        }
        // A compaction that runs is awaited; one that has not begun sees that the journal is closed.
        workers.finish(on: compaction)
    }

    /// Why nothing is read, or kept in a snapshot, after the end.
    static let closed = JournalError(.closed, reason: "the journal is closed")

    /// Why nothing is committed after the tenure.
    static let lost = JournalError(
        .notOwner, reason: "this node no longer owns the shard of the scene: ask again", retryAfter: .seconds(1))
}

// MARK: - Committing

extension EtcdJournal {
    /// Sends the next group, unless one is on its way.
    func commitNext() {
        let (group, last, idle) = state.withLock { state -> ([JournalEntry], UInt64, [@Sendable () -> Void]) in
            guard state.sending == .nothing, state.life < .failed else { return ([], 0, []) }
            guard !state.pending.isEmpty else {
                defer { state.whenIdle = [] }
                return ([], 0, state.whenIdle)
            }
            state.sending = .underWay
            let count = min(Self.recordsInGroup, RecordBatch.lengthUnderSameRules(state.pending))
            return (Array(state.pending.prefix(count)), state.last, [])
        }
        for tell in idle { tell() }
        guard !group.isEmpty else { return }
        send(PendingCommit(of: Self.batch(of: group), after: last, in: self))
    }

    /// As many of the records as fit into a group.
    private static func batch(of records: [JournalEntry]) -> RecordBatch {
        var records = records[...]
        while true {
            let batch = RecordBatch(Array(records))
            guard batch.bytes.count > bytesInGroup, records.count > 1 else { return batch }
            records = records.prefix(max(1, records.count / 2))
        }
    }

    /// A commit, whose bytes stay the same however often it is sent.
    struct PendingCommit: Sendable {
        let batch: RecordBatch
        let transaction: EtcdTransaction
        /// What the key of the group holds once it is committed.
        let value: [UInt8]
        let begun: Instant
        /// The pause before it is sent again.
        var pause = Duration.milliseconds(20)

        init(of batch: RecordBatch, after last: UInt64, in journal: EtcdJournal) {
            let (keys, shard) = (journal.keys, journal.shard)
            self.batch = batch
            value = LogValue(batch).bytes
            begun = journal.time.now().instant
            let (head, log) = (keys.head(of: shard), keys.log(of: shard, from: batch.first))
            transaction = EtcdTransaction(
                if: [
                    journal.tenure.condition,
                    last == 0 ? .isAbsent(head) : .holds(head, [UInt8](String(last).utf8)),
                ],
                then: [.put(log, value), .put(head, [UInt8](String(batch.last).utf8))],
                else: [.read(.key(log)), .read(EtcdRange(start: journal.tenure.key, keysOnly: true))])
        }
    }

    /// Sends a commit, and again until it is known what came of it.
    ///
    /// If etcd does not have its records, that proves nothing: an earlier sending may still be on its way. So the
    /// commit is sent again, with the same bytes, until etcd says that it has succeeded, that its records are there
    /// already, or that the shard has another owner.
    private func send(_ commit: PendingCommit) {
        commits.send(commit.transaction, of: commit.value.count, in: tenure) { [self] result, turn in
            switch result {
            case .success(let outcome) where outcome.succeeded: finish(commit, shown: turn)
            case .success(let outcome):
                if outcome.found.first?.keys.first?.value == commit.value {
                    // An earlier sending was carried out. It shows the tenure for the turns before itself only.
                    finish(commit, shown: nil)
                } else if outcome.found.last?.keys.first?.created != tenure.created {
                    tenure.lose()
                    fail(Self.lost)
                } else {
                    fail(
                        JournalError(
                            .damaged,
                            reason:
                                "somebody else has written to \(keys.head(of: shard)): restore a copy of the cluster"))
                }
            case .failure(let error): sendAgain(commit, after: error)
            }
        }
    }

    private func sendAgain(_ commit: PendingCommit, after error: EtcdError) {
        guard !tenure.isOver else {
            tenure.lose()
            return fail(Self.lost)
        }
        guard error.kind != .refused else {
            return fail(JournalError(.refused, reason: "etcd refuses a commit (\(error.reason)); it is given up"))
        }
        if !error.isUncertain, commit.begun.duration(to: time.now().instant) >= Self.stallPatience { stall(error) }
        logger.debug("a commit is sent again", metadata: ["shard": "\(shard)", "reason": "\(error.reason)"])
        var next = commit
        next.pause = min(commit.pause * 2, .milliseconds(500))
        alarm.ring(after: commit.pause) { [self, next] in send(next) }
    }

    /// Reports that etcd refuses commits; they are sent again nevertheless.
    private func stall(_ error: EtcdError) {
        let committed = state.withLock { state -> (@Sendable (Result<UInt64, JournalError>) -> Void)? in
            guard state.sending != .stalled else { return nil }
            state.sending = .stalled
            return state.committed
        }
        guard let committed else { return }
        metrics.failures.add()
        logger.error("etcd refuses commits", metadata: ["shard": "\(shard)", "reason": "\(error.reason)"])
        committed(
            .failure(
                JournalError(
                    .stalled, reason: "etcd refuses commits (\(error.reason)); they go on when it takes them",
                    retryAfter: .seconds(2))))
    }

    private func finish(_ commit: PendingCommit, shown turn: UInt64?) {
        let committed = state.withLock { state -> (@Sendable (Result<UInt64, JournalError>) -> Void)? in
            guard state.life < .failed else { return nil }
            state.last = commit.batch.last
            state.pending.removeFirst(Int(commit.batch.last - commit.batch.first) + 1)
            state.bytes += commit.value.count
            state.sending = .nothing
            return state.committed
        }
        guard let committed else { return }
        metrics.commits.observe(commit.begun.duration(to: time.now().instant))
        metrics.groups.observe(Int(commit.batch.last - commit.batch.first) + 1)
        metrics.bytes.add(commit.value.count)
        // Before the commit is reported, so that what it releases needs no other proof.
        if let turn { tenure.noteShown(turn) }
        committed(.success(commit.batch.last))
        commitNext()
        compactIfDue()
    }

    /// Stops for good.
    func fail(_ error: JournalError) {
        let (committed, whenFailed, idle) = state.withLock {
            state -> (
                (@Sendable (Result<UInt64, JournalError>) -> Void)?, @Sendable (JournalError) -> Void,
                [@Sendable () -> Void]
            ) in
            guard state.life.advance(to: .failed) else { return (nil, { _ in }, []) }
            state.pending = []
            defer { state.whenIdle = [] }
            return (state.committed, state.whenFailed, state.whenIdle)
        }
        for tell in idle { tell() }
        guard let committed else { return }
        committed(.failure(error))
        guard error.kind != .notOwner else { return }
        metrics.failures.add()
        logger.critical("the journal cannot be written", metadata: ["shard": "\(shard)", "reason": "\(error.reason)"])
        whenFailed(error)
    }
}
