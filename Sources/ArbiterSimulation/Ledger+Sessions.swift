internal import ArbiterCore
internal import ArbiterModel

// The life of every session.

extension Ledger {
    struct SessionEntry {
        let id: SessionID
        let opened: UInt64
        var closed: UInt64?
        /// The last record that the first answer may depend on.
        var told: UInt64?
    }

    mutating func open(_ id: SessionID, sequence: UInt64) {
        sessions.append(SessionEntry(id: id, opened: sequence))
    }

    mutating func close(_ id: SessionID, sequence: UInt64) {
        guard let index = sessions.firstIndex(where: { $0.id == id && $0.closed == nil }) else { return }
        sessions[index].closed = sequence
    }

    /// A client gets an answer about its session.
    mutating func tell(_ id: SessionID, sequence: UInt64) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].told = sessions[index].told ?? sequence
    }

    /// Checks that exactly the sessions exist that were opened and have not ended.
    func checkSessions(_ machine: ArbiterStateMachine) throws(Broken) {
        for session in sessions where machine.isInUse(session.id) != (session.closed == nil) {
            throw Broken(.session, "\(session.id) is \(session.closed == nil ? "gone" : "still there")")
        }
    }

    mutating func releaseSessionPromises(after sequence: UInt64) {
        for index in sessions.indices {
            if let told = sessions[index].told, told > sequence { sessions[index].told = nil }
        }
    }

    func checkSessionPromises(_ machine: ArbiterStateMachine, after sequence: UInt64) throws(Broken) {
        for session in sessions where session.told != nil && !machine.isInUse(session.id) {
            if let closed = session.closed, closed <= sequence { continue }
            throw Broken(.promise, "\(session.id) was answered and is not known")
        }
    }

    mutating func truncateSessions(to sequence: UInt64) {
        sessions.removeAll { $0.opened > sequence }
        for index in sessions.indices {
            if let closed = sessions[index].closed, closed > sequence { sessions[index].closed = nil }
        }
    }

    mutating func compactSessions(upTo synced: UInt64) {
        sessions.removeAll { $0.closed.map { $0 <= synced } ?? false }
    }
}
