internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArbiterTransfers
internal import Logging

/// What stands behind the shell: one engine of its own, or those of a cluster's node.
protocol Serving: AnyObject {
    var shards: Shards { get }
    /// What passes on requests that another node serves.
    var forwarder: Forwarder? { get }

    /// Begins to serve; requests may come already.
    func start()

    /// Knows the other nodes by something else from now on.
    func replacePeers(_ trust: TransferRequest.Trust)

    /// Reaches etcd in another way from now on.
    func replaceEtcd(_ access: EtcdGateway.Access)

    /// Answers everyone who waits, and ends the streams; new requests are refused already.
    func drain()

    /// Commits everything, and ends.
    func stop()
}

/// What the parts of a daemon have in common.
struct ServingParts {
    let options: Options
    let hub: EventHub
    let metrics: Metrics
    let operatorLog: OperatorLog
    let loss: Loss
    let logger: Logger
    let earlierClients: EarlierClients

    /// The limits of one of several shards, in a cluster of a form.
    func limits(ofEachOf count: Int, as form: ClusterForm? = nil) -> Limits {
        let own = options.arbiterLimits
        var limits = (form?.limits?.applied(to: own) ?? own).divided(among: count)
        if options.journal.isOfCluster { limits.recordBytes = EtcdJournal.bytesInRecord }
        return limits
    }

    /// Makes an engine that continues from a journal; what it replays goes to the streams, and is not counted.
    func engine(
        on journal: any Journal, of shard: Shard = .only, limits: Limits? = nil, under terms: Terms = Terms(),
        ahead: JournalReplay? = nil,
        recovery: JournalRecovery? = nil
    ) throws(JournalError) -> Engine {
        let counting = Counting()
        let engine = try Engine(
            limits: limits ?? options.arbiterLimits, journal: journal, ahead: ahead, terms: terms, recovery: recovery,
            earlierClients: earlierClients, time: RunningTime(), hearing: MicroHTTPDHearing(),
            metrics: metrics.engine
        ) { [hub, metrics] events in
            if counting.hasBegun { metrics.note(events) }
            hub.publish(events, of: shard)
        } observer: { [hub, operatorLog] notice in
            operatorLog.note(notice)
            hub.note(notice)
        }
        counting.begin()
        return engine
    }

    /// Whether events are new, and not those of a replay.
    private final class Counting: Sendable {
        private let state = Guarded(false)

        var hasBegun: Bool { state.withLock { $0 } }

        func begin() { state.withLock { $0 = true } }
    }
}

/// A daemon of its own.
final class OwnServing: Serving {
    let shards: Shards
    var forwarder: Forwarder? { nil }
    private let engine: Engine
    private let hub: EventHub

    init(_ parts: ServingParts) throws {
        hub = parts.hub
        let journal = try parts.options.makeJournal(logger: parts.logger, metrics: parts.metrics.engine.journal)
        engine = try parts.engine(on: journal, recovery: try Self.recovery(parts))
        shards = Shards(only: engine)
        hub.begin(engine.lastEvents())
    }

    func start() {}

    func replacePeers(_ trust: TransferRequest.Trust) {}

    func replaceEtcd(_ access: EtcdGateway.Access) {}

    func drain() {
        engine.drain()
        hub.close()
    }

    func stop() { engine.stop() }

    /// How the engine recovers if its journal fails.
    private static func recovery(_ parts: ServingParts) throws -> JournalRecovery? {
        switch parts.options.journal {
        case .disk: break
        // What is in memory is gone, and nodes have other ways.
        case .memory, .etcd: return nil
        }
        let (hub, loss, logger) = (parts.hub, parts.loss, parts.logger)
        let reopen = try parts.options.reopening(logger: logger, metrics: parts.metrics.engine.journal)
        return JournalRecovery(reopen: reopen) { lastEvents in
            hub.restart(lastEvents)
            logger.notice("the journal has been opened again")
        } whenLost: { error in
            loss.note(error)
        }
    }
}

/// A node of a cluster on etcd.
final class ClusterServing: Serving {
    let shards: Shards
    let forwarder: Forwarder?
    private let node: ClusterNode
    private let etcd: EtcdGateway
    private let hub: EventHub
    /// Apart from each other, so that keepalives to etcd do not wait for the bodies of other requests.
    private let toEtcd = TransferLoop()
    private let toNodes = TransferLoop()

