internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// The requests of owners and participants about transitions.

extension Simulation {
    /// A transition of a client, mostly a granted one.
    private mutating func somethingOwned() -> (client: Int, owned: Client.Owned)? {
        let line = oracle
        let isHeld = { (owned: Client.Owned) in line[owned.id]?.isGranted == true }
        if !chance.isOnce(in: 3), let client = someClient(where: { $0.owned.contains(where: isHeld) }),
            let owned = clients[client].owned.filter(isHeld).randomElement(using: &chance)
        {
            return (client, owned)
        }
        guard let client = someClient(where: { !$0.owned.isEmpty }) else { return nil }
        let owned = clients[client].owned
        return (chance.isOnce(in: 6) ? owned.randomElement(using: &chance) : owned.last).map { (client, $0) }
    }

    /// Mostly the token itself, now and then a wrong one.
    mutating func guessed(_ token: Token) -> Token {
        chance.isOnce(in: 25) ? Token(high: token.high, low: token.low ^ 1) : token
    }

    mutating func endSomething() throws(Broken) {
        guard let (client, owned) = somethingOwned() else { return }
        let token = guessed(owned.token)
        // An owner that sends its end stops using the scope, whether the request arrives or not.
        if token == owned.token { holds.relinquish(owned.id) }
        let outcome = [EndOutcome.cancelled, .completed, nil].randomElement(using: &chance) ?? nil
        try send(.end(owned.id, token: token, outcome), from: client)
    }

    /// An administrator revokes a transition; its owner has stopped using the scope before.
    private mutating func revokeSomething() throws(Broken) {
        let unfinished = chance.isOnce(in: 6) ? ledger.entries.map(\.id) : oracle.line.map(\.id)
        guard let client = someClient(), let id = unfinished.randomElement(using: &chance),
            let reason = GivenReason("it hangs")
        else { return }
        holds.relinquish(id)
        try send(.revoke(id, reason), from: client)
    }

    /// An administrator clears a scene, or takes what a client has there.
    private mutating func revokeAll() throws(Broken) {
        guard let client = someClient(), let reason = GivenReason("it is cleaned") else { return }
        let whose = chance.isOnce(in: 4) ? nil : Self.names.randomElement(using: &chance)
        try send(.revokeAll(someScene(), of: whose, reason), from: client)
    }

    /// An owner changes how its transition is animated.
    private mutating func updateSomething() throws(Broken) {
        guard let (client, owned) = somethingOwned() else { return }
        let update = AnimationUpdate(
            duration: chance.isOnce(in: 2) ? chance.milliseconds(upTo: 900) : nil,
            curve: chance.isOnce(in: 2) ? AnimationCurve.allCases.randomElement(using: &chance) : nil,
            completionSpeed: chance.isOnce(in: 3) ? 2 : nil, userInfo: chance.isOnce(in: 4) ? Array("{}".utf8) : nil)
        try send(.update(owned.id, token: guessed(owned.token), update), from: client)
    }

    mutating func renewSomething() throws(Broken) {
        if chance.isOnce(in: 8) { return try revokeSomething() }
        if chance.isOnce(in: 16) { return try revokeAll() }
        if chance.isOnce(in: 6) { return try updateSomething() }
        guard let (client, owned) = somethingOwned() else { return }
        try send(.renew(owned.id, token: guessed(owned.token)), from: client)
    }

    mutating func awaitSomething() throws(Broken) {
        let milestone = Milestone.allCases.randomElement(using: &chance) ?? .ended
        if chance.isOnce(in: 3) {
            guard let client = someClient(), let entry = ledger.entries.randomElement(using: &chance) else { return }
            try send(.await(entry.id, token: nil, until: milestone, claims: false, wait: someWait()), from: client)
        } else if let (client, owned) = somethingOwned() {
            try send(
                .await(
                    owned.id, token: guessed(owned.token), until: milestone, claims: chance.isOnce(in: 2),
                    wait: someWait()), from: client)
        }
    }

    /// A client reads a transition.
    mutating func lookAtSomething() throws(Broken) {
        guard let client = someClient(), let entry = ledger.entries.randomElement(using: &chance) else { return }
        try send(.look(entry.id), from: client)
    }

    // MARK: - Gestures

    /// A transition of a client, mostly an interactive one that runs.
    private mutating func somethingDriven() -> (client: Int, owned: Client.Owned)? {
        let line = oracle
        let isRunning = { (owned: Client.Owned) in owned.isInteractive && line[owned.id]?.state == .running }
        for isWanted in [isRunning, \.isInteractive] where !chance.isOnce(in: 3) {
            guard let client = someClient(where: { $0.owned.contains(where: isWanted) }),
                let owned = clients[client].owned.filter(isWanted).randomElement(using: &chance)
            else { continue }
            return (client, owned)
        }
        return somethingOwned()
    }

