package import ArbiterCore

// Requests of clients, and what the shell observes.

extension Engine {
    /// Called exactly once, with the answer or with the reason why there is none.
    package typealias Answer<Value> = @Sendable (Result<Value, EngineError>) -> Void

    /// Requests a transition that is granted now or refused.
    package func start(_ request: TransitionRequest, by asker: Asker = .anyone, completion: @escaping Completion) {
        submit(.transition(request), by: asker, completion) { machine, identities, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: request.session)
            let id = identities.transition(in: request.scene, of: machine)
            return try machine.start(machine.named(request), id: id, token: identities.token(), in: &step)
        }
    }

    /// Requests a transition that may wait in the queue; the answer comes at the grant, or when `wait` has run out.
    ///
    /// - Returns: the parked waiter, for `leave` if the connection closes before the answer; `nil` if none is parked.
    @discardableResult
    package func serialize(
        _ request: TransitionRequest, wait: Duration, by asker: Asker = .anyone, completion: @escaping Completion
    ) -> WaiterID? {
        park(.transition(request), by: asker, for: wait, completion) {
            machine, identities, park, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: request.session)
            let id = identities.transition(in: request.scene, of: machine)
            return try machine.serialize(
                machine.named(request), id: id, token: identities.token(), park: park, in: &step)
        }
    }

    /// Answers what would come of a request now; nothing changes.
    package func dryRun(
        _ request: TransitionRequest, isSerialized: Bool, by asker: Asker = .anyone,
        completion: @escaping Answer<DryRun>
    ) {
        ask(.transition(request), by: asker, completion) { machine, _, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: request.session)
            return try machine.dryRun(request, isSerialized: isSerialized, at: step.moment.instant)
        }
    }

    /// Answers when the transition has reached the milestone, or when `wait` has run out.
    ///
    /// - Returns: the parked waiter, for `leave` if the connection closes before the answer; `nil` if none is parked.
    @discardableResult
    package func wait(
        on id: TransitionID, token: Token?, until milestone: Milestone, claims: Bool = false, session: Token? = nil,
        wait: Duration, by asker: Asker = .anyone, completion: @escaping Completion
    ) -> WaiterID? {
        park(.other, by: asker, for: wait, completion) { machine, _, park, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            let session = machine.own(session, of: asker.caller)
            let park = token == nil ? park : park.map { ownersPark($0, on: id, of: machine) }
            return try machine.wait(
                on: id, token: token, until: milestone, claims: claims, session: session, park: park, in: &step)
        }
    }

    /// How the await of an owner parks: not for long, where another process may take over.
    ///
    /// An engine that is paused grants nothing, but its successor does, and the lease runs out there. So the owner, who counts
    /// its lease from when it asked, has to ask again well within it.
    private func ownersPark(_ park: Park, on id: TransitionID, of machine: borrowing ArbiterStateMachine) -> Park {
        guard ownership != nil, let transition = (try? machine.view(of: id, at: now().instant))?.transition,
            transition.grant != nil
        else { return park }
        return Park(waiter: park.waiter, wait: min(park.wait, transition.lease / Self.ownersAwaitsInLease))
    }

    /// How many awaits of an owner, one after the other, there are at least within a lease.
    private static let ownersAwaitsInLease = 3

    /// Notes a request of a session's client, whatever it asks for; nothing if the session is not known.
    package func hear(_ session: Token, from asker: Asker = .anyone) {
        tell(by: Asker(asker.caller, asker.presence, naming: session)) { _, _ in }
    }

    /// Ends a transition; without an outcome, the decision of its gesture counts, or else `completed`.
    package func end(
        _ id: TransitionID, token: Token, as outcome: EndOutcome?, by asker: Asker = .anyone,
        completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.end(id, token: token, as: outcome, in: &step)
        }
    }

    /// Ends a transition instead of its owner, for an administrator, or for the principal that it belongs to.
    package func revoke(
        _ id: TransitionID, ownedBy principal: PrincipalName? = nil, because reason: GivenReason,
        by asker: Asker = .anyone, completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            let revocation = Revocation(reason, by: asker.caller.principal)
            return try machine.revoke(id, ownedBy: principal, revocation, in: &step)
        }
    }

    /// Ends the unfinished transitions of a scene in one step, or those of a client, or of a principal; the answer has their ids.
    package func revokeAll(
        in scene: SceneName, of client: ClientName?, ownedBy principal: PrincipalName? = nil,
        because reason: GivenReason, by asker: Asker = .anyone, completion: @escaping Answer<[TransitionID]>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            let revocation = Revocation(reason, by: asker.caller.principal)
            return try machine.revokeAll(in: scene, of: client, ownedBy: principal, revocation, in: &step)
        }
    }

    /// Changes how a transition is animated.
    package func update(
        _ id: TransitionID, token: Token, _ update: AnimationUpdate, by asker: Asker = .anyone,
        completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.update(id, token: token, update, in: &step)
        }
    }

    /// Notes that the owner of a transition is alive.
    package func renew(
        _ id: TransitionID, token: Token, by asker: Asker = .anyone, completion: @escaping Completion
    ) {
        submit(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.renew(id, token: token, in: &step)
        }
    }

    /// Gives a running transition, which has none, its operation.
    package func perform(
        _ id: TransitionID, token: Token, _ operation: Operation, expecting expectations: [Expectation],
        ignoresGuards: Bool = false, by asker: Asker = .anyone, completion: @escaping Answer<PerformAnswer>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, maySee: id)
            return try machine.perform(
                id, token: token, operation, expecting: expectations, ignoresGuards: ignoresGuards, in: &step)
        }
    }

    /// Declares a scene's hierarchy, segues, transition types and defaults; the answer is the storyboard's new version.
    package func declare(
        _ scene: SceneName, _ storyboard: Storyboard, if precondition: Precondition = .none,
        completion: @escaping Answer<StoryboardVersion>
    ) {
        ask(completion) { machine, step throws(ArbiterError) in
            try machine.declare(scene, storyboard, if: precondition, in: &step)
        }
    }

    /// Changes a scene's segues, transition types or defaults; the answer is the storyboard's version.
    package func patch(
        _ scene: SceneName, _ patch: StoryboardPatch, if precondition: Precondition = .none,
        completion: @escaping Answer<StoryboardVersion>
    ) {
        ask(completion) { machine, step throws(ArbiterError) in
            try machine.patch(scene, patch, if: precondition, in: &step)
        }
    }

    /// Deletes a scene.
    package func delete(
        _ scene: SceneName, if precondition: Precondition = .none, completion: @escaping Answer<Void>
    ) {
        ask(completion) { machine, step throws(ArbiterError) in
            try machine.delete(scene, if: precondition, in: &step)
        }
    }

    /// Notes that the connection of a waiter has closed; its completion will not be called.
    ///
    /// - Parameters:
    ///   - waiter: the waiter.
    ///   - client: whether its client is gone, or something between closed the connection.
    package func leave(_ waiter: WaiterID, client: ClientPresence = .gone) {
        tellOnce { state in
            state.parked.removeValue(forKey: waiter)
            state.observers.removeValue(forKey: waiter)
        } _: { machine, step in
            machine.leave(waiter, client: client, in: &step)
        }
    }

    /// Answers every parked await with the current state; from then on no await parks.
    package func drain() {
        tell { state in
            state.advance(to: .draining)
        } _: { machine, step in
            machine.drain(in: &step)
        }
    }

    /// Says whether hardly any room is left where the state is stored; then nothing new is admitted.
    package func setStorage(isShort: Bool) { state.withLock { $0.machine.lacksStorage = isShort } }

    /// The number of the newest event of each scene and over all scenes; for the start, before any request.
    package func lastEvents() -> (scenes: [SceneName: EventNumber], overall: EventNumber) {
        state.withLock { ($0.machine.lastEvents(), $0.machine.lastEvent) }
    }

    /// Reads the state; the answer comes once everything that it was computed from is committed.
    package func read<Value: Sendable>(
        _ question: (borrowing ArbiterStateMachine, Instant) throws(ArbiterError) -> Value,
        completion: @escaping Answer<Value>
    ) {
        ask(completion) { machine, step throws(ArbiterError) in try question(machine, step.moment.instant) }
    }

    /// Whether the journal can be written.
    package var isAvailable: Bool { state.withLock { $0.failure == nil } }

    /// Looks at the state as it is, whether or not it is committed, in no turn: for gauges and checks, never for an answer.
    package func inspect<Value: Sendable>(_ body: (borrowing ArbiterStateMachine) -> Value) -> Value {
        state.withLock { body($0.machine) }
    }
}
