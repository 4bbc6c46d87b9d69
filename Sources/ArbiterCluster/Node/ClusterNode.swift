internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// What runs the shards that a node owns.
package protocol ShardHost: AnyObject, Sendable {
    /// Begins to serve a shard; reads its journal, and may take as long as that does.
    ///
    /// Called for several shards at the same time, but not twice for one.
    ///
    /// - Throws: `JournalError` if its journal cannot be read.
    func begin(_ tenure: Tenure, _ journal: EtcdJournal) throws(JournalError)

    /// Stops serving a shard because its tenure has ended; nothing that its clients do may be submitted any more.
    func drop(_ shard: Int)

    /// Stops serving a shard so that another node can go on: answers everyone who waits, and commits everything.
    ///
    /// Called for several shards at the same time.
    func handOver(_ shard: Int)

    /// Takes notice of who owns what.
    func note(_ map: ShardMap)

    /// Takes notice of how much etcd stores, and of what that means.
    func note(_ size: EtcdSize, _ room: EtcdRoom)
}

/// A node of a cluster: keeps its lease, registers itself, claims free shards, and stops serving those that it loses.
///
/// Everything happens on one queue, except that a lost tenure is noticed by what asks etcd.
package final class ClusterNode: Sendable {
    package struct Settings: Sendable {
        /// Where other nodes reach this one; also its name.
        package var address: String
        package var form: ClusterForm
        /// How long its lease lives without a keepalive.
        package var timeToLive: Duration
        package var version: String
        /// The bytes that each member of etcd may store.
        package var quota: Int

        package init(
            address: String, form: ClusterForm, timeToLive: Duration, version: String, quota: Int = 2 << 30
        ) {
            (self.address, self.form, self.timeToLive) = (address, form, timeToLive)
            (self.version, self.quota) = (version, quota)
        }
    }

    /// How long an answer of etcd is waited for.
    static let patience = Duration.seconds(2)
    /// The longest time between two looks at who owns what; changes are usually told by a watch.
    static let lookEvery = Duration.seconds(1)
    /// How many shards are begun or handed over at the same time; most of that is waiting for etcd.
    static let movesAtOnce = 8
    /// How many shards are claimed in one transaction.
    ///
    /// Those are begun before the next ones are claimed.
    static let claimsAtOnce = 32
    /// How long etcd keeps what keys were before.
    static let historyKept = Duration.seconds(30)

    struct State {
        var lease: NodeLease?
        var isRegistered = false
        var tenures: [Int: Tenure] = [:]
        /// The tenures that this node has given up, and whose keys may still be there because etcd did not answer.
        var givenUp: [Int: Tenure] = [:]
        /// What this node waits for before it can serve; `nil` if nothing.
        var waitsFor: String? = "etcd"
        /// The prefixes that are watched.
        var watched: Set<String> = []
        var watches: [String: any EtcdWatch] = [:]
        var isLookDue = false
        var isAlarmSet = false
        var isStopped = false
        /// Whether etcd has answered the last release of a node that stops.
        var isEtcdAnswering = true
        /// The revision to which etcd is compacted next, and when.
        var compaction: (revision: EtcdRevision, due: Instant)?
        /// When etcd is asked again how much it stores; `nil` before it was asked.
        var measurement: Instant?
        var room = EtcdRoom.enough
        var failure: JournalError?
    }

    let settings: Settings
    let keys: ClusterKeys
    let etcd: any Etcd
    let host: any ShardHost
    let rounds: OwnershipRounds
    let time: any TimeSource
    let alarm: any Alarm
    let logger: Logger
    let workers: any Workers
    private let queue: any WorkQueue
    private let movers: [any WorkQueue]
    let state = Guarded(State())
    private let makeJournal: @Sendable (Tenure) -> EtcdJournal
    private let whenFailed: @Sendable (JournalError) -> Void

    /// - Parameters:
    ///   - settings: what the node is.
    ///   - keys: where the cluster is in etcd.
    ///   - etcd: how it is reached.
    ///   - host: what runs the shards.
    ///   - time: the machine's clock.
    ///   - alarm: when it looks again.
    ///   - workers: where everything happens.
    ///   - logger: tells the operator.
    ///   - makeJournal: makes the journal of a shard that the node owns.
    ///   - whenFailed: called once if the node can never serve, as with another number of shards.
    package init(
        _ settings: Settings, keys: ClusterKeys, etcd: any Etcd, host: any ShardHost,
        time: any TimeSource = SystemTimeSource(), alarm: any Alarm = SystemAlarm(),
        workers: any Workers = DispatchWorkers(), logger: Logger,
        makeJournal: @escaping @Sendable (Tenure) -> EtcdJournal,
        whenFailed: @escaping @Sendable (JournalError) -> Void
    ) {
        (self.settings, self.keys, self.etcd, self.host) = (settings, keys, etcd, host)
        (self.time, self.alarm, self.logger) = (time, alarm, logger)
        (self.makeJournal, self.whenFailed) = (makeJournal, whenFailed)
        rounds = OwnershipRounds(etcd: etcd, alarm: alarm)
        self.workers = workers
        queue = workers.queue("arbiter.cluster", isUrgent: true)
        movers = (0..<Self.movesAtOnce).map { _ in workers.queue("arbiter.move", isUrgent: true) }
    }

    /// Begins to take part in the cluster.
    package func start() { look() }

    /// Hands over all shards, and leaves the cluster; returns when that is done.
    package func stop() {
        workers.finish(on: queue) { [self] in
            let (tenures, lease) = state.withLock { state -> ([Tenure], NodeLease?) in
                state.isStopped = true
                for watch in state.watches.values { watch.cancel() }
                return (state.tenures.values.sorted { $0.shard < $1.shard }, state.lease)
            }
            guard let lease else { return }
            // First the registration, so that the other nodes may claim this one's share.
            noteAnswered(unregister(lease))
            forEachAtOnce(tenures) { [self] tenure in
                host.handOver(tenure.shard)
                // Without etcd each would take the whole patience, and the end of the lease releases them all.
                guard state.withLock({ $0.isEtcdAnswering }) else { return tenure.lose() }
                noteAnswered(release(tenure))
            }
            lease.revoke()
        }
    }

    private func noteAnswered(_ isAnswered: Bool) { state.withLock { $0.isEtcdAnswering = isAnswered } }

    /// What the node waits for before it can serve; `nil` if nothing.
    package var waitsFor: String? { state.withLock { $0.waitsFor } }

    // MARK: - On the queue

    /// Looks soon at who owns what.
    func look() {
        let isFirst = state.withLock { state in
            defer { state.isLookDue = true }
            return !state.isLookDue && !state.isStopped
        }
        guard isFirst else { return }
        queue.add { [self] in
            let isStopped = state.withLock { state in
                state.isLookDue = false
                return state.isStopped
            }
            guard !isStopped else { return }
            do throws(EtcdError) {
                try takePart()
            } catch {
                logger.debug("the cluster was not looked at", metadata: ["reason": "\(error.reason)"])
            }
            lookAgain()
        }
    }

    /// Looks again after a while, also if no watch tells of a change.
    private func lookAgain() {
        let isFirst = state.withLock { state in
            defer { state.isAlarmSet = true }
            return !state.isAlarmSet
        }
        guard isFirst else { return }
        alarm.ring(after: Self.lookEvery) { [weak self] in
            self?.state.withLock { $0.isAlarmSet = false }
            self?.look()
        }
    }

    private func takePart() throws(EtcdError) {
        dropWhatIsLost()
        let lease = try leaseInForce()
        let found = try read()
        try agree(on: found)
        try register(lease, found)
        watch()
        host.note(found.map)
        adopt(found, lease)
        try claim(found, lease)
        handOverSurplus(found)
        compactIfDue(found)
        measureIfDue()
    }

    /// What was read at one revision.
    struct Found {
        let form: EtcdKey?
        /// Whether its journal is being copied.
        let isCopied: Bool
        let map: ShardMap
        /// The owners' keys, by their shards.
        let owners: [Int: EtcdKey]
        let revision: EtcdRevision
    }

    private func read() throws(EtcdError) -> Found {
        let outcome = try transact(
            EtcdTransaction(then: [
                .read(.key(keys.form)), .read(.prefix(keys.nodes)), .read(.prefix(keys.owners)),
                .read(EtcdRange(start: keys.copy, keysOnly: true)),
            ]))
        var (map, owners) = (ShardMap(), [Int: EtcdKey]())
        for key in outcome.found[1].keys {
            if let node = NodeRegistration(key.value) { map.nodes[node.address] = node }
        }
        for key in outcome.found[2].keys {
            guard let shard = Int(key.name.dropFirst(keys.owners.count)) else { continue }
            owners[shard] = key
            map.owners[shard] = NodeRegistration(key.value).map { ShardMap.Owner(node: $0, tenure: key.created) }
        }
        return Found(
            form: outcome.found[0].keys.first, isCopied: !outcome.found[3].keys.isEmpty, map: map, owners: owners,
            revision: outcome.revision)
    }

    /// Makes the cluster if there is none yet, and checks that this node fits into it.
    private func agree(on found: Found) throws(EtcdError) {
        guard !found.isCopied else {
            state.withLock { state in
                if !state.isRegistered {
                    state.waitsFor = "the end of a copy of the cluster's journal (key \(keys.copy) in etcd)"
                }
            }
            throw EtcdError(.refused, "the journal of the cluster is being copied")
        }
        guard let key = found.form else {
            _ = try transact(
                EtcdTransaction(
                    if: [.isAbsent(keys.form), .isAbsent(keys.copy)], then: [.put(keys.form, settings.form.bytes)]))
            throw EtcdError(.refused, "the cluster has just been made")
        }
        guard ClusterForm(key.value) == settings.form else {
            let text = String(decoding: key.value, as: UTF8.self)
            let error = JournalError(
                .unknownForm,
                reason: "the cluster at \(keys.prefix) was made with \(text), and this node has "
                    + String(decoding: settings.form.bytes, as: UTF8.self))
            let isFirst = state.withLock { state in
                defer { (state.isStopped, state.failure) = (true, error) }
                return state.failure == nil
            }
            if isFirst { whenFailed(error) }
            throw EtcdError(.refused, error.reason)
        }
    }

    func transact(_ transaction: EtcdTransaction) throws(EtcdError) -> EtcdOutcome {
        try Answer.wait(workers) { etcd.transact(transaction, within: Self.patience, completion: $0) }
    }

    private func watch() {
        for prefix in [keys.owners, keys.nodes] where state.withLock({ $0.watched.insert(prefix).inserted }) {
            let watch = etcd.watch(.prefix(prefix)) { [weak self] in
                self?.look()
            } ended: { [weak self] in
                _ = self?.state.withLock { $0.watched.remove(prefix) }
            }
            state.withLock { $0.watches[prefix] = watch }
        }
    }

    /// Begins to serve shards that this node owns.
    func begin(_ tenures: [Tenure]) {
        state.withLock { state in
            for tenure in tenures { state.tenures[tenure.shard] = tenure }
        }
        forEachAtOnce(tenures) { [self] in begin($0) }
    }

    private func begin(_ tenure: Tenure) {
        tenure.whenLost { [weak self] in self?.look() }
        do throws(JournalError) {
            try host.begin(tenure, makeJournal(tenure))
            logger.notice("owns a shard", metadata: ["shard": "\(tenure.shard)", "tenure": "\(tenure.created)"])
        } catch {
            logger.critical(
                "a shard cannot be served", metadata: ["shard": "\(tenure.shard)", "reason": "\(error.reason)"])
            release(tenure)
            state.withLock { $0.tenures[tenure.shard] = nil }
        }
    }

    /// Calls something for tenures, several at the same time, and returns when that is done.
    private func forEachAtOnce(_ tenures: [Tenure], _ body: @escaping @Sendable (Tenure) -> Void) {
        guard tenures.count > 1 else { return tenures.forEach(body) }
        let done = workers.bell()
        for (index, tenure) in tenures.enumerated() {
            movers[index % movers.count].add {
                body(tenure)
                done.ring()
            }
        }
        for _ in tenures { done.wait() }
    }
}
