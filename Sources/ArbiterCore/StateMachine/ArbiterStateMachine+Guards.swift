// Guards: clients that are asked before controllers are removed.

extension ArbiterStateMachine {
    /// A client wants to be asked before controllers of a scene are removed; the same again is the same guard.
    ///
    /// - Parameters:
    ///   - controllers: their ids, at least one, each once; there may be no such controllers yet.
    ///   - name: the scene.
    ///   - onSilence: what happens to a transition for which the client says nothing in time.
    ///   - id: an id that is not in use in the scene.
    ///   - token: the token of the client's session, with which the guard ends.
    ///   - step: the turn.
    /// - Returns: the guard.
    /// - Throws: `unknownSession`, `namelessSession`, `notAParticipant`, `olderRules`, `tooManyGuards`, `tooManyScenes`, `lacksStorage`, `outOfRoom`,
    ///   `shareUsedUp`.
    package mutating func addGuard(
        of controllers: [ControllerID], in name: SceneName, onSilence: UnreadyAction, id: GuardID,
        session token: Token, in step: inout Step
    ) throws(ArbiterError) -> Guard {
        let session = try session(token)
        hear(session.id, in: step)
        guard let client = session.client else { throw .namelessSession }
        guard session.caller.scenes.contains(name) else { throw .notAParticipant(client) }
        try checkRules(.second)
        let same = durable.scenes[name]?.guards.first {
            $0.session == session.id && $0.controllers == controllers && $0.onSilence == onSilence
        }
        if let same { return same }
        let count = (durable.scenes[name]?.guardedCount ?? 0) + controllers.count
        guard count <= Limits.guardedControllers else { throw .tooManyGuards(limit: Limits.guardedControllers) }
        let scenes = durable.index.guards[session.id] ?? []
        guard scenes.count < Limits.guardedScenes || scenes.contains(name) else {
            throw .tooManyGuardedScenes(limit: Limits.guardedScenes)
        }
        try checkStorage()
        try admitScene(name)
        let new = Guard(
            id: id, session: session.id, client: client, controllers: controllers, onSilence: onSilence)
        try admitBytes(of: new, in: name)
        add(new, to: name, in: &step)
        return new
    }

    /// Whether a guard of a scene has the id; then it must not be drawn again there.
    package func isInUse(_ id: GuardID, in name: SceneName) -> Bool {
        durable.scenes[name]?.guards.contains { $0.id == id } == true
    }

    /// The guards of a scene, in the order in which they were set.
    package func guards(of name: SceneName) -> [Guard] { durable.scenes[name]?.guards ?? [] }

    /// Adds a guard to a scene.
    mutating func add(_ new: Guard, to name: SceneName, in step: inout Step) {
        guard durable.sessions[new.session] != nil else { return }
        step.keep(.addGuard(name, new))
        make(name, at: durable.lastOrder, in: &step)
        durable.changeScene(name) { $0.guards.append(new) }
        durable.memory.charge(new.byteCount, to: new.session)
        durable.index.guards[new.session, default: []].insert(name)
        durable.visit(name, by: new.session)
    }

    /// A client takes back its guard, or an administrator does.
    ///
    /// - Parameters:
    ///   - id: the guard.
    ///   - name: its scene.
    ///   - token: the token of the session that set it; an administrator needs none.
    ///   - step: the turn.
    /// - Throws: `unknownSession`, `unknownScene`, `unknownGuard`, `foreignGuard`.
    package mutating func removeGuard(
        _ id: GuardID, of name: SceneName, session token: Token?, in step: inout Step
    ) throws(ArbiterError) {
        var session: SessionID?
        if let token {
            let speaker = try self.session(token).id
            hear(speaker, in: step)
            session = speaker
        }
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        guard let known = scene.guards.first(where: { $0.id == id }) else { throw .unknownGuard(id) }
        if let session, known.session != session { throw .foreignGuard(id) }
        removeGuard(id, of: name, in: &step)
    }

