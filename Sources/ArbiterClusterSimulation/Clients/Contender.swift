internal import ArbiterCore

/// A client that requests one transition after the other, holds it for a while, and ends it.
struct Contender {
    /// A request, which is sent again with its key until it is known what came of it.
    struct Request {
        let request: TransitionRequest
        let isSerialized: Bool
        var tries = 0
        /// Whether every answer so far was `not-owner`.
        var isOnlyRefused = true
    }

    struct Hold {
        let id: TransitionID
        let token: Token
        let scene: SceneName
        let lease: Duration
        /// Until when it holds the lock.
        let until: Instant
        /// Whether it falls silent then, instead of ending.
        let fallsSilent: Bool
        /// Whether all its words are renewals.
        let onlyRenews: Bool
    }

    enum Phase {
        case idle
        case requesting(Request)
        case queued(TransitionID, Token, SceneName)
        case holding(Hold)
        case ending(Hold, EndOutcome, tries: Int)
    }

    let name: String
    /// The session to which its requests are bound; `nil` if it has none.
    var session: Token?
    var phase = Phase.idle
    /// The number of the call or the pause that it waits for.
    var awaited = 0
}
