internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine

/// The nodes of a simulated cluster, and the etcd behind them.
final class SimulatedCluster: Sendable {
    let world: World
    let settings: ClusterSimulationSettings
    let etcd: SimulatedEtcd
    let signals = Signals()
    private let state: Guarded<State>

    private struct State {
        /// The present life of each node; `nil` while it does not run.
        var nodes: [SimulatedNode?]
        var clocks: [MachineClock]
        /// The moments of the last records, by their shards.
        var lastMoments: [Int: Moment] = [:]
    }

    init(_ world: World, _ settings: ClusterSimulationSettings) {
        (self.world, self.settings) = (world, settings)
        etcd = SimulatedEtcd(world.timeline, world.chance)
        state = Guarded(
            State(
                nodes: Array(repeating: nil, count: settings.nodes),
                clocks: (0..<settings.nodes).map { _ in Self.clock(world.chance) }))
    }

    /// The clock of a machine: any uptime, and up to a tenth slower than the world's, never faster.
    ///
    /// A client counts its lease on the world's clock. If an engine's clock were faster, a lease would end there before it ends
    /// for its owner; that an engine's clock is not faster than a client's is what leases rest on, here as in the models.
    private static func clock(_ chance: Chance) -> MachineClock {
        let uptime = Int64(chance.number(in: 10...2_000_000))
        return MachineClock(
            origin: Instant(nanoseconds: uptime * 1_000_000_000), drift: -Int64(chance.number(in: 0...100_000)))
    }

    func node(_ number: Int) -> SimulatedNode? { state.withLock { $0.nodes[number] } }

    var running: [SimulatedNode] { state.withLock { $0.nodes }.compactMap { $0 } }

    /// Starts a node that does not run; its machine may have been started again too.
    func start(_ number: Int, isRebooted: Bool = false) {
        if isRebooted {
            let clock = Self.clock(world.chance)
            state.withLock { $0.clocks[number] = clock }
        }
        let clock = state.withLock { $0.clocks[number] }
        let node = SimulatedNode(Process(world, node: number, clock: clock), in: self)
        state.withLock { $0.nodes[number] = node }
        node.start()
    }

    func kill(_ number: Int) {
        let node = state.withLock { state in
            defer { state.nodes[number] = nil }
            return state.nodes[number]
        }
        node?.die()
        guard let dead = node?.process else { return }
        for node in running {
            world.timeline.schedule(after: world.chance.duration(.milliseconds(1) ... .seconds(1)), in: node.process) {
                node.breakConnections(to: dead)
            }
        }
    }

    func note(_ moment: Moment, ofLastRecordIn shard: Int) { state.withLock { $0.lastMoments[shard] = moment } }

    func lastMoment(of shard: Int) -> Moment? { state.withLock { $0.lastMoments[shard] } }

    /// Sends something to another node.
    ///
    /// - Returns: whether anything listens there.
    func send(from process: Process, to number: Int, _ body: @escaping @Sendable (SimulatedNode) -> Void) -> Bool {
        guard let node = node(number) else { return false }
        world.network.send(from: .node(process.node), to: .node(number), in: node.process) { body(node) }
        return true
    }
}
