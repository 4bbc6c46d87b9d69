package import ArbiterCore
package import ArbiterEngine

/// The engines that run here, each for a shard of the scenes, and where the other shards are.
///
/// A daemon of its own has one engine, for its whole life. A node of a cluster gets and loses them.
package final class Shards: Sendable {
    /// How many shards there are, here and elsewhere.
    package let count: Int
    /// The engine of a daemon of its own.
    let only: Engine?
    /// Where other nodes reach this one; `nil` for a daemon of its own.
    private let address: String?
    let state = Guarded(State())

    struct State {
        var engines: [Int: Engine] = [:]
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

    /// Those of a daemon of its own.
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

    /// Serves a shard from now on.
    package func begin(_ shard: Int, _ engine: Engine) {
        let (ready, isShort) = state.withLock { state in
            state.engines[shard] = engine
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
    /// - Parameter shard: the shard.
    /// - Returns: its engine, which has requests to answer yet.
    @discardableResult
    package func lose(_ shard: Int) -> Engine? {
        state.withLock { state in
            guard let engine = state.engines.removeValue(forKey: shard) else { return nil }
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
    var stored: StoredSize? { state.withLock { $0.stored } }

    /// The cluster as this node has read it last, and the newest moves; the daemon's own address is `nil` if it is no node.
    var description: (address: String?, map: ClusterMap, moves: [ShardMove]) {
        state.withLock { (address, $0.map, $0.moves.newest) }
    }

    /// What there is to count of a cluster; `nil` if the daemon is no node of one.
    var counts: (here: Int, elsewhere: Int, nodes: Int, arrivals: Int, losses: Int)? {
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
    var waitsFor: String? {
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
    var unserved: [(shard: Int, why: ClusterMap.Unserved)] {
        state.withLock { state in state.map.unserved.filter { state.engines[$0.key] == nil } }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: - Which engine

    /// The engine of a scene.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of scene: SceneName) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(at: Slot(scene))
    }

    /// The engine of the scene of a transition.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of id: TransitionID) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(at: id.slot)
    }

    /// The engine of a scene, which knows a session too.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(of scene: SceneName, hosting session: Token?) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(of: Slot(scene).shard(of: count), hosting: session)
    }

    /// The engine of the scene of a transition, which knows a session too.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(of id: TransitionID, hosting session: Token?) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(of: id.slot.shard(of: count), hosting: session)
    }

    private func engine(of shard: Int, hosting session: Token?) throws(Problem) -> Engine {
        let engine = try engine(of: shard)
        guard let session, home(of: session).index != shard, !engine.inspect({ $0.knows(session) }) else {
            return engine
        }
        var problem = Problem(
            .notOwner, "The session is at home elsewhere; ask again.", retryAfter: Problem.briefly)
        problem.guest = GuestNeeded(session: session, shard: shard)
        throw problem
    }

    /// The engine of the home of a session.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of session: Token) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(at: session.slot)
    }

    /// The engine of a daemon of its own, or of the only shard of a cluster; `nil` if there are more shards.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engineOfAll() throws(Problem) -> Engine? {
        if let only { return only }
        return count == 1 ? try engine(of: 0) : nil
    }

    /// The first shard, which is the only one of a daemon of its own.
    var first: Shard { Shard(0, of: count) }

    /// The shard of a scene.
    func shard(of scene: SceneName) -> Shard { Shard(Slot(scene).shard(of: count), of: count) }

    /// The shard of the home of a session.
    func home(of session: Token) -> Shard { Shard(session.slot.shard(of: count), of: count) }

    /// The slot of the home of a new session: of its scene, or any of a shard that runs here.
    ///
    /// - Throws: `not-owner` if no shard runs here.
    func slot(forSessionIn scene: SceneName?) throws(Problem) -> Slot? {
        if let scene { return Slot(scene) }
        guard count > 1 else { return nil }
        let (here, elsewhere) = state.withLock { ($0.engines.keys.randomElement(), $0.owners.randomElement()) }
        guard let here else { throw Problem(Elsewhere(shard: elsewhere?.key ?? 0, owner: elsewhere?.value)) }
        return Shard(here, of: count).slots.randomElement().map { Slot(number: $0) }
    }

    /// The engine of the home of a session with this slot.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(ofHomeAt slot: Slot?) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(at: slot ?? Slot(number: 0))
    }

    /// Where a shard runs: its engine if that is here, else the address of its node, if that is known.
    func place(of shard: Int) -> (engine: Engine?, owner: String?) {
        if let only { return (only, nil) }
        return state.withLock { ($0.engines[shard], $0.owners[shard]?.address) }
    }

    /// Every shard that runs here, with its engine.
    var enginesHere: [(shard: Shard, engine: Engine)] {
        if let only { return [(.only, only)] }
        return state.withLock { $0.engines }.map { (Shard($0.key, of: count), $0.value) }
    }

    /// Every engine that runs here.
    package var here: [Engine] {
        if let only { return [only] }
        return state.withLock { state in state.engines.sorted { $0.key < $1.key }.map(\.value) }
    }

    private func engine(at slot: Slot) throws(Problem) -> Engine { try engine(of: slot.shard(of: count)) }

    func engine(of shard: Int) throws(Problem) -> Engine {
        if let only { return only }
        let (engine, owner) = state.withLock { ($0.engines[shard], $0.owners[shard]) }
        if let engine { return engine }
        throw Problem(Elsewhere(shard: shard, owner: owner))
    }
}

extension Problem {
    /// The shard is not served here; nothing of the request was carried out.
    init(_ elsewhere: Elsewhere) {
        let place = elsewhere.owner.map { "The node at \($0.address) serves it" } ?? "No node serves it at the moment"
        self.init(.notOwner, "This node does not serve the scene. \(place); ask again.", retryAfter: Self.briefly)
        self.elsewhere = elsewhere
        isUntouched = true
    }
}
