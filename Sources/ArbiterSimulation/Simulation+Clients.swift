internal import ArbiterCore

// What clients and the network do.

extension Simulation {
    private static let scenes = ["main", "left", "right", "rare", "rarer"].compactMap(SceneName.init)

    private mutating func someScene() -> SceneName {
        let index = chance.isOnce(in: 12) ? Int.random(in: 2..<5, using: &chance) : chance.isOnce(in: 4) ? 1 : 0
        return Self.scenes[index]
    }

    private mutating func someRequest() -> TransitionRequest {
        let lease = chance.isOnce(in: 40) ? 300_000 : chance.isOnce(in: 4) ? 500 : 8_000
        var request = TransitionRequest(
            scene: someScene(),
            lease: max(chance.milliseconds(upTo: lease), Limits.leaseDurations.lowerBound),
            ticket: max(chance.milliseconds(upTo: 10_000), Limits.ticketDurations.lowerBound),
            queue: chance.isOnce(in: 4) ? chance.milliseconds(upTo: 8_000) : nil
        )
        if !chance.isOnce(in: 3) {
            lastKey += 1
            request.idempotencyKey = IdempotencyKey("key-\(lastKey)")
        }
        return request
    }

    private mutating func someWait() -> Duration? {
        chance.isOnce(in: 4) ? nil : chance.milliseconds(upTo: 12_000)
    }

    private mutating func someOwned(by client: Int) -> Client.Owned? {
        let owned = clients[client].owned
        return chance.isOnce(in: 6) ? owned.randomElement(using: &chance) : owned.last
    }

    /// Now and then it is somebody else's.
    private mutating func guessed(_ token: Token) -> Token {
        chance.isOnce(in: 25) ? Token(high: token.high, low: token.low ^ 1) : token
    }

    mutating func ask() throws(Broken) {
        guard let client = someClient() else { return }
        let request = someRequest()
        let ask: Ask = chance.isOnce(in: 3) ? .start(request) : .serialize(request, wait: someWait())
        if request.idempotencyKey != nil {
            clients[client].keyed.append(ask)
            if clients[client].keyed.count > 4 { clients[client].keyed.removeFirst() }
        }
        try send(ask, from: client)
    }

    /// Two clients ask for the same scene, one right after the other.
    mutating func askTwice() throws(Broken) {
        let scene = someScene()
        var requests: [Request] = []
        for _ in 0..<2 {
            guard let client = someClient() else { return }
            var request = someRequest()
            request.scene = scene
            request.idempotencyKey = nil
            requests.append(
                Request(client: client, life: clients[client].life, ask: .serialize(request, wait: someWait())))
        }
        try submit(requests[0], requests[1])
    }

    /// The same again, because the answer is lost or late; or another request with the same key.
    mutating func repeatRequest() throws(Broken) {
        guard let client = someClient(), let ask = clients[client].keyed.randomElement(using: &chance) else { return }
        guard chance.isOnce(in: 6) else { return try send(ask, from: client) }
        switch ask {
        case .start(var request):
            request.ticket += .milliseconds(1)
            try send(.start(request), from: client)
        case .serialize(let request, _):
            try send(.start(request), from: client)
        case .await, .end, .renew:
            preconditionFailure("\(ask) has no key")
        }
    }

    mutating func endSomething() throws(Broken) {
        guard let client = someClient(), let owned = someOwned(by: client) else { return }
        let token = guessed(owned.token)
        // Whoever says that it is done touches nothing any more, whether the word arrives or not.
        if token == owned.token { holds.relinquish(owned.id) }
        try send(.end(owned.id, token: token, chance.isOnce(in: 3) ? .cancelled : .completed), from: client)
    }

    mutating func renewSomething() throws(Broken) {
        guard let client = someClient(), let owned = someOwned(by: client) else { return }
        try send(.renew(owned.id, token: guessed(owned.token)), from: client)
    }

    mutating func awaitSomething() throws(Broken) {
        guard let client = someClient() else { return }
        let milestone = Milestone.allCases.randomElement(using: &chance) ?? .ended
        if chance.isOnce(in: 3) {
            guard let entry = ledger.entries.randomElement(using: &chance) else { return }
            try send(.await(entry.id, token: nil, until: milestone, wait: someWait()), from: client)
        } else if let owned = someOwned(by: client) {
            try send(
                .await(owned.id, token: guessed(owned.token), until: milestone, wait: someWait()), from: client)
        }
    }

    mutating func leaveSomewhere() throws(Broken) {
        guard let leaving = parked.randomElement(using: &chance) else { return }
        try leave(leaving)
    }

    private mutating func leave(_ leaving: Parked) throws(Broken) {
        statistics.count(.leaves)
        try decide()
        // What is due may just have answered it; then its connection closes all the same.
        parked.removeAll { $0.waiter == leaving.waiter }
        try perform(.leave(leaving.waiter))
        try decide()
    }

    /// A client dies: its connections close, and its successor knows nothing.
    mutating func die() throws(Broken) {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        statistics.count(.deaths)
        note(.died(client: client))
        let left = clients[client].life
        clients[client].life += 1
        clients[client].keyed.removeAll()
        // Now and then it kept notes.
        if !chance.isOnce(in: 4) { clients[client].owned.removeAll() }
        for leaving in parked where leaving.request.client == client && leaving.request.life == left {
            try leave(leaving)
        }
    }

    // MARK: - The network

    private mutating func send(_ ask: Ask, from client: Int) throws(Broken) {
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
        if chance.isOnce(in: 10) {
            statistics.count(.lostAnswers)
            return note(.lost(client: client))
        }
        guard let view = answer.view else {
            if let unknown = answer.unknown { clients[client].owned.removeAll { $0.id == unknown } }
            return
        }
        let id = view.transition.id
        note(
            .told(
                client: client, id, view.transition.state, fence: ledger[id]?.grant?.fence.rawValue ?? 0))
        try ledger.tell(view, sequence: answer.sequence)
        guard answer.request.ask.isOwners else { return }
        try holds.claim(
            view, heardAt: answer.computedAt, now: now, isRevived: ledger[id]?.isRevived ?? false,
            machineDeaths: statistics[.machineDeaths])
        if view.transition.isEnded, !chance.isOnce(in: 4) { clients[client].owned.removeAll { $0.id == id } }
        guard !view.transition.isEnded, !clients[client].owned.contains(where: { $0.id == id }) else { return }
        clients[client].owned.append(Client.Owned(id: id, token: view.transition.token))
        if clients[client].owned.count > 8 { clients[client].owned.removeFirst() }
    }
}
