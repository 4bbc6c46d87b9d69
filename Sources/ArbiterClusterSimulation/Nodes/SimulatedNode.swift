internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import Logging

/// A node in one life of its process: the real `ClusterNode`, engines and relay, and around them what the shell does.
final class SimulatedNode: Sendable {
    struct State {
        var node: ClusterNode?
        /// The streams attached to sessions that are at home here, by the numbers of their asks.
        var streams: [Int: Stream] = [:]
        /// The calls that are not answered yet.
        var calls: [ObjectIdentifier: SimulatedCall] = [:]
        /// The calls that are passed on.
        var forwardings: [ObjectIdentifier: SimulatedForwarding] = [:]
    }

    struct Stream: Sendable {
        let attachment: Engine.Attachment
        let engine: Engine
    }

    let process: Process
    let cluster: SimulatedCluster
    let shards: Shards
    let relay: Relay
    let state = Guarded(State())
    private let surroundings: SimulatedSurroundings
    private let workers: SimulatedWorkers
    private let link: EtcdLink

    init(_ process: Process, in cluster: SimulatedCluster) {
        (self.process, self.cluster) = (process, cluster)
        let (settings, signals) = (cluster.settings, cluster.signals)
        let fault = settings.fault
        workers = SimulatedWorkers(process)
        link = EtcdLink(process, cluster.etcd, stuckRarity: settings.stuckRarity) {
            signals.post(.counted(.stalls))
        }
        shards = Shards(count: settings.shards, address: Self.address(of: process.node))
        relay = Relay(
            shards, peers: fault.planted(in: SimulatedPeers(process, cluster)),
            times: fault.planted(in: settings.relayTimes), alarm: process, reportAlarm: process, time: process
        ) { action in
            switch action {
            case .hold: signals.post(.counted(.heldCalls))
            case .lend: signals.post(.counted(.borrowedSessions))
            case .none, .carryOut, .forward, .refuse: break
            }
        }
        surroundings = SimulatedSurroundings(process, cluster, shards)
        let etcd = fault.planted(in: link, keys: settings.keys)
        let (commits, workers, logger) = (SharedCommits(etcd: etcd), workers, Self.silentLogger)
        let nodeSettings = ClusterNode.Settings(
            address: Self.address(of: process.node), form: ClusterForm(shards: settings.shards),
            timeToLive: settings.timeToLive, version: "simulated")
        let node = ClusterNode(
            nodeSettings, keys: settings.keys, etcd: etcd,
            host: EngineHost(shards, in: surroundings, time: process), time: process, alarm: process, workers: workers,
            logger: logger
        ) { tenure in
            EtcdJournal(
                tenure: tenure, keys: settings.keys, etcd: etcd, commits: commits, time: process, alarm: process,
                workers: workers, logger: logger, bytesBetweenSnapshots: settings.bytesBetweenSnapshots)
        } whenFailed: { error in
            preconditionFailure("a node can never serve: \(error.reason)")
        }
        state.withLock { $0.node = node }
    }

    private static var silentLogger: Logger { Logger(label: "simulated") { _ in SwiftLogNoOpLogHandler() } }

    static func address(of node: Int) -> String { "http://node-\(node)" }

    /// The number of the node at an address.
    static func number(at address: String) -> Int? { Int(address.dropFirst(Self.address(of: 0).count - 1)) }

    func start() {
        state.withLock { $0.node }?.start()
        beat()
    }

    /// Hands everything over, and leaves the cluster, on a thread of its own.
    func stop(_ completion: @escaping @Sendable () -> Void) {
        guard let node = state.withLock({ $0.node }) else { return }
        workers.queue("stop", isUrgent: true).add { [relay] in
            relay.drain()
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

    /// Reads the clocks of all engines, as a thread does that waits for nothing, and looks whether a call is held too long.
    private func beat() {
        surroundings.readClocks()
        let now = process.now().instant
        for call in state.withLock({ $0.calls.values.sorted { $0.ask.number < $1.ask.number } }) {
            call.check(at: now)
        }
        process.ring(after: Limits.heartbeat) { [self] in beat() }
    }

    // MARK: - Calls

    /// A call arrives.
    ///
    /// - Parameters:
    ///   - ask: the call.
    ///   - relays: the nodes that have passed it on, the one that the client has asked first.
    ///   - answer: called in this process with the answer.
    func take(_ ask: Ask, over relays: [Process] = [], _ answer: @escaping SimulatedCall.Answer) {
        if let session = ask.session { relay.guests?.hear(session, from: .anyone) }
        SimulatedCall(ask, at: self, over: relays, answer).begin()
    }

    /// The client of a call has closed its connection.
    func abandon(_ number: Int) {
        let call = state.withLock { $0.calls.values.first { $0.ask.number == number && $0.relays.isEmpty } }
        call?.abandon()
    }

    /// The connections to a node that has died break.
    func breakConnections(to process: Process) {
        let broken = state.withLock { state in
            state.forwardings.values.filter { $0.isTo(process) }.sorted { $0.ask.number < $1.ask.number }
        }
        for forwarding in broken { forwarding.breakOff() }
    }

    // MARK: - Streams

    /// Whether a stream goes on here.
    func has(_ stream: Int) -> Bool {
        guard let engine = state.withLock({ $0.streams[stream]?.engine }) else { return false }
        return shards.here.contains { $0 === engine }
    }

    /// The client of a stream has closed it, as its relay says, or as this node sees itself.
    func close(_ stream: Int) { detach(stream, client: .gone) }

    /// The client of a stream had closed it before it was attached.
    func giveUp(_ stream: Int) { detach(stream, client: .present) }

    /// The relay of a stream is gone, which says nothing about the client.
    func loseRelay(of stream: Int) {
        detach(stream, client: cluster.settings.fault == .graceAfterLoss ? .gone : .present)
    }

    private func detach(_ stream: Int, client: ClientPresence) {
        guard let stream = state.withLock({ $0.streams.removeValue(forKey: stream) }) else { return }
        stream.engine.detach(stream.attachment, client: client)
    }
}
