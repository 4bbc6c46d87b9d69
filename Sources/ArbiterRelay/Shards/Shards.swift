package import ArbiterCore
package import ArbiterEngine

/// The engines that run here, each for a shard of the scenes, and where the other shards are.
///
/// A single daemon has one engine, for its whole life. A node of a cluster gets and loses them.
package final class Shards: Sendable {
    /// How many shards there are, here and elsewhere.
    package let count: Int
    /// The engine of a single daemon.
    package let only: Engine?
    /// Where other nodes reach this one; `nil` for a single daemon.
    private let address: String?
    let state = Guarded(State())

    struct State {
        var engines: [Int: Engine] = [:]
        /// The tenures in which they run.
        var tenures: [Int: UInt64] = [:]
        /// The other nodes that own shards.
        var owners: [Int: ClusterMap.Owner] = [:]
        /// The requests that are held until a shard is served.
        var held = HeldRequests()
        /// Told who owns what, whenever that was read.
        var observer: (@Sendable ([Int: ClusterMap.Owner]) -> Void)?
        var map = ClusterMap()
        var moves = ShardMoves()
        var stored: StoredSize?
        var isShortOfRoom = false
        /// How often a shard began to be served here.
        var arrivals = 0
        /// How often a shard was lost without being handed over.
        var losses = 0
        var waitsFor: @Sendable () -> String? = { nil }
    }

    /// Those of a single daemon.
    package init(only engine: Engine) {
        (only, count, address) = (engine, 1, nil)
    }

    /// Those of a node of a cluster, which has none yet.
    ///
    /// - Parameters:
    ///   - count: how many shards the cluster has.
    ///   - address: where other nodes reach this one.
    package init(count: Int, address: String) {
        (only, self.count, self.address) = (nil, count, address)
    }

    /// Serves a shard from now on, in a tenure.
    package func begin(_ shard: Int, _ engine: Engine, in tenure: UInt64 = 0) {
        let (ready, isShort) = state.withLock { state in
            state.engines[shard] = engine
            state.tenures[shard] = tenure
            state.arrivals += 1
            return (state.held.take { $0.shard == shard }, state.isShortOfRoom)
        }
        engine.setStorage(isShort: isShort)
        for request in ready { request.goOn() }
    }

    /// Serves a shard no longer.
    ///
    /// - Returns: its engine.
    @discardableResult
    package func end(_ shard: Int) -> Engine? { state.withLock { $0.engines.removeValue(forKey: shard) } }

    /// Serves a shard no longer, because another node may own it already.
    ///
    /// - Parameters:
    ///   - shard: the shard.
    ///   - tenure: the tenure that has ended; if the shard runs in another one, that goes on.
    /// - Returns: its engine, if it ran in the tenure.
    @discardableResult
    package func lose(_ shard: Int, in tenure: UInt64 = 0) -> Engine? {
        state.withLock { state in
            guard state.tenures[shard] == tenure, let engine = state.engines.removeValue(forKey: shard) else {
                return nil
            }
            state.losses += 1
            return engine
        }
    }

    /// Takes notice of who owns what.
    ///
    /// - Parameters:
    ///   - map: the nodes and the owners of the shards.
    ///   - time: when it was read.
    package func note(_ map: ClusterMap, at time: Timestamp) {
        let (ready, observer) = state.withLock { state in
            state.map = map
            state.owners = map.owners.filter { $0.value.address != address }
            state.moves.note(map.owners, at: time)
            return (state.held.take { state.owners[$0.shard].map($0.isServed(by:)) ?? false }, state.observer)
        }
        observer?(map.owners)
        for request in ready { request.goOn() }
    }

    /// Has somebody told who owns what, whenever that was read; must not take long.
    func observe(_ observer: @escaping @Sendable ([Int: ClusterMap.Owner]) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Takes notice of how much etcd stores.
    ///
    /// - Parameters:
    ///   - size: what one of its members stores.
    ///   - isShort: whether that is too much for admitting anything new.
    package func note(_ size: StoredSize, isShort: Bool) {
        let engines = state.withLock { state in
            (state.stored, state.isShortOfRoom) = (size, isShort)
            return state.engines.values
        }
        for engine in engines { engine.setStorage(isShort: isShort) }
    }

    /// What a member of etcd stores, if that is known.
    package var stored: StoredSize? { state.withLock { $0.stored } }

    /// The cluster as this node has read it last, and the newest moves; the daemon's own address is `nil` if it is no node.
    package var description: (address: String?, map: ClusterMap, moves: [ShardMove]) {
        state.withLock { (address, $0.map, $0.moves.newest) }
    }

    /// What there is to count of a cluster; `nil` if the daemon is no node of one.
    package var counts: (here: Int, elsewhere: Int, nodes: Int, arrivals: Int, losses: Int)? {
        guard only == nil else { return nil }
        return state.withLock { state in
            (
                state.engines.count, state.owners.keys.count { state.engines[$0] == nil }, state.map.nodes.count,
                state.arrivals, state.losses
            )
        }
    }

    /// Sets what says for what the node waits before it can serve.
    package func setWaiting(_ waitsFor: @escaping @Sendable () -> String?) { state.withLock { $0.waitsFor = waitsFor } }

    /// Why a node of a cluster is not ready; `nil` if it is, or if the daemon is no node.
    ///
    /// It does not wait for shards that no node can serve: the others are served meanwhile, and a balancer asks for that.
    package var waitsFor: String? {
        guard only == nil else { return nil }
        let (waitsFor, served, unserved) = state.withLock { state in
            (state.waitsFor, Set(state.engines.keys).union(state.owners.keys), state.map.unserved.keys)
        }
        if let reason = waitsFor() { return reason }
        guard !served.isEmpty, served.union(unserved).count == count else {
            return "an owner of each of the \(count) shards"
        }
        return nil
    }

    /// The shards that no node can serve, by their numbers, and why.
    package var unserved: [(shard: Int, why: ClusterMap.Unserved)] {
        state.withLock { state in state.map.unserved.filter { state.engines[$0.key] == nil } }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: - Which engine

    /// The engine of the shard of a slot.
    ///
    /// - Throws: `Misplaced` if it runs elsewhere, or nowhere.
    package func engine(at slot: Slot) throws(Misplaced) -> Engine {
        if let only { return only }
        return try engine(of: slot.shard(of: count))
    }

    /// The engine of the shard of a slot, which knows a session too.
    ///
    /// - Throws: `Misplaced` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    package func engine(at slot: Slot, hosting session: Token?) throws(Misplaced) -> Engine {
        if let only { return only }
        let shard = slot.shard(of: count)
        let engine = try engine(of: shard)
        guard let session, home(of: session).index != shard, !engine.inspect({ $0.knows(session) }) else {
            return engine
        }
        throw .needsGuest(GuestNeeded(session: session, shard: shard))
    }

    /// The engine of a shard.
    ///
    /// - Throws: `Misplaced` if it runs elsewhere, or nowhere.
    package func engine(of shard: Int) throws(Misplaced) -> Engine {
        if let only { return only }
        let (engine, owner) = state.withLock { ($0.engines[shard], $0.owners[shard]) }
        if let engine { return engine }
        throw .elsewhere(Elsewhere(shard: shard, owner: owner))
    }

    /// The first shard, which is the only one of a single daemon.
    package var first: Shard { Shard(0, of: count) }

    /// The shard of the home of a session.
    package func home(of session: Token) -> Shard { Shard(session.slot.shard(of: count), of: count) }

    /// The slot of the home of a new session that names no scene: any of a shard that runs here.
    ///
    /// - Throws: `Misplaced` if no shard runs here.
    package func anySlot() throws(Misplaced) -> Slot? {
        guard count > 1 else { return nil }
        let (here, elsewhere) = state.withLock { ($0.engines.keys.randomElement(), $0.owners.randomElement()) }
        guard let here else { throw .elsewhere(Elsewhere(shard: elsewhere?.key ?? 0, owner: elsewhere?.value)) }
        return Shard(here, of: count).slots.randomElement().map { Slot(number: $0) }
    }

    /// Where a shard runs: its engine if that is here, else the address of its node, if that is known.
    package func place(of shard: Int) -> (engine: Engine?, owner: String?) {
        if let only { return (only, nil) }
        return state.withLock { ($0.engines[shard], $0.owners[shard]?.address) }
    }

    /// Every shard that runs here, with its engine, in their order.
    package var enginesHere: [(shard: Shard, engine: Engine)] {
        if let only { return [(.only, only)] }
        return state.withLock { $0.engines }.sorted { $0.key < $1.key }.map { (Shard($0.key, of: count), $0.value) }
    }

    /// Every engine that runs here, in the order of their shards.
    package var here: [Engine] { enginesHere.map(\.engine) }

    /// The tenure in which a shard runs here; `nil` if it does not.
    package func tenure(of shard: Int) -> UInt64? {
        state.withLock { $0.engines[shard] == nil ? nil : $0.tenures[shard] }
    }
}
