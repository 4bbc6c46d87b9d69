internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// The network: requests and answers arrive late, twice or never.

extension Simulation {
    mutating func send(_ ask: Ask, from client: Int) throws(Broken) {
        let request = Request(client: client, life: clients[client].life, ask: ask)
        if chance.isOnce(in: 20) {
            statistics.count(.lostRequests)
            return note(.lost(client: client))
        }
        if chance.isOnce(in: 15) {
            late.append(request)
            // The request arrives late, or now and late.
            if chance.isOnce(in: 2) { return }
        }
        try submit(request)
    }

    mutating func deliverLate() throws(Broken) {
        guard !late.isEmpty else { return }
        statistics.count(.lateRequests)
        try submit(late.remove(at: Int.random(in: 0..<late.count, using: &chance)))
    }

    /// Sends an answer to its client, which may get it or not.
    mutating func deliver(_ reply: Reply, to owed: OwedAnswer, showing state: OwedAnswer.State) throws(Broken) {
        let (client, life) = (owed.request.client, owed.request.life)
        if case .attached(let attachment) = reply, let session = owed.session {
            // The connection exists even if the client does not get the answer.
            connections.append(
                Connection(
                    attachment: attachment, session: session, client: client, life: life, era: process.era))
        }
        guard clients[client].life == life else { return }
        // In a crowded scene lost answers would keep everything locked until the leases are over.
        if chance.isOnce(in: isCrowded ? 80 : 10) {
            statistics.count(.lostAnswers)
            return note(.lost(client: client))
        }
        switch reply {
        case .transition(let view): try deliver(view, to: owed, showing: state)
        case .progress(let answer): try deliver(answer.view, to: owed, showing: state)
        case .performed(let answer): try deliver(answer.view, to: owed, showing: state)
        case .session(let view): deliver(view, to: owed, showing: state)
        case .refused(.unknownTransition(let id)): clients[client].owned.removeAll { $0.id == id }
        case .refused(.unknownSession):
            let known = oracle.sessions
            clients[client].sessions.removeAll { known[$0] == nil }
        case .refused, .attached, .declared, .done, .guarding, .revoked, .dryRun, .idleness, .unavailable: break
        }
    }

    private mutating func deliver(_ view: TransitionView, to owed: OwedAnswer, showing state: OwedAnswer.State)
        throws(Broken)
    {
        let client = owed.request.client
        let id = view.transition.id
        note(
            .told(
                client: client, id, view.transition.state, fence: ledger[id]?.grant?.fence.rawValue ?? 0))
        try ledger.tell(view, sequence: state.sequence)
        guard owed.request.ask.isOwners else { return }
        try claim(view, heardAt: owed.computedAt)
        if view.transition.isEnded, !chance.isOnce(in: 4) { clients[client].owned.removeAll { $0.id == id } }
        guard !view.transition.isEnded, !clients[client].owned.contains(where: { $0.id == id }) else { return }
        clients[client].owned.append(
            Client.Owned(
                id: id, token: view.transition.token, isInteractive: view.transition.request.isInteractive))
        if clients[client].owned.count > 8 { clients[client].owned.removeFirst() }
    }

    private mutating func claim(_ view: TransitionView, heardAt heard: Instant) throws(Broken) {
        let scene = oracle.scene(view.transition.request.scene)
        try holds.claim(
            view, scene.locked(by: view.transition.request, view.transition.scope), in: scene, heardAt: heard,
            now: outside, isRevived: ledger[view.transition.id]?.isRevived ?? false,
            machineDeaths: statistics[.machineDeaths])
    }

    private mutating func deliver(_ view: SessionView, to owed: OwedAnswer, showing state: OwedAnswer.State) {
        let client = owed.request.client
        ledger.tell(view.session.id, sequence: state.sequence)
        if case .endSession = owed.request.ask {
            clients[client].sessions.removeAll { $0 == view.session.token }
        } else if !clients[client].sessions.contains(view.session.token) {
            clients[client].sessions.append(view.session.token)
            if clients[client].sessions.count > 3 { clients[client].sessions.removeFirst() }
        }
    }
}
