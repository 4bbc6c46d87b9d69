internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

/// A node in one life of its process: the real `ClusterNode` with the real engines, and around it what the shell does.
final class SimulatedNode: ShardHost {
    /// A shard that runs here.
    struct Running: Sendable {
        let engine: Engine
        let tenure: EtcdRevision
        let time: RunningTime
    }

    struct State {
        var node: ClusterNode?
        var shards: [Int: Running] = [:]
        /// What was read of shards ahead.
        var ahead: [Int: ReadAhead] = [:]
        var map = ShardMap()
        /// The streams attached to sessions that are at home here, by the numbers of their asks.
        var streams: [Int: Stream] = [:]
        /// What waits for an answer of another node, by its number.
        var awaited: [Int: @Sendable (PeerAnswer) -> Void] = [:]
        var lastMessage = 0
    }

    /// A shard as far as it was read before this node owned it.
    struct ReadAhead: Sendable {
        let progress: ShardReader.Progress
        let replay: JournalReplay
        let events: [[SceneEvent]]
    }

    struct Stream: Sendable {
        let attachment: Engine.Attachment
        let engine: Engine
    }

    /// How often a thread reads the clocks.
    private static let heartbeat = Limits.heartbeat

    let process: Process
    let cluster: SimulatedCluster
    let reports = GuestReports()
    let state = Guarded(State())
    private let workers: SimulatedWorkers
    private let link: EtcdLink

    init(_ process: Process, in cluster: SimulatedCluster) {
        (self.process, self.cluster) = (process, cluster)
        workers = SimulatedWorkers(process)
        link = EtcdLink(process, cluster.etcd, stuckRarity: cluster.settings.stuckRarity)
        let settings = cluster.settings
        let etcd = settings.fault.planted(in: link, keys: settings.keys)
        let (commits, workers, logger) = (SharedCommits(etcd: etcd), workers, Self.silentLogger)
        let nodeSettings = ClusterNode.Settings(
            address: Self.address(of: process.node), form: ClusterForm(shards: settings.shards),
            timeToLive: settings.timeToLive, version: "simulated")
        let node = ClusterNode(
            nodeSettings, keys: settings.keys, etcd: etcd, host: self, time: process, alarm: process, workers: workers,
            logger: logger
        ) { tenure in
            EtcdJournal(
                tenure: tenure, keys: settings.keys, etcd: etcd, commits: commits, alarm: process, workers: workers,
                logger: logger, bytesBetweenSnapshots: settings.bytesBetweenSnapshots)
        } whenFailed: { error in
            preconditionFailure("a node can never serve: \(error.reason)")
        }
        state.withLock { $0.node = node }
    }

    private static var silentLogger: Logger { Logger(label: "simulated") { _ in SwiftLogNoOpLogHandler() } }

    static func address(of node: Int) -> String { "http://node-\(node)" }

    func start() {
        state.withLock { $0.node }?.start()
        beat()
        reportAgain(after: Limits.longestReportPause)
    }

    /// Hands everything over, and leaves the cluster, on a thread of its own.
    func stop(_ completion: @escaping @Sendable () -> Void) {
        guard let node = state.withLock({ $0.node }) else { return }
        workers.queue("stop", isUrgent: true).add {
            node.stop()
            completion()
        }
    }

    /// Dies: nothing that it does is seen by anybody any more.
    func die() {
        process.die()
        link.endAll()
        workers.endAll()
        state.withLock { $0 = State() }
    }

    /// Reads the clocks of all engines, as a thread does that waits for nothing.
    private func beat() {
        for (_, running) in shards { _ = running.time.now() }
        process.ring(after: Self.heartbeat) { [self] in beat() }
    }

    /// The shards that run here, in their order.
    var shards: [(shard: Int, running: Running)] {
        state.withLock { $0.shards }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: - ShardHost

    func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError) {
        let events = Guarded([[SceneEvent]]())
        var replay = JournalReplay(limits: cluster.settings.limits) { more in events.withLock { $0.append(more) } }
        let progress = try reader.read { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let read = ReadAhead(progress: progress, replay: replay, events: events.withLock { $0 })
        state.withLock { $0.ahead[shard] = read }
    }

    func forget(_ shard: Int) { state.withLock { $0.ahead[shard] = nil } }

    func adopt(_ form: ClusterForm) {
        for (_, running) in shards { running.engine.adopt(Self.terms(form), limits: cluster.settings.limits) }
    }

    private static func terms(_ form: ClusterForm) -> Terms { Terms(rules: form.rulesInForce) }

    func begin(_ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm) throws(JournalError) {
        let (shard, node, signals) = (tenure.shard, process.node, cluster.signals)
        signals.post(.began(shard: shard, tenure: tenure.created, node: node))
        let ahead = state.withLock { $0.ahead.removeValue(forKey: shard) }
        if let ahead {
            journal.goOn(after: ahead.progress) {
                signals.post(.forgot(shard: shard, tenure: tenure.created, node: node))
            }
            for events in ahead.events {
                signals.post(.events(shard: shard, tenure: tenure.created, node: node, events))
            }
        }
        let time = RunningTime(process, heartbeat: nil)
        let fault = cluster.settings.fault
        let engine = try Engine(
            limits: cluster.settings.limits, journal: fault.planted(in: journal), ahead: ahead?.replay,
            terms: Self.terms(form),
            time: fault.planted(in: time, last: cluster.lastMoment(of: shard)), alarm: process,
            random: SeededRandom(cluster.world.chance)
        ) { events in
            signals.post(.events(shard: shard, tenure: tenure.created, node: node, events))
        } observer: { [weak self] notice in
            self?.note(notice, of: shard)
        }
        engine.expectGuests(of: Shard(shard, of: cluster.settings.shards))
        state.withLock { $0.shards[shard] = Running(engine: engine, tenure: tenure.created, time: time) }
    }

    func drop(_ tenure: Tenure) {
        state.withLock { state in
            if state.shards[tenure.shard]?.tenure == tenure.created { state.shards[tenure.shard] = nil }
        }
    }

    func handOver(_ shard: Int) {
        guard let running = state.withLock({ $0.shards.removeValue(forKey: shard) }) else { return }
        running.engine.drain()
        running.engine.stop()
    }

    func note(_ map: ShardMap) { state.withLock { $0.map = map } }

    func note(_ size: EtcdSize, _ room: EtcdRoom) {}

    // MARK: - Places

    func engine(of shard: Int) -> Engine? { state.withLock { $0.shards[shard]?.engine } }

    /// The node that owns a shard, as this one has read it last; `nil` if that is itself, or none.
    func owner(of shard: Int) -> Int? {
        let address = state.withLock { $0.map.owners[shard]?.node.address }
        return (0..<cluster.settings.nodes).first { $0 != process.node && Self.address(of: $0) == address }
    }

    func shard(of slot: Slot) -> Int { slot.shard(of: cluster.settings.shards) }

    private func note(_ notice: EngineNotice, of shard: Int) {
        guard cluster.settings.fault == .guestsWaitToBeTold, case .happened(.sessionEnded(let session, _)) = notice,
            self.shard(of: session.token.slot) == shard
        else { return }
        // Under the engine's lock, so that nothing is called here.
        cluster.world.timeline.schedule(after: .zero, in: process) { [self] in tellOfEnd(session.token) }
    }
}

/// Random ids of a seed.
private struct SeededRandom: RandomNumberGenerator, Sendable {
    private let chance: Chance

    init(_ chance: Chance) { self.chance = chance }

    func next() -> UInt64 { chance.next() }
}