    private mutating func someFraction() -> Double { Double(Int.random(in: -2...12, using: &chance)) / 10 }

    private mutating func someVelocity() -> Double? {
        chance.isOnce(in: 3) ? nil : Double(Int.random(in: -2...3, using: &chance))
    }

    mutating func moveFinger() throws(Broken) {
        guard let (client, driven) = somethingDriven() else { return }
        let sequence = chance.isOnce(in: 3) ? nil : UInt64.random(in: 0..<8, using: &chance)
        let progress = GestureProgress(fraction: someFraction(), velocity: someVelocity(), sequence: sequence)
        try send(.progress(driven.id, token: guessed(driven.token), progress), from: client)
    }

    mutating func liftFinger() throws(Broken) {
        guard let (client, driven) = somethingDriven() else { return }
        let release = GestureRelease(
            decision: chance.isOnce(in: 3) ? GestureDecision.allCases.randomElement(using: &chance) : nil,
            fraction: chance.isOnce(in: 2) ? someFraction() : nil, velocity: someVelocity(),
            isCancelled: chance.isOnce(in: 8), completionSpeed: chance.isOnce(in: 4) ? 2 : nil)
        try send(.release(driven.id, token: guessed(driven.token), release), from: client)
    }

    /// Whether a transition without an operation is in its grace.
    private static func isInterrupted(_ owned: Client.Owned, in line: NaiveOracle) -> Bool {
        line[owned.id].map { $0.state == .running && $0.request.operation == nil && $0.interruption != nil } ?? false
    }

    var hasInterrupted: Bool {
        let line = oracle
        return clients.contains { $0.owned.contains { Self.isInterrupted($0, in: line) } }
    }

    /// An owner gives its transition an operation, mostly one that runs and has none.
    mutating func performSomething() throws(Broken) {
        let line = oracle
        let isBare = { (owned: Client.Owned) in
            line[owned.id].map { $0.state == .running && $0.request.operation == nil } ?? false
        }
        let isInterrupted = { (owned: Client.Owned) in Self.isInterrupted(owned, in: line) }
        let isPerformed = { (owned: Client.Owned) in line[owned.id]?.performed != nil }
        let isWanted =
            hasInterrupted && !chance.isOnce(in: 3)
            ? isInterrupted : chance.isOnce(in: 8) ? { _ in true } : chance.isOnce(in: 2) ? isPerformed : isBare
        guard let client = someClient(where: { $0.owned.contains(where: isWanted) }),
            let owned = clients[client].owned.filter(isWanted).randomElement(using: &chance),
            let entry = ledger[owned.id]
        else { return }
        let scene = oracle.scene(entry.request.scene)
        guard !scene.tree.nodes.isEmpty else { return }
        let again = entry.performedRequest.operation
        let operation =
            if let again, chance.isOnce(in: 2) {
                again
            } else if !scene.guards.isEmpty, chance.isOnce(in: 2) {
                // What is there goes, also what somebody guards.
                Operation.setRoot(chance.arrival(avoiding: []))
            } else {
                chance.operation(in: scene, wanted: oracle.missing(in: entry.request.scene))
            }
        let expectations = chance.isOnce(in: 3) ? chance.expectations(of: scene) : []
        try send(
            .perform(
                owned.id, token: guessed(owned.token), operation, expecting: expectations,
                ignoresGuards: chance.isOnce(in: 4)), from: client)
    }

    // MARK: - Participants

    /// A participant reports that it is ready, mostly for a transition that prepares.
    mutating func getReady() throws(Broken) {
        let waiting = oracle.line.filter { $0.state == .preparing || chance.isOnce(in: 6) }.map(\.id)
        let known = waiting.isEmpty || chance.isOnce(in: 8) ? ledger.entries.map(\.id) : waiting
        guard let entry = known.randomElement(using: &chance).flatMap({ ledger[$0] }) else { return }
        let invited = entry.request.participants.map(\.client) + entry.asked.map(\.client)
        let name = chance.isOnce(in: 12) ? nil : invited.randomElement(using: &chance)
        guard let client = name.flatMap(Self.names.firstIndex) ?? someClient(), isAwake(client) else { return }
        let opened = oracle.sessions
        let asked = clients[client].sessions.filter { token in
            entry.asked.contains { $0.asked?.session == opened[token]?.id }
        }
        let sessions = asked.isEmpty || chance.isOnce(in: 4) ? clients[client].sessions : asked
        guard let session = sessions.randomElement(using: &chance) else { return }
        let readiness: Readiness =
            chance.isOnce(in: 4) ? .veto(chance.isOnce(in: 2) ? GivenReason("it is not saved") : nil) : .ready
        try send(
            .report(readiness, on: entry.id, Self.names[client], session: guessed(session)), from: client)
    }
}
