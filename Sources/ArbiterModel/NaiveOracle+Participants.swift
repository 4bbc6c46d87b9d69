package import ArbiterCore

// Sessions and participants.

extension NaiveOracle.Member {
    package init(_ participant: Participant) {
        client = participant.client
        isRequired = participant.isRequired
        mayVeto = participant.mayVeto
        asked = participant.asked
        state = participant.state
    }

    /// Whether a transition still waits for it.
    var isMissing: Bool { isRequired && state == .waiting }

    /// Whether a client speaks for it in a session.
    package func isSpokenFor(by client: ClientName?, in session: SessionID) -> Bool {
        guard let asked else { return self.client == client }
        return asked.session == session && state != .gone
    }
}

extension NaiveOracle.Entry {
    /// Whether it waits for the answer of a guard.
    package var isMissingGuards: Bool { members.contains { $0.asked != nil && $0.isMissing } }

    /// Whether it expires if those say nothing that it waits for.
    package var abortsOnSilence: Bool {
        members.contains { $0.isMissing && ($0.asked?.onSilence ?? request.onUnready) == .abort }
    }

    /// How long it waits for its participants.
    package var timeToPrepare: Duration {
        isMissingGuards ? max(request.ready, Limits.guardsReady) : request.ready
    }

    /// Whether its end as completed has to wait.
    package var mustWaitToComplete: Bool { state == .queued || state == .preparing && isMissingGuards }
}

