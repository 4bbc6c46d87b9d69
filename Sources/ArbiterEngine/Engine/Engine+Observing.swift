package import ArbiterCore

// Waiting for a state of a scene, without a lock.

extension Engine {
    /// Answers when the scene, or a part of it, has been idle for so long, or when `wait` has run out, with how it is then.
    ///
    /// - Parameters:
    ///   - scene: the scene, which need not exist.
    ///   - part: the controller below which nothing is to be unfinished; without it, the whole scene counts.
    ///   - quiet: for how long it must have been idle.
    ///   - session: the session that the request names, if any.
    ///   - wait: the longest wait.
    ///   - asker: the caller, whose session it has to be.
    ///   - completion: called with the answer; `queueFull` for a part if as many wait for a state of the scene as may.
    /// - Returns: the parked waiter, for `leave` if the connection closes before the answer; `nil` if none is parked.
    @discardableResult
    package func awaitIdle(
        _ scene: SceneName, below part: ControllerID? = nil, for quiet: Duration, session: Token? = nil, wait: Duration,
        by asker: Asker = .anyone, completion: @escaping IdleCompletion
    ) -> WaiterID? {
        observe(session, wait: wait, by: asker) { machine, session, park, step throws(ArbiterError) in
            try machine.awaitIdle(scene, below: part, for: quiet, session: session, park: park, in: &step)
        } as: {
            .idleness($0)
        } completion: { result in
            completion(
                result.map { observation in
                    guard case .idleness(let view) = observation else {
                        preconditionFailure("an await of another state")
                    }
                    return view
                })
        }
    }

    /// Answers when a condition holds, or when `wait` has run out, with whether it does then.
    ///
    /// - Parameters:
    ///   - condition: the condition, on a controller, which need not exist.
    ///   - scene: the scene, which need not exist.
    ///   - session: the session that the request names, if any.
    ///   - wait: the longest wait.
    ///   - asker: the caller, whose session it has to be.
    ///   - completion: called with the answer; `queueFull` if as many wait for a state of the scene as may.
    /// - Returns: the parked waiter, for `leave` if the connection closes before the answer; `nil` if none is parked.
    @discardableResult
    package func observe(
        _ condition: Expectation, of scene: SceneName, session: Token? = nil, wait: Duration,
        by asker: Asker = .anyone, completion: @escaping ConditionCompletion
    ) -> WaiterID? {
        observe(session, wait: wait, by: asker) { machine, session, park, step throws(ArbiterError) in
            try machine.observe(condition, of: scene, session: session, park: park, in: &step)
        } as: {
            .condition($0)
        } completion: { result in
            completion(
                result.map { observation in
                    guard case .condition(let view) = observation else {
                        preconditionFailure("an await of another state")
                    }
                    return view
                })
        }
    }

    private func observe<View>(
        _ session: Token?, wait: Duration, by asker: Asker,
        _ event:
            @escaping (inout ArbiterStateMachine, Token?, Park?, inout Step) throws(ArbiterError)
            -> ObservingAnswer<View>,
        as observation: @escaping @Sendable (View) -> Observation, completion: @escaping ObservationCompletion
    ) -> WaiterID? {
        var park: Park?
        var parked: WaiterID?
        run(by: asker) { machine, identities, step throws(ArbiterError) in
            park = identities.park(for: min(wait, machine.limits.longestWait))
            return try event(&machine, machine.own(session, of: asker.caller), park, &step)
        } answer: { state, result in
            switch result {
            case .success(.now(let view)): return .observation(completion, .success(observation(view)))
            case .failure(let error): return .observation(completion, .failure(error))
            case .success(.parked):
                guard let waiter = park?.waiter else { preconditionFailure("an await parked without a waiter") }
                state.observers[waiter] = completion
                return nil
            }
        } conclude: { state in
            parked = park.flatMap { state.observers[$0.waiter] == nil ? nil : $0.waiter }
        }
        return parked
    }
}
