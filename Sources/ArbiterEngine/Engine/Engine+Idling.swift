package import ArbiterCore

// Waiting for a scene to be idle.

extension Engine {
    /// Answers when the scene has been idle for so long, or when `wait` has run out, with the scene as it is then.
    ///
    /// - Parameters:
    ///   - scene: the scene, which need not exist.
    ///   - quiet: for how long it must have been idle.
    ///   - session: the session that the request names, if any.
    ///   - wait: the longest wait.
    ///   - asker: the caller, whose session it has to be.
    ///   - completion: called with the answer.
    /// - Returns: the parked waiter, for `leave` if the connection closes before the answer; `nil` if none is parked.
    @discardableResult
    package func awaitIdle(
        _ scene: SceneName, for quiet: Duration, session: Token? = nil, wait: Duration,
        by asker: Asker = .anyone, completion: @escaping IdleCompletion
    ) -> WaiterID? {
        var park: Park?
        var parked: WaiterID?
        run(by: asker) { machine, identities, step in
            park = identities.park(for: min(wait, machine.limits.longestWait))
            let session = machine.own(session, of: asker.caller)
            return machine.awaitIdle(scene, for: quiet, session: session, park: park, in: &step)
        } answer: { state, result in
            switch result {
            case .success(.now(let view)): return .idle(completion, .success(view))
            case .failure(let error): return .idle(completion, .failure(error))
            case .success(.parked):
                guard let waiter = park?.waiter else { preconditionFailure("an await parked without a waiter") }
                state.idlers[waiter] = completion
                return nil
            }
        } conclude: { state in
            parked = park.flatMap { state.idlers[$0.waiter] == nil ? nil : $0.waiter }
        }
        return parked
    }
}