    /// Removes a guard from a scene; nothing if it has none of the kind.
    mutating func removeGuard(_ id: GuardID, of name: SceneName, in step: inout Step) {
        guard durable.scenes[name]?.guards.contains(where: { $0.id == id }) == true else { return }
        step.keep(.removeGuard(name, id))
        withdrawGuards(of: name, in: &step) { $0.id == id }
        settle(name, step: &step)
        prune(at: step.now)
    }

    /// Removes guards from a scene: transitions do not wait for them any more.
    ///
    /// The caller grants what this unblocks.
    mutating func withdrawGuards(of name: SceneName, in step: inout Step, where isMeant: (Guard) -> Bool) {
        let withdrawn = (durable.scenes[name]?.guards ?? []).filter(isMeant)
        forget(withdrawn, of: name)
        let ids = Set(withdrawn.map(\.id))
        for asking in preparing(in: name) where asking.participants.contains(where: { isWaited($0) }) {
            durable.transitions[asking.id]?.mark(as: .gone) { isWaited($0) }
            if !runIfAllAreReady(asking.id, in: &step) { hurry(asking) }
        }

        func isWaited(_ participant: Participant) -> Bool {
            participant.state == .waiting && participant.asked.map { ids.contains($0.by) } == true
        }
    }

    /// The transitions of a scene that prepare, in the order of their requests.
    private func preparing(in name: SceneName) -> [Transition] {
        let granted = durable.scenes[name]?.queue.granted ?? []
        return granted.compactMap { place in durable.scenes[name]?.queue[place] }
            .compactMap { durable.transitions[$0.id] }.filter { $0.state == .preparing }.sorted { $0.order < $1.order }
    }

    /// Gives the other participants of a transition no longer than they have without guards, once all guards have answered.
    ///
    /// - Parameter transition: the transition before the last answer.
    private mutating func hurry(_ transition: Transition) {
        guard let now = durable.transitions[transition.id], now.state == .preparing, !now.isMissingGuards,
            let deadline = momentary.deadlines[.ready(transition.id)]
        else { return }
        let extra = transition.timeToPrepare - now.timeToPrepare
        momentary.deadlines.schedule(.ready(transition.id), at: deadline.advanced(by: .zero - extra))
    }

    /// Removes guards from a scene, without a word to anybody.
    mutating func forget(_ guards: [Guard], of name: SceneName) {
        guard !guards.isEmpty else { return }
        let ids = Set(guards.map(\.id))
        durable.changeScene(name) { scene in scene.guards.removeAll { ids.contains($0.id) } }
        for gone in guards { durable.memory.charge(-gone.byteCount, to: gone.session) }
        for session in Set(guards.map(\.session))
        where durable.scenes[name]?.guards.contains(where: { $0.session == session }) != true {
            durable.index.guards[session]?.remove(name)
            if durable.index.guards[session]?.isEmpty == true { durable.index.guards.removeValue(forKey: session) }
        }
        momentary.mayHaveIdleScenes = true
    }

    /// Notes that a client is ready.
    ///
    /// One answer counts for all its guards that a preparing transition asks, and for its part in the transition.
    ///
    /// - Returns: whether the transition has ended, because its owner had ended it before.
    mutating func answerGuards(of id: TransitionID, in session: SessionID, in step: inout Step) -> Bool {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            let client = durable.sessions[session]?.client,
            transition.participants.contains(where: {
                $0.state != .ready && $0.isSpokenFor(by: client, in: session)
            })
        else { return false }
        step.keep(.answerGuards(id, session))
        durable.transitions[id]?.mark(as: .ready) { $0.isSpokenFor(by: client, in: session) }
        let hasEnded = runAndSettle(id, in: &step)
        if !hasEnded { hurry(transition) }
        return hasEnded
    }

    /// The guards of other sessions against what an operation would remove.
    ///
    /// - Throws: `guarded` if there are any.
    func checkGuards(of transition: Transition, performing plan: OperationPlan?) throws(ArbiterError) {
        guard let scene = durable.scenes[transition.request.scene] else { return }
        let guards = scene.guards(against: plan, of: transition.session)
        guard guards.isEmpty else { throw .guarded(guards) }
    }
}
