internal import ArbiterEngine

// Requests that wait until their shards are served.

extension Shards {
    /// What comes of a request that is to be held.
    enum Holding: Hashable, Sendable {
        /// It waits, under this number.
        case held(Int)
        /// The shard is served, so it can go on at once.
        case served
        /// There is no room for it.
        case full
    }

    /// Holds a request until its shard is served, here or by another tenure than the one that was asked before.
    func hold(_ request: HeldRequest) -> Holding {
        guard only == nil else { return .served }
        return state.withLock { state in
            guard state.engines[request.shard] == nil,
                !(state.owners[request.shard].map(request.isServed(by:)) ?? false)
            else {
                return .served
            }
            return state.held.add(request).map { .held($0) } ?? .full
        }
    }

    /// How many requests are held.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// Ends the wait of a request.
    ///
    /// - Returns: whether it was still held.
    func release(_ number: Int) -> Bool { state.withLock { $0.held.remove(number) } }

    /// Has all requests that are held go on; what cannot be served is refused then.
    func releaseAll() {
        for request in state.withLock({ state in state.held.take { _ in true } }) { request.goOn() }
    }
}
