package import ArbiterCore

/// Why a request cannot be carried out by the engine that was asked; nothing of it was.
package enum Misplaced: Error, Hashable, Sendable {
    /// Its shard is served by another node, or by none.
    case elsewhere(Elsewhere)
    /// Its session has to become a guest of its shard first.
    case needsGuest(GuestNeeded)
    /// Its shard is about to have another owner, which nobody knows yet.
    case untouched
}

/// A shard that a request needs and that does not run here.
package struct Elsewhere: Hashable, Sendable {
    package let shard: Int
    /// Who serves it; `nil` if nobody does at the moment.
    package let owner: ClusterMap.Owner?
    /// How long the request waits there, at most.
    package var wait = Duration.zero

    package init(shard: Int, owner: ClusterMap.Owner?) { (self.shard, self.owner) = (shard, owner) }
}

/// A session that is used in a shard that does not know it yet.
package struct GuestNeeded: Hashable, Sendable {
    package let session: Token
    /// The shard in which it is used.
    package let shard: Int
    /// How long the request waits there, at most.
    package var wait = Duration.zero

    package init(session: Token, shard: Int) { (self.session, self.shard) = (session, shard) }
}

extension Misplaced {
    /// How long the request waits where it is carried out, at most.
    package var wait: Duration {
        switch self {
        case .elsewhere(let elsewhere): elsewhere.wait
        case .needsGuest(let needed): needed.wait
        case .untouched: .zero
        }
    }

    /// The same, of a request that waits so long where it is carried out.
    package func waiting(_ wait: Duration) -> Misplaced {
        switch self {
        case .elsewhere(var elsewhere):
            elsewhere.wait = wait
            return .elsewhere(elsewhere)
        case .needsGuest(var needed):
            needed.wait = wait
            return .needsGuest(needed)
        case .untouched: return self
        }
    }
}
