internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArbiterRelay
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
    /// The threads that serve connections, which let the engines' alarms ring too.
    let loops: ServingLoops

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
            earlierClients: earlierClients, time: RunningTime(), hearing: loops, alarm: loops, rounds: loops,
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

/// A single daemon.
final class SingleServing: Serving {
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
        return JournalRecovery(alarm: SystemAlarm(), reopen: reopen) { lastEvents in
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
        let host = EngineHost(shards, in: NodeSurroundings(parts))
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

/// The engines of a node, whose events go to its streams.
final class NodeSurroundings: EngineSurroundings {
    private let parts: ServingParts

    init(_ parts: ServingParts) { self.parts = parts }

    private var hub: EventHub { parts.hub }

    func limits(ofEachOf count: Int, as form: ClusterForm?) -> Limits { parts.limits(ofEachOf: count, as: form) }

    func engine(
        of shard: Shard, in tenure: Tenure, on journal: EtcdJournal, limits: Limits, under terms: Terms,
        ahead: JournalReplay?
    ) throws(JournalError) -> Engine {
        try parts.engine(on: journal, of: shard, limits: limits, under: terms, ahead: ahead)
    }

    func begin(_ shard: Shard, in tenure: Tenure) { hub.end(shard) }

    func publish(_ events: [SceneEvent], of shard: Shard, in tenure: Tenure) { hub.publish(events, of: shard) }

    func forget(_ shard: Shard, in tenure: Tenure) { hub.end(shard) }

    func serve(_ shard: Shard, by engine: Engine) { hub.begin(engine.lastEvents(), of: shard) }

    func end(_ shard: Shard) { hub.end(shard) }
}
