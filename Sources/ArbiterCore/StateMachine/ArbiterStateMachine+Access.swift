// What exists for a caller.

extension ArbiterStateMachine {
    /// Checks that a transition exists for a caller; one in a scene that the caller may not use does not.
    ///
    /// - Throws: `unknownTransition`, as if there were no such transition.
    package func check(_ caller: Caller, maySee id: TransitionID) throws(ArbiterError) {
        guard case .matching = caller.scenes, let transition = durable.transitions[id] else { return }
        guard caller.scenes.contains(transition.request.scene) else { throw .unknownTransition(id) }
    }

    /// Checks that a session is the caller's own; without a session, and if it has ended, there is nothing to check.
    ///
    /// - Throws: `unknownSession`, as if there were no such session.
    package func check(_ caller: Caller, owns token: Token?) throws(ArbiterError) {
        guard let session = token.flatMap({ durable.session(of: $0) }) else { return }
        guard session.caller.principal == caller.principal else { throw .unknownSession }
    }

    /// A session that a request names, unless it is another caller's, which does not exist for this one.
    package func own(_ token: Token?, of caller: Caller) -> Token? {
        (try? check(caller, owns: token)) == nil ? nil : token
    }

    /// Notes a request that names a session; nothing if the session is not known, or another caller's.
    package mutating func hear(_ token: Token, from caller: Caller, in step: inout Step) {
        guard (try? check(caller, owns: token)) != nil else { return }
        hear(token, in: &step)
    }
}

extension Transition {
    /// Whether a request asks for what its own request asked for.
    func asksTheSame(as other: TransitionRequest) -> Bool {
        var asked = request
        if isPerformed { asked.operation = nil }
        return asked.asksTheSame(as: other)
    }
}

extension TransitionRequest {
    /// Its idempotency key, which belongs to its principal and its scene.
    var ownedKey: OwnedKey? { idempotencyKey.map { OwnedKey(principal: principal, scene: scene, key: $0) } }

    /// Whether another request asks for the same; a repeated request may be another span of a trace, and what its principal may
    /// have is not what it asks for.
    fileprivate func asksTheSame(as other: TransitionRequest) -> Bool {
        guard trace != other.trace || highestPriority != other.highestPriority else { return self == other }
        var copy = self
        copy.trace = other.trace
        copy.highestPriority = other.highestPriority
        return copy == other
    }
}
