internal import ArbiterCore
internal import ArbiterEngine

/// A request of a client, as the engine gets it.
enum Ask {
    case start(TransitionRequest)
    case serialize(TransitionRequest, wait: Duration)
    case dryRun(TransitionRequest, isSerialized: Bool)
    case await(TransitionID, token: Token?, until: Milestone, claims: Bool, wait: Duration)
    case awaitIdle(SceneName, below: ControllerID?, quiet: Duration, session: Token?, wait: Duration)
    case look(TransitionID)
    case end(TransitionID, token: Token, EndOutcome?)
    case renew(TransitionID, token: Token)
    case progress(TransitionID, token: Token, GestureProgress)
    case release(TransitionID, token: Token, GestureRelease)
    case perform(
        TransitionID, token: Token, Operation, expecting: [ArbiterCore.Expectation], ignoresGuards: Bool = false)
    case report(Readiness, on: TransitionID, ClientName, session: Token)
    case addGuard(SceneName, of: [ControllerID], onSilence: UnreadyAction, session: Token)
    case removeGuard(SceneName, GuardID, session: Token)
    case openSession(ClientName?, timeToLive: Duration)
    case renewSession(Token)
    case endSession(Token)
    case revoke(TransitionID, GivenReason)
    case revokeAll(SceneName, of: ClientName?, GivenReason)
    case update(TransitionID, token: Token, AnimationUpdate)
    case attach(Token)
    case declare(SceneName, Storyboard, if: Precondition)
    case patch(SceneName, StoryboardPatch, if: Precondition)
    case delete(SceneName, if: Precondition)

    /// The transition that it acts on with a token.
    var acted: (TransitionID, Token)? {
        switch self {
        case .end(let id, let token, _), .renew(let id, let token), .progress(let id, let token, _),
            .release(let id, let token, _), .update(let id, let token, _), .perform(let id, let token, _, _, _):
            (id, token)
        case .await(let id, let token, _, _, _): token.map { (id, $0) }
        case .start, .serialize, .dryRun, .awaitIdle, .look, .report, .addGuard, .removeGuard, .openSession,
            .renewSession, .endSession, .attach, .revoke, .revokeAll, .declare, .patch, .delete:
            nil
        }
    }

    /// The idempotency key of a request for a transition.
    var idempotencyKey: IdempotencyKey? {
        switch self {
        case .start(let request), .serialize(let request, _): request.idempotencyKey
        case .dryRun, .await, .awaitIdle, .look, .end, .renew, .progress, .release, .perform, .report, .addGuard,
            .removeGuard, .openSession,
            .renewSession,
            .endSession, .attach, .revoke, .revokeAll, .update, .declare, .patch, .delete:
            nil
        }
    }

    /// Whether it is a request of the transition's owner.
    var isOwners: Bool {
        switch self {
        case .start, .serialize, .end, .renew, .progress, .release, .update, .perform: true
        case .await(_, let token, _, _, _): token != nil
        case .dryRun, .awaitIdle, .look, .report, .addGuard, .removeGuard, .openSession, .renewSession, .endSession,
            .attach, .revoke, .revokeAll, .declare,
            .patch,
            .delete:
            false
        }
    }
}

/// A request on its way to the engine.
struct Request {
    let client: Int
    let life: Int
    let ask: Ask
}

/// A request in the turn under way, before its answer is predicted.
struct Pending {
    let request: Request
    /// The number under which its answer is posted.
    let number: Int
    /// The waiter that the engine has parked.
    var waiter: WaiterID?
}

/// A parked await.
struct Parked {
    let number: Int
    /// `nil` if it is answered in the same turn.
    let waiter: WaiterID?
    let request: Request
    let transition: TransitionID
    let milestone: Milestone
    let until: Instant
    /// The session that it keeps alive.
    let session: SessionID?
}

/// An answer that the engine has to give as soon as the records of its turn are committed.
struct OwedAnswer {
    let number: Int
    let request: Request
    let verdict: Verdict
    /// By the clients' clock.
    let computedAt: Instant
    /// The states of the transition that it may show, each with the last record that it depends on.
    var states: [State]
    /// The last record of its turn.
    var latest: UInt64
    /// Whether its request was parked.
    var wasParked = false
    /// The session that the request attaches to, if it does.
    var session: SessionID?
    /// The remaining time of the session that it shows.
    var remaining: Duration?
    /// What it says, if it answers a dry run.
    var trial: Trial?
    /// How the scene may be that it shows, if it answers an await of an idle scene.
    var idleness: [Idleness] = []
    /// Of a part: since when it counted as idle when it was answered, if it was.
    var idleSince: Instant?

    struct State {
        /// `nil` if it is forgotten in the same turn; then the answer shows it ended.
        let transition: Transition?
        let sequence: UInt64
    }
}

/// A connection attached to a session.
struct Connection {
    let attachment: Engine.Attachment
    let session: SessionID
    let client: Int
    let life: Int
    /// The engine's era when it was attached.
    let era: Int
}

/// A process that requests transitions.
struct Client {
    /// Its transitions, as far as it knows, newest last.
    var owned: [Owned] = []
    /// The requests that it may repeat, newest last.
    var keyed: [Ask] = []
    /// Its sessions, as far as it knows, newest last.
    var sessions: [Token] = []
    /// Counts its deaths: answers for an earlier life are lost.
    var life = 0
    var pausedUntil = 0

    struct Owned {
        let id: TransitionID
        let token: Token
        let isInteractive: Bool
    }
}
