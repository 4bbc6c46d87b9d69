/// A request that waits until its shard is served.
struct HeldRequest: Sendable {
    let shard: Int
    /// The tenure that was asked before, and does not serve the shard.
    let asked: UInt64?
    /// Called once, on any thread, when the shard is served; must not take long.
    let goOn: @Sendable () -> Void

    /// Whether an owner may serve it.
    func isServed(by owner: ClusterMap.Owner) -> Bool { owner.tenure != asked }
}

/// The requests that wait for shards to be served.
struct HeldRequests: Sendable {
    /// How many there may be.
    private static let most = 1024

    private var requests: [Int: HeldRequest] = [:]
    private var last = 0

    var count: Int { requests.count }

    /// Adds a request.
    ///
    /// - Returns: its number; `nil` if there is no room.
    mutating func add(_ request: HeldRequest) -> Int? {
        guard requests.count < Self.most else { return nil }
        last += 1
        requests[last] = request
        return last
    }

    /// Removes a request.
    ///
    /// - Returns: whether there was one.
    mutating func remove(_ number: Int) -> Bool { requests.removeValue(forKey: number) != nil }

    /// Removes those that may go on.
    ///
    /// - Returns: these, the one that has waited for longest first.
    mutating func take(where mayGoOn: (HeldRequest) -> Bool) -> [HeldRequest] {
        guard !requests.isEmpty else { return [] }
        let ready = requests.filter { mayGoOn($0.value) }.sorted { $0.key < $1.key }
        for (number, _) in ready { requests[number] = nil }
        return ready.map(\.value)
    }
}
