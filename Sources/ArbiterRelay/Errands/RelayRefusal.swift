package import ArbiterEngine

/// Why a request is given up that could be carried out neither here nor elsewhere.
package enum RelayRefusal: Error, Sendable {
    /// Nobody who can be asked serves its shard.
    case misplaced(Misplaced)
    /// The node that was asked does not serve its shard, and no other one does yet.
    case notServed(reason: String)
    /// No node serves these shards.
    case lost(shards: [Int])
    /// The home of its session cannot be asked.
    case homeUnreachable(reason: String)
    /// An engine has refused its session.
    case engine(EngineError)
    /// This node shuts down.
    case draining

    /// Whether a node that has passed the request on may send it to the next owner of its shard.
    package var isUntouched: Bool {
        switch self {
        case .misplaced(.elsewhere), .misplaced(.untouched), .notServed, .engine(.notOwner): true
        case .misplaced(.needsGuest), .lost, .homeUnreachable, .draining, .engine(.refused),
            .engine(.journalUnavailable):
            false
        }
    }
}
