internal import ArbiterCore
package import ArbiterEngine

/// The engines that run here, each for a shard of the scenes, and where the other shards are.
///
/// A daemon of its own has one engine, for its whole life. A node of a cluster gets and loses them.
package final class Shards: Sendable {
    /// How many shards there are, here and elsewhere.
    package let count: Int
    /// The engine of a daemon of its own.
    private let only: Engine?
    private let state = Guarded(State())

    private struct State {
        var engines: [Int: Engine] = [:]
        /// The addresses of the nodes that own the shards.
        var owners: [Int: String] = [:]
        /// How many nodes are registered.
        var nodes = 0
        /// How often a shard began to be served here.
        var moves = 0
        var waitsFor: @Sendable () -> String? = { nil }
    }

    /// Those of a daemon of its own.
    package init(only engine: Engine) {
        (only, count) = (engine, 1)
    }

    /// Those of a node of a cluster, which has none yet.
    package init(count: Int) {
        (only, self.count) = (nil, count)
    }

    /// Serves a shard from now on.
    package func begin(_ shard: Int, _ engine: Engine) {
        state.withLock { state in
            state.engines[shard] = engine
            state.moves += 1
        }
    }

    /// Serves a shard no longer.
    ///
    /// - Returns: its engine.
    @discardableResult
    package func end(_ shard: Int) -> Engine? { state.withLock { $0.engines.removeValue(forKey: shard) } }

    /// Takes notice of the other nodes.
    ///
    /// - Parameters:
    ///   - owners: the addresses of those that own shards, by their shards.
    ///   - nodes: how many nodes are registered.
    package func note(owners: [Int: String], nodes: Int) {
        state.withLock { ($0.owners, $0.nodes) = (owners, nodes) }
    }

    /// What there is to count of a cluster; `nil` if the daemon is no node of one.
    var counts: (here: Int, elsewhere: Int, nodes: Int, moves: Int)? {
        guard only == nil else { return nil }
        return state.withLock { state in
            (state.engines.count, state.owners.keys.count { state.engines[$0] == nil }, state.nodes, state.moves)
        }
    }

    /// Sets what says for what the node waits before it can serve.
    package func setWaiting(_ waitsFor: @escaping @Sendable () -> String?) { state.withLock { $0.waitsFor = waitsFor } }

    /// Why a node of a cluster is not ready; `nil` if it is, or if the daemon is no node.
    var waitsFor: String? {
        guard only == nil else { return nil }
        let (waitsFor, served) = state.withLock { ($0.waitsFor, Set($0.engines.keys).union($0.owners.keys).count) }
        if let reason = waitsFor() { return reason }
        return served < count ? "an owner of each of the \(count) shards" : nil
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

    /// The engine of the home of a session.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of session: Token) throws(Problem) -> Engine {
        if let only { return only }
        return try engine(at: session.slot)
    }

    /// The engine of all scenes.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engineOfAll() throws(Problem) -> Engine {
        if let only { return only }
        return try engine(of: 0)
    }

    /// Every engine that runs here.
    package var here: [Engine] {
        if let only { return [only] }
        return state.withLock { state in state.engines.sorted { $0.key < $1.key }.map(\.value) }
    }

    private func engine(at slot: Slot) throws(Problem) -> Engine { try engine(of: slot.shard(of: count)) }

    private func engine(of shard: Int) throws(Problem) -> Engine {
        let (engine, owner) = state.withLock { ($0.engines[shard], $0.owners[shard]) }
        if let engine { return engine }
        throw Problem(ownedBy: owner)
    }
}

extension Problem {
    /// The shard is not served here; nothing of the request was carried out.
    fileprivate init(ownedBy owner: String?) {
        let place = owner.map { "The node at \($0) serves it" } ?? "No node serves it at the moment"
        self.init(.notOwner, "This node does not serve the scene. \(place); ask again.", retryAfter: Self.briefly)
        self.owner = owner
    }
}
