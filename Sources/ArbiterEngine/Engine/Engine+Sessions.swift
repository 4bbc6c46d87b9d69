package import ArbiterCore

// What clients say of their gestures, of their part in others' transitions, and of themselves.

extension Engine {
    /// Called exactly once with what the arbiter says.
    package typealias Answer = @Sendable (Result<Reply, EngineError>) -> Void

    /// The finger that drives a transition has moved; answered with `Reply.progress`.
    package func progress(
        _ id: TransitionID, token: Token, _ progress: GestureProgress, completion: @escaping Answer
    ) {
        ask(completion: completion) { _ in .progress(id, token: token, progress) }
    }

    /// The finger that drives a transition is gone.
    package func release(
        _ id: TransitionID, token: Token, _ release: GestureRelease, completion: @escaping Completion
    ) {
        submit(completion: completion) { _ in .release(id, token: token, release) }
    }

    /// A participant is ready.
    package func ready(
        _ id: TransitionID, client: ClientName, session: Token, completion: @escaping Completion
    ) {
        submit(completion: completion) { _ in .ready(id, client: client, session: session) }
    }

    /// Begins a session; answered with `Reply.session`.
    package func openSession(client: ClientName?, timeToLive: Duration, completion: @escaping Answer) {
        ask(completion: completion) { state in
            .openSession(
                client: client, timeToLive: timeToLive, id: state.unusedSessionID(), token: state.token())
        }
    }

    /// The client of a session lives; answered with `Reply.session`.
    package func renewSession(_ token: Token, completion: @escaping Answer) {
        ask(completion: completion) { _ in .renewSession(token) }
    }

    /// The client of a session takes its leave; answered with `Reply.session`.
    package func endSession(_ token: Token, completion: @escaping Answer) {
        ask(completion: completion) { _ in .endSession(token) }
    }

    /// A connection by which a session lives.
    package struct Attachment: Sendable {
        let session: SessionID
        /// When it was made: a state that was read anew knows nothing of the connections of before.
        let era: Int
    }

    /// A connection is there that a session lives by.
    package func attach(
        _ token: Token, completion: @escaping @Sendable (Result<Attachment, EngineError>) -> Void
    ) {
        ask { [self] result in
            let era = state.withLock { $0.era }
            completion(
                result.map { reply in
                    guard case .session(let view) = reply else {
                        preconditionFailure("a session was attached and answered with \(reply)")
                    }
                    return Attachment(session: view.session.id, era: era)
                })
        } _: { _ in
            .attach(token)
        }
    }

    /// A connection has closed that a session lived by.
    package func detach(_ attachment: Attachment) {
        guard state.withLock({ $0.era == attachment.era }) else { return }
        submit { _ in .detach(attachment.session) }
    }
}
