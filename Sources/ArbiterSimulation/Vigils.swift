internal import ArbiterCore
internal import ArbiterModel

/// The deadlines and connections of the sessions, kept independently of the state machine.
struct Vigils {
    private struct Vigil {
        let timeToLive: Duration
        /// `nil` while a connection is attached.
        var deadline: Instant?
        var connections = 0
    }

    private var vigils: [SessionID: Vigil] = [:]

    mutating func open(_ id: SessionID, timeToLive: Duration, at now: Instant) {
        vigils[id] = Vigil(timeToLive: timeToLive, deadline: now.advanced(by: timeToLive))
    }

    mutating func hear(_ id: SessionID, at now: Instant) {
        guard let vigil = vigils[id], vigil.connections == 0 else { return }
        vigils[id]?.deadline = now.advanced(by: vigil.timeToLive)
    }

    mutating func attach(_ id: SessionID) {
        vigils[id]?.connections += 1
        vigils[id]?.deadline = nil
    }

    /// - Parameters:
    ///   - id: the session.
    ///   - client: whether the client is gone; else the connection was answered.
    ///   - grace: how long a session lives after its last connection was cut.
    ///   - now: the present.
    mutating func detach(_ id: SessionID, client: ClientPresence = .gone, grace: Duration, at now: Instant) {
        guard let vigil = vigils[id], vigil.connections > 0 else { return }
        vigils[id]?.connections -= 1
        if vigil.connections == 1 {
            vigils[id]?.deadline = now.advanced(by: client == .gone ? grace : vigil.timeToLive)
        }
    }

    mutating func close(_ id: SessionID) {
        vigils.removeValue(forKey: id)
    }

    /// Gives every session its full time and no connections, as a restart does.
    mutating func begin(_ sessions: some Sequence<NaiveOracle.Session>, at now: Instant) {
        vigils.removeAll()
        for session in sessions { open(session.id, timeToLive: session.timeToLive, at: now) }
    }

    func remaining(of id: SessionID, at now: Instant) -> Duration? {
        guard let vigil = vigils[id] else { return .zero }
        return vigil.deadline.map { max(.zero, now.duration(to: $0)) }
    }

    func isDue(_ id: SessionID, at now: Instant) -> Bool {
        vigils[id]?.deadline.map { $0 <= now } ?? false
    }

    func someDue(at now: Instant) -> SessionID? {
        vigils.first { $0.value.deadline.map { $0 <= now } ?? false }?.key
    }
}
