internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// What clients do with their sessions, and the deaths of clients.

extension Simulation {
    mutating func openSession() throws(Broken) {
        guard let client = someClient(), clients[client].sessions.count < 2 || chance.isOnce(in: 4) else { return }
        let name = chance.isOnce(in: 8) ? nil : Self.names[client]
        let timeToLive = max(chance.milliseconds(upTo: 12_000), Limits.sessionDurations.lowerBound)
        try send(.openSession(name, timeToLive: timeToLive), from: client)
    }

    mutating func speakForSession() throws(Broken) {
        guard let client = someClient(where: { !$0.sessions.isEmpty }),
            let session = clients[client].sessions.randomElement(using: &chance)
        else { return }
        let token = guessed(session)
        switch Int.random(in: 0..<12, using: &chance) {
        case 0: try send(.endSession(token), from: client)
        case 1...4: try send(.attach(token), from: client)
        case 5, 6: try hear(token)
        default: try send(.renewSession(token), from: client)
        }
    }

    /// A client guards controllers of a scene, mostly such as there are, or takes a guard back.
    mutating func guardSomething() throws(Broken) {
        guard let client = someClient(where: { !$0.sessions.isEmpty }),
            let session = clients[client].sessions.randomElement(using: &chance)
        else { return }
        let scene = someScene()
        if chance.isOnce(in: 4), let known = oracle.scene(scene).guards.randomElement(using: &chance) {
            let own = clients[client].sessions.first { oracle.sessions[$0]?.id == known.session }
            return try send(.removeGuard(scene, known.id, session: own ?? guessed(session)), from: client)
        }
        let known = oracle.scene(scene).tree.nodes.keys.sorted { $0.description < $1.description }
        var controllers: [ControllerID] = []
        for _ in 0..<Int.random(in: 1...3, using: &chance) {
            let id = chance.isOnce(in: 6) ? chance.name() : chance.pick(known, or: chance.name())
            if !controllers.contains(id) { controllers.append(id) }
        }
        // So many that hardly another one has room.
        if chance.isOnce(in: 12) { controllers += (1...60).map { ControllerID(unchecked: "other-\($0)") } }
        try send(
            .addGuard(
                scene, of: controllers, onSilence: chance.isOnce(in: 2) ? .abort : .proceed, session: guessed(session)),
            from: client)
    }

    /// A connection attached to a session closes.
    mutating func hangUp() throws(Broken) {
        guard !connections.isEmpty else { return }
        try close(connections.remove(at: Int.random(in: 0..<connections.count, using: &chance)))
    }

    /// Closes the connections of dead clients, also those that were attached after the death.
    mutating func closeConnectionsOfTheDead() throws(Broken) {
        while let index = connections.firstIndex(where: { clients[$0.client].life != $0.life }) {
            try close(connections.remove(at: index))
        }
    }

    /// A client whose connection is from before the journal was opened again closes it, and may attach another before.
    mutating func replaceConnection() throws(Broken) {
        let era = process.era
        guard let index = connections.firstIndex(where: { $0.era != era }), chance.isOnce(in: 4) else { return }
        let connection = connections.remove(at: index)
        let session = oracle.sessions.first { $0.value.id == connection.session }
        if let token = session?.key, !chance.isOnce(in: 3) { try send(.attach(token), from: connection.client) }
        try close(connection)
    }

    mutating func leaveSomewhere() throws(Broken) {
        if chance.isOnce(in: 3), let leaving = idlers.randomElement(using: &chance) { return try leave(leaving) }
        guard let leaving = parked.randomElement(using: &chance) else { return }
        try leave(leaving)
    }

    /// A client dies: its connections close, and its successor does not know what it requested.
    mutating func die() throws(Broken) {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        statistics.count(.deaths)
        note(.died(client: client))
        let left = clients[client].life
        clients[client].life += 1
        clients[client].keyed.removeAll()
        // In some cases the successor has its tokens.
        if !chance.isOnce(in: 4) {
            clients[client].owned.removeAll()
            clients[client].sessions.removeAll()
        }
        for leaving in parked where leaving.request.client == client && leaving.request.life == left {
            try leave(leaving)
        }
        for leaving in idlers where leaving.request.client == client && leaving.request.life == left {
            try leave(leaving)
        }
        try closeConnectionsOfTheDead()
    }
}
