internal import ArbiterEngine

// Requests that wait until their shards are served.

extension Shards {
    /// Holds a request until its shard is served, here or by another tenure than that which was asked before.
    ///
    /// - Returns: the number of the request; `nil` if the shard is served, so that it can go on at once.
    func hold(_ request: HeldRequest) -> Int? {
        guard only == nil else { return nil }
        return state.withLock { state in
            guard state.engines[request.shard] == nil,
                !(state.owners[request.shard].map(request.isServed(by:)) ?? false)
            else {
                return nil
            }
            return state.held.add(request)
        }
    }

    /// Ends the wait of a request.
    ///
    /// - Returns: whether it was still held.
    func release(_ number: Int) -> Bool { state.withLock { $0.held.remove(number) } }

    /// Has all requests that are held go on; what cannot be served is refused then.
    func releaseAll() {
        for request in state.withLock({ state in state.held.take { _ in true } }) { request.goOn() }
    }
}
