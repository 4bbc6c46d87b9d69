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

    /// A connection is there that a session lives by; answered with `Reply.session`.
    package func attach(_ token: Token, completion: @escaping Answer) {
        ask(completion: completion) { _ in .attach(token) }
    }

    /// A connection has closed that a session lived by.
    package func detach(_ session: SessionID) {
        submit { _ in .detach(session) }
    }
}
