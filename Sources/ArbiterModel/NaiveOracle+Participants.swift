package import ArbiterCore

// Sessions and participants.

extension NaiveOracle.Member {
    /// Whether a transition still waits for it.
    var isMissing: Bool { isRequired && state == .waiting }
}

extension NaiveOracle {
    /// A participant is ready.
    package mutating func markReady(_ id: TransitionID, _ client: ClientName) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        for member in line[index].members.indices where line[index].members[member].client == client {
            line[index].members[member].state = .ready
        }
        runIfReady(index)
    }

    /// A participant says that the transition must not run.
    package mutating func veto(_ id: TransitionID, _ client: ClientName, _ reason: GivenReason?) {
        finish(id, as: .vetoed(by: client, reason))
    }

    /// The time of the participants has run out.
    package mutating func timeOutParticipants(of id: TransitionID) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        switch line[index].request.onUnready {
        case .proceed: run(index)
        case .abort: finish(id, as: .expired(.participants))
        }
    }

    private mutating func runIfReady(_ index: Int) {
        if line[index].state == .preparing, !line[index].members.contains(where: \.isMissing) { run(index) }
    }

    /// Ends a session and everything bound to it, and grants only afterwards.
    package mutating func end(_ id: SessionID, because ending: SessionEnding) {
        guard let (token, session) = sessions.first(where: { $0.value.id == id }) else { return }
        let joined = line.filter { $0.members.contains { $0.client == session.client } }
            .sorted { $0.order > $1.order }.prefix(Limits.scenesOfSession).map(\.scene)
        let scenes = namedAtEnd(of: session, joined)
        sessions.removeValue(forKey: token)
        for entry in line where entry.session == id && !entry.completesAtGrant {
            close(entry.id, as: .expired(.sessionLost))
        }
        if let client = session.client, !sessions.values.contains(where: { $0.client == client }) { part(client) }
        for scene in scenes { tell(.sessionEnded(id, ending), in: scene) }
        for scene in scenes { settle(scene) }
    }

    /// The scenes that get an event of a session's end: those used last.
    private func namedAtEnd(of session: Session, _ joined: [SceneName]) -> [SceneName] {
        let bound = line.filter { $0.session == session.id && !$0.completesAtGrant }.map(\.scene)
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
            let isFree = own.enumerated().allSatisfy { other, entry in
                guard other < index || entry.isGranted, entry.id != ticket.id else { return true }
                if row.contains(entry.id) || passing.contains(entry.id) { return true }
                return !conflicts(entry, locked(ticket)) && !waits(ticket, for: entry)
            }
            guard isFree else { continue }
            if ticket.completesAtGrant {
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
        for member in line[index].members.indices where line[index].members[member].client == client {
            if line[index].members[member].state == .waiting { line[index].members[member].state = .gone }
        }
        runIfReady(index)
    }
}
