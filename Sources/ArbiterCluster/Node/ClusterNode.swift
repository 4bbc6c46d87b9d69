internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// A node of a cluster: keeps its lease, registers itself, claims free shards, and stops serving those that it loses.
///
/// Everything happens on one queue, except that a lost tenure is noticed by what asks etcd.
package final class ClusterNode: Sendable {
    package struct Settings: Sendable {
        /// Where other nodes reach this one; also its name.
        package var address: String
        /// What it makes a cluster with.
        ///
        /// Its number of shards has to be that of the cluster, its rules are the highest that it supports, and its limits those
        /// with which it was started.
        package var form: ClusterForm
        /// How long its lease lives without a keepalive.
        package var timeToLive: Duration
        package var version: String
        /// The bytes that each member of etcd may store.
        package var quota: Int
        /// Whether it takes part although it has other limits than the cluster, so that those can be changed.
        package var adoptsLimits: Bool

        package init(
            address: String, form: ClusterForm, timeToLive: Duration, version: String, quota: Int = 2 << 30,
            adoptsLimits: Bool = false
        ) {
            (self.address, self.form, self.timeToLive) = (address, form, timeToLive)
            (self.version, self.quota, self.adoptsLimits) = (version, quota, adoptsLimits)
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
    /// How long an owner that hands over a shard waits until the next one has read it ahead.
    static let readingPatience = Duration.seconds(10)
    /// How long etcd keeps what keys were before.
    static let historyKept = Duration.seconds(30)

    struct State {
        private(set) var membership = Membership.outside(waitsFor: ClusterNode.etcdItself)
        var lease: NodeLease?
        var tenures: [Int: Tenure] = [:]
        /// The shards for which this node has chosen another one as the next owner, with when it has.
        var leaving: [Int: Instant] = [:]
        /// The shards that this node has read ahead, or is reading, with the revision at which it was chosen.
        var arriving: [Int: EtcdRevision] = [:]
        /// What a node that stops waits for: a change of the successors' keys.
        var whenChanged: (@Sendable () -> Void)?
        /// The shards that this node could not serve the last time it tried.
        var pauses: [Int: Pause] = [:]
        /// The tenures that this node has given up, and whose keys may still be there because etcd did not answer.
        var givenUp: [Int: Tenure] = [:]
        /// Why the cluster could not be looked at last; `nil` if it could.
        var reason: String?
        /// What is watched: the first key of each range.
        var watched: Set<String> = []
        var watches: [String: any EtcdWatch] = [:]
        var isLookDue = false
        var isAlarmSet = false
        /// Whether etcd has answered the last release of a node that stops.
        var isEtcdAnswering = true
        /// The revision to which etcd is compacted next, and when.
        var compaction: (revision: EtcdRevision, due: Instant)?
        /// When etcd is asked again how much it stores; `nil` before it was asked.
        var measurement: Instant?
        var room = EtcdRoom.enough
        /// In what the limits of the cluster differ from those with which this node was started.
        var otherLimits: [String] = []

        var isRegistered: Bool {
            if case .registered = membership { true } else { false }
        }

        /// What has to happen before the node can serve; `nil` if nothing.
        var waitsFor: String? {
            switch membership {
            case .outside(ClusterNode.etcdItself):
                reason.map { "\(ClusterNode.etcdItself) (\($0))" } ?? ClusterNode.etcdItself
            case .outside(let event): event
            case .registered: nil
            case .over(let event): event
            }
        }

        var isOver: Bool {
            if case .over = membership { true } else { false }
        }

        /// Goes on in another state of membership, unless the node's part is over.
        ///
        /// - Returns: whether it was not over.
        @discardableResult
        mutating func become(_ membership: Membership) -> Bool {
            guard !isOver else { return false }
            self.membership = membership
            return true
        }
    }

    /// What the node is to the cluster; the last state is final.
    enum Membership {
        /// Not registered, with what has to happen before.
        case outside(waitsFor: String)
        case registered
        /// It leaves, or can never take part, with the reason.
        case over(waitsFor: String?)
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
    let queue: any WorkQueue
    private let movers: [any WorkQueue]
    let state = Guarded(State())
    private let makeJournal: @Sendable (Tenure) -> EtcdJournal
    let whenFailed: @Sendable (JournalError) -> Void

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
                state.become(.over(waitsFor: state.waitsFor))
                return (state.tenures.values.sorted { $0.shard < $1.shard }, state.lease)
            }
            guard let lease else { return }
            // First the registration, so that the other nodes may claim this one's share.
            noteAnswered(unregister(lease))
            awaitSuccessors(of: tenures)
            state.withLock { state in
                for watch in state.watches.values { watch.cancel() }
            }
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

    /// What a node waits for that has not heard of etcd yet.
    static let etcdItself = "etcd"

    /// Begins to serve shards that this node owns.
    func begin(_ tenures: [Tenure], as form: ClusterForm) {
        state.withLock { state in
            for tenure in tenures {
                state.tenures[tenure.shard] = tenure
                state.arriving[tenure.shard] = nil
            }
        }
        forEachAtOnce(tenures) { [self] in begin($0, as: form) }
    }

    private func begin(_ tenure: Tenure, as form: ClusterForm) {
        tenure.whenLost { [weak self] in self?.look() }
        do throws(JournalError) {
            let journal = makeJournal(tenure)
            journal.whenFailed { [weak self] _ in self?.restart(tenure) }
            try host.begin(tenure, journal, as: form)
            logger.notice("owns a shard", metadata: ["shard": "\(tenure.shard)", "tenure": "\(tenure.created)"])
        } catch {
            giveUp(tenure, because: error)
        }
    }

    /// Carries something out on the queue, unless the node is stopped.
    func enqueue(_ body: @escaping @Sendable () -> Void) {
        queue.add { [self] in
            guard !state.withLock({ $0.isOver }) else { return }
            body()
        }
    }

    /// Carries something out beside the queue, several at the same time.
    func move(_ index: Int, _ body: @escaping @Sendable () -> Void) {
        movers[index % movers.count].add(body)
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