    /// - Parameters:
    ///   - parts: what it is made of.
    ///   - address: where other nodes reach it.
    ///   - peers: by what it knows other nodes.
    /// - Throws: `Failure` if a setting is missing, or if a file cannot be read.
    init(_ parts: ServingParts, address: String, peers: TransferRequest.Trust) throws {
        let cluster = parts.options.cluster
        hub = parts.hub
        let etcd = EtcdGateway(try cluster.store.access(beyondLoopback: parts.options.insecure), loop: toEtcd)
        self.etcd = etcd
        let keys = ClusterKeys(prefix: cluster.store.etcdPrefix)
        shards = Shards(count: cluster.store.shards, address: address)
        forwarder = Forwarder(
            loop: toNodes, trust: peers,
            times: RelayTimes(
                lease: .seconds(cluster.etcdLeaseSeconds), comments: parts.options.eventLimits.longestSilence))
        let host = NodeHost(parts, shards: shards)
        let settings = ClusterNode.Settings(
            address: address, form: cluster.form(limits: parts.options.arbiterLimits),
            timeToLive: .seconds(cluster.etcdLeaseSeconds), version: Arbiterd.version,
            quota: cluster.store.etcdQuota.bytes, adoptsLimits: cluster.adoptLimits)
        let commits = SharedCommits(etcd: etcd)
        let (logger, metrics, loss) = (parts.logger, parts.metrics.engine.journal, parts.loss)
        let limits = parts.limits(ofEachOf: cluster.store.shards)
        node = ClusterNode(settings, keys: keys, etcd: etcd, host: host, logger: logger) { tenure in
            EtcdJournal(
                tenure: tenure, keys: keys, etcd: etcd, commits: commits, limits: limits, logger: logger,
                metrics: metrics)
        } whenFailed: { error in
            loss.note(error)
        }
        shards.setWaiting { [weak node] in node?.waitsFor }
    }

    func start() { node.start() }

    func replacePeers(_ trust: TransferRequest.Trust) { forwarder?.replace(trust) }

    func replaceEtcd(_ access: EtcdGateway.Access) { etcd.replace(access.trust, user: access.user) }

    func drain() {
        node.stop()
        hub.close()
        // What is on its way from other nodes ends here; its clients ask another one.
        toNodes.closeAndWait()
    }

    func stop() {
        toEtcd.close()
    }
}

/// Runs the engines of the shards that a node owns.
final class NodeHost: ShardHost {
    private let parts: ServingParts
    private let shards: Shards
    private let hub: EventHub
    /// What was read of shards ahead, and the form of the cluster.
    private let state = Guarded(State())

    private struct State {
        var ahead: [Int: ReadAhead] = [:]
        var form: ClusterForm?
    }

    /// A shard as far as it was read before this node owned it.
    private struct ReadAhead {
        let progress: ShardReader.Progress
        let replay: JournalReplay
        let events: [[SceneEvent]]
    }

    init(_ parts: ServingParts, shards: Shards) {
        (self.parts, self.shards, hub) = (parts, shards, parts.hub)
    }

    func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError) {
        let events = Guarded([[SceneEvent]]())
        let form = state.withLock { $0.form }
        var replay = JournalReplay(limits: parts.limits(ofEachOf: shards.count, as: form)) { more in
            events.withLock { $0.append(more) }
        }
        let progress = try reader.read { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let read = ReadAhead(progress: progress, replay: replay, events: events.withLock { $0 })
        state.withLock { $0.ahead[shard] = read }
    }

    func forget(_ shard: Int) { state.withLock { $0.ahead[shard] = nil } }

    func begin(_ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm) throws(JournalError) {
        let shard = Shard(tenure.shard, of: shards.count)
        hub.end(shard)
        let ahead = state.withLock { $0.ahead.removeValue(forKey: tenure.shard) }
        if let ahead {
            journal.goOn(after: ahead.progress) { [hub] in hub.end(shard) }
            for events in ahead.events { hub.publish(events, of: shard) }
        }
        let (limits, terms) = inForce(form)
        journal.use(limits)
        let engine = try parts.engine(on: journal, of: shard, limits: limits, under: terms, ahead: ahead?.replay)
        hub.begin(engine.lastEvents(), of: shard)
        if shard.count > 1 { engine.expectGuests(of: shard) }
        shards.begin(tenure.shard, engine, in: UInt64(tenure.created))
    }

    func adopt(_ form: ClusterForm) {
        state.withLock { $0.form = form }
        let (limits, terms) = inForce(form)
        for engine in shards.here { engine.adopt(terms, limits: limits) }
    }

    /// What holds in each shard of a cluster of a form.
    ///
    /// The journal of a shard names what is forgotten, so that any node replays it alike.
    private func inForce(_ form: ClusterForm) -> (Limits, Terms) {
        let limits = parts.limits(ofEachOf: shards.count, as: form)
        return (limits, Terms(rules: form.rulesInForce, retention: limits.retention))
    }

    func drop(_ tenure: Tenure) {
        guard let engine = shards.lose(tenure.shard, in: UInt64(tenure.created)) else { return }
        engine.abandon()
        hub.end(Shard(tenure.shard, of: shards.count))
    }

    func handOver(_ shard: Int) {
        guard let engine = shards.end(shard) else { return }
        engine.drain()
        engine.stop()
        hub.end(Shard(shard, of: shards.count))
    }

    func note(_ map: ShardMap) {
        let nodes = map.nodes.values.sorted { $0.address < $1.address }
        shards.note(
            ClusterMap(
                nodes: nodes.map { ClusterMap.Node(address: $0.address, version: $0.version) },
                owners: map.owners.mapValues {
                    ClusterMap.Owner(address: $0.node.address, tenure: UInt64($0.tenure))
                }, unserved: map.unserved.mapValues { ClusterMap.Unserved(node: $0.node, reason: $0.reason) }),
            at: SystemTimeSource().now().timestamp)
    }

    func note(_ size: EtcdSize, _ room: EtcdRoom) {
        shards.note(StoredSize(file: size.file, used: size.used), isShort: room == .short)
    }
}