extension NaiveOracle {
    /// A participant is ready.
    package mutating func markReady(_ id: TransitionID, _ client: ClientName) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        for member in line[index].members.indices
        where line[index].members[member].client == client && line[index].members[member].asked == nil {
            line[index].members[member].state = .ready
        }
        runIfReady(index)
    }

    /// A client is ready in a session, for all that it is asked there.
    mutating func answerGuards(of id: TransitionID, in session: SessionID) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        let client = sessions.values.first { $0.id == session }?.client
        for member in line[index].members.indices
        where line[index].members[member].isSpokenFor(by: client, in: session) {
            line[index].members[member].state = .ready
        }
        let scene = line[index].scene
        runIfReady(index)
        settle(scene)
    }

    /// A participant says that the transition must not run.
    package mutating func veto(_ id: TransitionID, _ client: ClientName, _ reason: GivenReason?) {
        finish(id, as: .vetoed(by: client, reason))
    }

    /// The time of the participants has run out.
    package mutating func timeOutParticipants(of id: TransitionID) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        let entry = line[index]
        if entry.abortsOnSilence { return finish(id, as: .expired(.participants)) }
        begin(index)
        settle(entry.scene)
    }

    private mutating func runIfReady(_ index: Int) {
        if line[index].state == .preparing, !line[index].members.contains(where: \.isMissing) { begin(index) }
    }

    // MARK: - Guards

    /// Whom a transition asks before it runs: who guards a controller that its operation removes, in another session.
    func asked(about change: NaiveChange?, by entry: Entry) -> [Member] {
        guard let change else { return [] }
        let scene = scene(entry.scene)
        let gone = Set(scene.tree.nodes.keys.filter { change.tree.nodes[$0] == nil || change.gone.contains($0) })
        return scene.guards.filter { guardian in
            guardian.session != entry.session
                && guardian.controllers.contains { id in
                    overlooksGuards ? change.removed.contains(id) : gone.contains(id)
                }
        }
        .map { guardian in
            Member(
                Participant(
                    client: guardian.client, mayVeto: true,
                    asked: Participant.Asked(by: guardian.id, guardian.session, guardian.onSilence)))
        }
    }

    /// Whether an operation would remove what another session guards.
    package func isGuarded(_ change: NaiveChange?, from entry: Entry) -> Bool {
        !asked(about: change, by: entry).isEmpty
    }

    mutating func add(_ new: Guard, to name: SceneName) {
        make(name)
        scenes[name]?.guards.append(new)
        if let token = sessions.first(where: { $0.value.id == new.session })?.key { visit(name, by: token) }
    }

    mutating func removeGuards(of name: SceneName, where isMeant: (Guard) -> Bool) {
        withdrawGuards(of: name, where: isMeant)
        settle(name)
    }

    /// Removes guards from a scene: nobody waits for them any more.
    private mutating func withdrawGuards(of name: SceneName, where isMeant: (Guard) -> Bool) {
        let gone = (scenes[name]?.guards ?? []).filter(isMeant).map(\.id)
        scenes[name]?.guards.removeAll { gone.contains($0.id) }
        for id in line.sorted(by: { $0.order < $1.order }).map(\.id) {
            guard let index = line.firstIndex(where: { $0.id == id }), line[index].state == .preparing else { continue }
            for member in line[index].members.indices where line[index].members[member].state == .waiting {
                guard let asked = line[index].members[member].asked, gone.contains(asked.by) else { continue }
                line[index].members[member].state = .gone
            }
            runIfReady(index)
        }
    }

    /// Ends a session and everything bound to it, and grants only afterwards.
    package mutating func end(_ id: SessionID, because ending: SessionEnding) {
        guard let (token, session) = sessions.first(where: { $0.value.id == id }) else { return }
        let joined = line.filter { $0.members.contains { $0.client == session.client } }
            .sorted { $0.order > $1.order }.prefix(Limits.scenesOfSession).map(\.scene)
        let scenes = namedAtEnd(of: session, joined)
        sessions.removeValue(forKey: token)
        for entry in line where entry.session == id && !entry.hasRememberedEnd {
            close(entry.id, as: .expired(.sessionLost))
        }
        let guarded = self.scenes.filter { $0.value.guards.contains { $0.session == id } }.map(\.key)
            .sorted { $0.description < $1.description }
        for scene in guarded { withdrawGuards(of: scene) { $0.session == id } }
        if let client = session.client, !sessions.values.contains(where: { $0.client == client }) { part(client) }
        for scene in scenes { tell(.sessionEnded(id, ending), in: scene) }
        for scene in Set(scenes + guarded + joined).sorted(by: { $0.description < $1.description }) { settle(scene) }
    }

    /// The scenes that get an event of a session's end: those used last.
    private func namedAtEnd(of session: Session, _ joined: [SceneName]) -> [SceneName] {
        let bound = line.filter { $0.session == session.id && !$0.hasRememberedEnd }.map(\.scene)
        return session.scenes.union(joined).union(bound).sorted { scene($0).lastOrder > scene($1).lastOrder }
            .prefix(Limits.scenesOfSession).sorted { $0.description < $1.description }
    }

    /// The tickets that expire with an unclaimed grant, itself included, in line order.
    ///
    /// - Parameters:
    ///   - id: the grant.
    ///   - isSilent: whether the owner of a ticket has said nothing since the grant.
    /// - Returns: their ids.
    package func row(behind id: TransitionID, _ isSilent: (TransitionID) -> Bool) -> [TransitionID] {
        guard let scene = self[id]?.scene, !isHoldingGrants, !forgetsRows else { return [id] }
        let own = line.filter { $0.scene == scene && $0.unmet == nil }
        var row = [id]
        // Those that end at their turn anyway, and whose turn would come.
        var passing: Set<TransitionID> = []
        for (index, ticket) in own.enumerated() where !ticket.isGranted {
            let isFree = { (locked: [ControllerID]?) in
                own.enumerated().allSatisfy { other, entry in
                    guard other < index || entry.isGranted, entry.id != ticket.id else { return true }
                    if row.contains(entry.id) || passing.contains(entry.id) { return true }
                    return !conflicts(entry, locked, isShared: ticket.isShared) && !waits(ticket, for: entry)
                }
            }
            guard alternatives(of: ticket).contains(where: isFree) else { continue }
            if ticket.hasRememberedEnd {
                passing.insert(ticket.id)
            } else if ticket.session == nil, isSilent(ticket.id) {
                row.append(ticket.id)
            }
        }
        return row
    }

    /// The last session of a client has ended: no transition waits for it any more.
    private mutating func part(_ client: ClientName) {
        for id in line.sorted(by: { $0.order < $1.order }).map(\.id) { part(client, from: id) }
    }

    /// A transition does not wait for a participant any more.
    mutating func part(_ client: ClientName, from id: TransitionID) {
        guard let index = line.firstIndex(where: { $0.id == id }), line[index].state != .running else { return }
        for member in line[index].members.indices
        where line[index].members[member].client == client && line[index].members[member].asked == nil {
            if line[index].members[member].state == .waiting { line[index].members[member].state = .gone }
        }
        runIfReady(index)
    }
}
