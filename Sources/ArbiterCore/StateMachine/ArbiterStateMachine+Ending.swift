// How owners and administrators end transitions, and how owners keep them.

extension ArbiterStateMachine {
    /// The owner ends its transition.
    ///
    /// A queued transition that is ended as `completed` keeps its place, and completes at its grant. One that waits for a guard's
    /// answer completes when it would begin to run.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - token: the token of its owner.
    ///   - given: the outcome; with `nil`, the decision of the gesture counts, or else `completed`.
    ///   - step: the turn.
    /// - Returns: the transition afterwards.
    /// - Throws: `unknownTransition`, `wrongToken`, `alreadyEnded`, `alreadyDecided`, `endedWithoutOwner`.
    package mutating func end(
        _ id: TransitionID, token: Token, as given: EndOutcome?, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        let transition = try owned(id, token: token, in: step)
        let outcome = given ?? transition.decidedOutcome
        switch transition.phase {
        case .ended(let ending):
            return try repeated(outcome, of: transition, ending: ending, at: step.now)
        case .queued, .preparing, .running:
            try checkGesture(of: transition, allows: outcome, at: step.now)
            switch (outcome, transition.hasRememberedEnd) {
            case (.cancelled, true):
                throw .alreadyEnded(view(of: transition, at: step.now))
            case (.completed, true):
                break
            case (.completed, false) where transition.mustWaitToComplete:
                step.keep(.end(id, token: token, outcome))
                rememberEnd(of: transition, at: step.now)
            case (.completed, false), (.cancelled, false):
                step.keep(.end(id, token: token, outcome))
                return endAndGrant(id, as: TransitionOutcome(outcome), in: &step)
            }
        }
        return try view(of: id, at: step.now)
    }

    /// Notes that the owner of a transition, which does not run yet, has ended it.
    private mutating func rememberEnd(of transition: Transition, at now: Instant) {
        if transition.isQueued {
            durable.transitions[transition.id]?.completeAtGrant()
        } else {
            durable.transitions[transition.id]?.completeWhenReady()
        }
        attend(transition.id, at: now)
    }

    /// - Throws: `alreadyDecided` if its gesture was decided otherwise.
    private func checkGesture(
        of transition: Transition, allows outcome: EndOutcome, at now: Instant
    ) throws(ArbiterError) {
        switch (transition.gesture?.decision, outcome) {
        case (nil, _), (.finish, .completed), (.cancel, .cancelled): break
        case (.finish, .cancelled), (.cancel, .completed): throw .alreadyDecided(view(of: transition, at: now))
        }
    }

    /// The answer to an end of a transition that has already ended.
    ///
    /// - Throws: `alreadyEnded` or `endedWithoutOwner` if it ended with another outcome.
    private func repeated(
        _ outcome: EndOutcome, of transition: Transition, ending: Transition.Ending, at now: Instant
    ) throws(ArbiterError) -> TransitionView {
        let view = view(of: transition, at: now)
        switch (ending.outcome, outcome) {
        case (.completed, .completed), (.cancelled, .cancelled): return view
        case (.completed, .cancelled), (.cancelled, .completed): throw .alreadyEnded(view)
        case (.expired, _), (.rejected, _), (.superseded, _), (.revoked, _): throw .endedWithoutOwner(view)
        }
    }

    /// An administrator ends a transition instead of its owner, or somebody its own; the hierarchy does not change.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - principal: who ends it, if it has to be its own.
    ///   - revocation: why, and by whom.
    ///   - step: the turn.
    /// - Returns: the transition afterwards.
    /// - Throws: `unknownTransition`, `foreignTransition`, `alreadyEnded`, `endedWithoutOwner`.
    package mutating func revoke(
        _ id: TransitionID, ownedBy principal: PrincipalName? = nil, _ revocation: Revocation, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        if let principal, transition.request.principal != principal { throw .foreignTransition(id) }
        switch transition.phase {
        case .queued, .preparing, .running:
            step.keep(.revoke(id, revocation))
            return endAndGrant(id, as: .revoked(revocation), in: &step)
        case .ended(let ending):
            let view = view(of: transition, at: step.now)
            switch ending.outcome {
            case .revoked: return view
            case .completed, .cancelled: throw .alreadyEnded(view)
            case .expired, .rejected, .superseded: throw .endedWithoutOwner(view)
            }
        }
    }

    /// An administrator ends unfinished transitions of a scene in one step, or somebody its own; the hierarchy does not change.
    ///
    /// - Parameters:
    ///   - name: the scene.
    ///   - client: only those of this client.
    ///   - principal: only those of this principal.
    ///   - revocation: why, and by whom.
    ///   - step: the turn.
    /// - Returns: those that ended, in the order of the line; those that were set aside come last.
    /// - Throws: `unknownScene`, `olderRules`.
    package mutating func revokeAll(
        in name: SceneName, of client: ClientName? = nil, ownedBy principal: PrincipalName? = nil,
        _ revocation: Revocation, in step: inout Step
    ) throws(ArbiterError) -> [TransitionID] {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        try checkRules(.second)
        let unfinished = scene.queue.unfinished + scene.aside.inOrder
        let revoked = unfinished.compactMap { durable.transitions[$0] }.filter { transition in
            (client.map { $0 == transition.request.client } ?? true)
                && (principal.map { $0 == transition.request.principal } ?? true)
        }
        guard !revoked.isEmpty else { return [] }
        step.keep(.revokeAll(name, client: client, ownedBy: principal, revocation))
        for transition in revoked { end(transition.id, as: .revoked(revocation), in: &step) }
        settle(name, step: &step)
        prune(at: step.now)
        return revoked.map(\.id)
    }

    /// The owner shows that it is alive: the lease or the ticket's time starts again.
    ///
    /// - Throws: `unknownTransition`, `wrongToken`, `alreadyEnded`, `endedWithoutOwner`.
    package mutating func renew(
        _ id: TransitionID, token: Token, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        let transition = try owned(id, token: token, in: step)
        let view = view(of: transition, at: step.now)
        switch transition.phase {
        case .queued, .preparing, .running:
            attend(id, at: step.now)
            return try self.view(of: id, at: step.now)
        case .ended(let ending):
            throw ending.outcome.isOwners ? .alreadyEnded(view) : .endedWithoutOwner(view)
        }
    }

    /// A transition, if the token is its own; the session that binds it has heard from its client.
    ///
    /// - Throws: `unknownTransition`, `wrongToken`.
    mutating func owned(
        _ id: TransitionID, token: Token, in step: borrowing Step
    ) throws(ArbiterError) -> Transition {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        guard transition.token.matches(token) else { throw .wrongToken(id) }
        if let session = transition.session { hear(session, in: step) }
        return transition
    }
}

extension Transition {
    /// Whether its end as completed has to wait: for its turn, or for the answer of a guard.
    fileprivate var mustWaitToComplete: Bool { isQueued || state == .preparing && isMissingGuards }

    /// The outcome that an end without an outcome stands for.
    fileprivate var decidedOutcome: EndOutcome {
        switch gesture?.decision {
        case .cancel: .cancelled
        case .finish, nil: .completed
        }
    }
}

extension TransitionOutcome {
    init(_ outcome: EndOutcome) {
        switch outcome {
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        }
    }
}
