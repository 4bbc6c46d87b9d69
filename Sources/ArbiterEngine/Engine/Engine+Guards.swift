package import ArbiterCore

// Guards of controllers.

extension Engine {
    /// Sets a guard, which ends with its session.
    ///
    /// - Parameters:
    ///   - controllers: the ids of the controllers, at least one, each once.
    ///   - scene: their scene.
    ///   - onSilence: what happens to a transition for which the client of the session says nothing in time.
    ///   - session: the token of the session.
    ///   - asker: who sets it.
    ///   - completion: called with the guard.
    package func addGuard(
        of controllers: [ControllerID], in scene: SceneName, onSilence: UnreadyAction, session: Token,
        by asker: Asker = .anyone, completion: @escaping Answer<Guard>
    ) {
        ask(.other, by: asker, completion) { machine, identities, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: session)
            return try machine.addGuard(
                of: controllers, in: scene, onSilence: onSilence, id: identities.guard(in: scene, of: machine),
                session: session, in: &step)
        }
    }

    /// Removes a guard, for the client of its session or, without a session, for an administrator.
    package func removeGuard(
        _ id: GuardID, of scene: SceneName, session: Token?, by asker: Asker = .anyone,
        completion: @escaping Answer<Void>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: session)
            try machine.removeGuard(id, of: scene, session: session, in: &step)
        }
    }
}
