internal import ArbiterCore
internal import ArbiterEngine

/// A call of a client, as it travels.
struct Ask: Sendable {
    let number: Int
    let question: Question
    /// The session that the call names, which is a word of its client.
    var session: Token?
}

enum Question: Sendable {
    case start(TransitionRequest)
    case serialize(TransitionRequest, wait: Duration)
    case await(TransitionID, token: Token, until: Milestone, wait: Duration)
    case renew(TransitionID, token: Token)
    case end(TransitionID, token: Token, EndOutcome)
    /// Anybody looks at a transition.
    case look(TransitionID)
    case openSession(home: SceneName, timeToLive: Duration, client: ClientName)
    case renewSession(Token)
    case endSession(Token)
    /// A stream that keeps a session alive.
    case attach(Token)

    /// Where the shard is that answers it.
    var slot: Slot {
        switch self {
        case .start(let request), .serialize(let request, _): Slot(request.scene)
        case .await(let id, _, _, _), .renew(let id, _), .end(let id, _, _), .look(let id): id.slot
        case .openSession(let scene, _, _): Slot(scene)
        case .renewSession(let token), .endSession(let token), .attach(let token): token.slot
        }
    }

    /// Whether it changes nothing.
    var onlyReads: Bool {
        switch self {
        case .look: true
        case .start, .serialize, .await, .renew, .end, .openSession, .renewSession, .endSession, .attach: false
        }
    }

    /// The session that its shard has to know.
    var boundSession: Token? {
        switch self {
        case .start(let request), .serialize(let request, _): request.session
        case .await, .renew, .end, .look, .openSession, .renewSession, .endSession, .attach: nil
        }
    }
}

/// What a client is answered.
enum Reply: Sendable {
    case transition(TransitionView)
    case session(SessionView)
    case attached
    case refused(ArbiterError)
    /// Nothing was carried out.
    case notOwner
    /// It may have been carried out.
    case unavailable
}

extension Reply {
    init(_ result: Result<TransitionView, EngineError>) { self.init(result) { .transition($0) } }

    init(_ result: Result<SessionView, EngineError>) { self.init(result) { .session($0) } }

    init<Value>(_ result: Result<Value, EngineError>, _ reply: (Value) -> Reply) {
        switch result {
        case .success(let value): self = reply(value)
        case .failure(.refused(let error)): self = .refused(error)
        case .failure(.notOwner): self = .notOwner
        case .failure(.journalUnavailable): self = .unavailable
        }
    }
}
