package import ArbiterCore

// Gestures, participants and sessions.

extension Engine {
    /// Notes that the finger that drives a transition has moved.
    package func progress(
        _ id: TransitionID, token: Token, _ progress: GestureProgress, by asker: Asker = .anyone,
        completion: @escaping Answer<ProgressAnswer>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.progress(id, token: token, progress, in: &step)
        }
    }

    /// Notes that the finger that drives a transition is released, which decides the gesture.
    package func release(
        _ id: TransitionID, token: Token, _ release: GestureRelease, by asker: Asker = .anyone,
        completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.release(id, token: token, release, in: &step)
        }
    }

    /// Notes what a participant says; without a client, it is that of the session.
    package func report(
        _ readiness: Readiness, on id: TransitionID, client: ClientName?, session: Token, by asker: Asker = .anyone,
        completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            try machine.check(asker.caller, owns: session)
            return try machine.report(readiness, on: id, client: client, session: session, in: &step)
        }
    }

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - client: the name of the client.
    ///   - timeToLive: how long it lives without a request of its client.
    ///   - slot: the slot of its home; any by default.
    ///   - asker: who opens it.
    ///   - completion: called with the session.
    package func openSession(
        client: ClientName?, timeToLive: Duration, homeAt slot: Slot? = nil, by asker: Asker = .anyone,
        completion: @escaping Answer<SessionView>
    ) {
        ask(.session(client), by: asker, completion) { machine, identities, step throws(ArbiterError) in
            let id = identities.session(at: slot, of: machine)
            return try machine.openSession(
                client: client, timeToLive: timeToLive, by: asker.caller, id: id,
                token: identities.token(of: id), in: &step)
        }
    }

    /// Notes that the client of a session is alive.
    package func renewSession(
        _ token: Token, by asker: Asker = .anyone, completion: @escaping Answer<SessionView>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: token)
            return try machine.renewSession(token, in: &step)
        }
    }

    /// Ends a session, for its client; answered when everything bound to it has ended.
    package func endSession(
        _ token: Token, by asker: Asker = .anyone, completion: @escaping Answer<SessionView>
    ) {
        run(by: asker) { machine, _, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: token)
            return try machine.endSession(token, in: &step)
        } answer: { state, result in
            let answer: Result<SessionView, EngineError>
            switch result {
            case .success(.leaving(let session)):
                state.leavers[session, default: []].append(completion)
                return nil
            case .success(.over(let view)): answer = .success(view)
            case .failure(let error): answer = .failure(error)
            }
            return .answer { completion($0.map { .failure($0) } ?? answer) }
        }
    }

    /// A connection that keeps a session alive.
    package struct Attachment: Sendable {
        package let session: SessionID
        /// The era in which it was attached; the state of a later era does not count it.
        let era: Int
    }

    /// Attaches a connection to a session, which lives at least as long as the connection.
    package func attach(
        _ token: Token, by asker: Asker = .anyone, completion: @escaping Answer<Attachment>
    ) {
        run(by: asker) { machine, _, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: token)
            return try machine.attach(token, in: &step)
        } answer: { state, result in
            switch result {
            case .failure(let error): return .answer { completion(.failure($0 ?? error)) }
            case .success(let view):
                let attachment = Attachment(session: view.session.id, era: state.access.era)
                return .answer { [self] failure in
                    guard let failure else { return completion(.success(attachment)) }
                    // It counts although the journal takes nothing at the moment, and nobody else would detach it.
                    detach(attachment, client: .present)
                    completion(.failure(failure))
                }
            }
        }
    }

    /// Detaches a connection, which has closed, from its session.
    ///
    /// - Parameters:
    ///   - attachment: the connection.
    ///   - client: whether its client is gone; then the session has only `Limits.grace` until its next word.
    package func detach(_ attachment: Attachment, client: ClientPresence = .gone) {
        guard state.withLock({ $0.access.era == attachment.era }) else { return }
        tellOnce { machine, step in machine.detach(attachment.session, client: client, in: &step) }
    }
}
