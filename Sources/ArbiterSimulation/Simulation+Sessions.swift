internal import ArbiterCore

// What clients do for their sessions, and their ends.

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
        default: try send(.renewSession(token), from: client)
        }
    }

    /// A connection closes that a session lived by.
    mutating func hangUp() throws(Broken) {
        guard !connections.isEmpty else { return }
        try close(connections.remove(at: Int.random(in: 0..<connections.count, using: &chance)))
    }

    private mutating func close(_ connection: Connection) throws(Broken) {
        statistics.count(.hangups)
        try decide()
        try perform(.detach(connection.session))
        try decide()
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
        if !chance.isOnce(in: 4) {
            clients[client].owned.removeAll()
            clients[client].sessions.removeAll()
        }
        for leaving in parked where leaving.request.client == client && leaving.request.life == left {
            try leave(leaving)
        }
        let lost = connections.filter { $0.client == client && $0.life == left }
        connections.removeAll { $0.client == client && $0.life == left }
        for connection in lost { try close(connection) }
    }
}
