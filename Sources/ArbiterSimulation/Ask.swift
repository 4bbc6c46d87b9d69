internal import ArbiterCore

/// What a client asks.
enum Ask {
    case start(TransitionRequest)
    case serialize(TransitionRequest, wait: Duration?)
    case await(TransitionID, token: Token?, until: Milestone, wait: Duration?)
    case end(TransitionID, token: Token, EndOutcome?)
    case renew(TransitionID, token: Token)
    case progress(TransitionID, token: Token, GestureProgress)
    case release(TransitionID, token: Token, GestureRelease)
    case ready(TransitionID, ClientName, session: Token)
    case openSession(ClientName?, timeToLive: Duration)
    case renewSession(Token)
    case endSession(Token)
    case revoke(TransitionID, RevocationReason)
    case attach(Token)
    case declare(SceneName, Storyboard, ifMatch: Revision?)
    case delete(SceneName, ifMatch: Revision?)

    /// Whether the answer is that of a transition's owner.
    var isOwners: Bool {
        switch self {
        case .start, .serialize, .end, .renew, .progress, .release: true
        case .await(_, let token, _, _): token != nil
        case .ready, .openSession, .renewSession, .endSession, .attach, .revoke, .declare, .delete: false
        }
    }
}

/// A request under way.
struct Request {
    let client: Int
    let life: Int
    let ask: Ask
}

/// A request that has been answered, perhaps not yet visibly.
struct Answer {
    let request: Request
    var content: Content
    /// By the clocks of the clients.
    let computedAt: Instant
    let sequence: UInt64

    enum Content {
        case transition(TransitionView)
        case session(SessionView)
        /// Whom the arbiter does not know.
        case unknown(TransitionID)
        case unknownSession
        case nothing
    }
}

/// A parked await.
struct Parked {
    let waiter: WaiterID
    let request: Request
    let transition: TransitionID
    let milestone: Milestone
    let until: Instant
}

/// A connection that a session lives by.
struct Connection {
    let session: SessionID
    let client: Int
    let life: Int
}

/// A process that wants to hold scenes.
struct Client {
    /// What it got by its requests, newest last.
    var owned: [Owned] = []
    /// The requests that it may repeat, newest last.
    var keyed: [Ask] = []
    /// Its sessions, as far as it knows, newest last.
    var sessions: [Token] = []
    /// Grows when it dies: what was meant for its last life reaches nobody.
    var life = 0
    var pausedUntil = 0

    struct Owned {
        let id: TransitionID
        let token: Token
        let isInteractive: Bool
    }
}
