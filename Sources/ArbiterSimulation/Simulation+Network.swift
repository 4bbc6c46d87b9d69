internal import ArbiterCore

// How requests and answers travel: late, twice or never.

extension Simulation {
    mutating func send(_ ask: Ask, from client: Int) throws(Broken) {
        let request = Request(client: client, life: clients[client].life, ask: ask)
        if chance.isOnce(in: 20) {
            statistics.count(.lostRequests)
            return note(.lost(client: client))
        }
        if chance.isOnce(in: 15) {
            late.append(request)
            // Or twice: now and later.
            if chance.isOnce(in: 2) { return }
        }
        try submit(request)
    }

    mutating func deliverLate() throws(Broken) {
        guard !late.isEmpty else { return }
        statistics.count(.lateRequests)
        try submit(late.remove(at: Int.random(in: 0..<late.count, using: &chance)))
    }

    /// Says what may be said.
    mutating func release() throws(Broken) {
        let isHasty = configuration.fault == .answerBeforeCommit
        var count = 0
        while count < withheld.count, isHasty || withheld[count].sequence <= journal.committed {
            try deliver(withheld[count])
            count += 1
        }
        withheld.removeFirst(count)
    }

    private mutating func deliver(_ answer: Answer) throws(Broken) {
        let client = answer.request.client
        guard clients[client].life == answer.request.life else { return }
        // A crowd whose answers were lost would hold everything until its leases are over.
        if chance.isOnce(in: isCrowded ? 80 : 10) {
            statistics.count(.lostAnswers)
            return note(.lost(client: client))
        }
        switch answer.content {
        case .transition(let view): try deliver(view, by: answer)
        case .session(let view): deliver(view, by: answer)
        case .unknown(let id): clients[client].owned.removeAll { $0.id == id }
        case .unknownSession: clients[client].sessions.removeAll { oracle.sessions[$0] == nil }
        case .nothing: break
        }
    }

    private mutating func deliver(_ view: TransitionView, by answer: Answer) throws(Broken) {
        let client = answer.request.client
        let id = view.transition.id
        note(
            .told(
                client: client, id, view.transition.state, fence: ledger[id]?.grant?.fence.rawValue ?? 0))
        try ledger.tell(view, sequence: answer.sequence)
        guard answer.request.ask.isOwners else { return }
        try claim(view, heardAt: answer.computedAt)
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

    private mutating func deliver(_ view: SessionView, by answer: Answer) {
        let client = answer.request.client
        ledger.tell(view.session.id, sequence: answer.sequence)
        if case .endSession = answer.request.ask {
            clients[client].sessions.removeAll { $0 == view.session.token }
        } else if !clients[client].sessions.contains(view.session.token) {
            clients[client].sessions.append(view.session.token)
            if clients[client].sessions.count > 3 { clients[client].sessions.removeFirst() }
        }
    }
}
