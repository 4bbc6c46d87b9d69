internal import ArbiterCore
internal import ArbiterModel

// Guards, and the words of those who take part in a transition.

extension Rulebook {
    func addGuard(
        of controllers: [ControllerID], in scene: SceneName, _ onSilence: UnreadyAction, _ token: Token, _ drawn: Drawn
    ) -> Prediction {
        guard let session = oracle.sessions[token] else { return refused(.unknownSession) }
        guard let client = session.client else { return refused(.namelessSession) }
        let same = oracle.scene(scene).guards.first {
            $0.session == session.id && $0.controllers == controllers && $0.onSilence == onSilence
        }
        if let same { return Prediction(verdict: .guarding(same.id)) }
        let guarded = oracle.scene(scene).guards.flatMap(\.controllers).count
        guard guarded + controllers.count <= 64 else { return refused(.tooManyGuards) }
        if let refusal = refusalOfScene(scene) { return refused(refusal) }
        let new = Guard(
            id: drawn.guarding, session: session.id, client: client, controllers: controllers, onSilence: onSilence)
        return Prediction(verdict: .guarding(new.id), record: .addGuard(scene, new))
    }

    func removeGuard(_ id: GuardID, of scene: SceneName, _ token: Token) -> Prediction {
        guard let session = oracle.sessions[token] else { return refused(.unknownSession) }
        guard let known = oracle.scenes[scene] else { return refused(.unknownScene) }
        guard let guardian = known.guards.first(where: { $0.id == id }) else { return refused(.unknownGuard) }
        guard guardian.session == session.id else { return refused(.foreignGuard) }
        return Prediction(verdict: .done, record: .removeGuard(scene, id))
    }

    func report(
        _ readiness: Readiness, on id: TransitionID, _ client: ClientName, _ token: Token
    ) -> Prediction {
        guard let entry = ledger[id], entry.forgotten == nil else { return refused(.unknownTransition) }
        guard let session = oracle.sessions[token] else { return refused(.unknownSession) }
        let members = entry.request.participants.map { NaiveOracle.Member($0) }
        let asked = entry.asked.filter { member in !entry.withdrawn.contains { $0.guard == member.asked?.by } }
        let spokenFor = (members + asked).filter { $0.isSpokenFor(by: client, in: session.id) }
        guard session.client == client, !spokenFor.isEmpty else { return refused(.notAParticipant) }
        if case .veto = readiness, !spokenFor.contains(where: \.mayVeto) { return refused(.mayNotVeto) }
        if entry.isQueued { return refused(.notRunning) }
        if case .veto(let reason) = readiness {
            if entry.isPreparing {
                return Prediction(verdict: .transition(id), record: .veto(id, by: client, reason))
            }
            guard case .rejected(.vetoed(client, _)) = entry.ending?.outcome else { return refused(.tooLate) }
            return Prediction(verdict: .transition(id))
        }
        let hasAnswered = entry.answered.contains { $0.session == session.id }
        let isReady = spokenFor.allSatisfy { member in
            hasAnswered || member.asked == nil && entry.readied.contains { $0.client == client }
        }
        guard entry.isPreparing else { return isReady ? Prediction(verdict: .transition(id)) : refused(.tooLate) }
        let isAsked = spokenFor.contains { $0.asked != nil }
        let record: Record = isAsked ? .answerGuards(id, session.id) : .markReady(id, client: client)
        return Prediction(verdict: .transition(id), record: isReady ? nil : record)
    }
}
