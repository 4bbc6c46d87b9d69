internal import ArbiterCore
internal import ArbiterModel

// Interruptions later than in the step of the request: made for whom they may be made, and not forgotten.

extension Simulation {
    /// Whether a ticket has interrupted because an await of its owner parks, the ask of this turn, which has no record.
    func isBecauseOfAsk(_ id: TransitionID, _ turn: Turn) -> Bool {
        guard let pending = turn.pending, !mayInterrupt(id, turn) else { return false }
        return switch pending.request.ask {
        case .await(id, _?, _, _, _): true
        case .serialize(let request, _): ledger.entry(withKeyOf: request, at: now)?.id == id
        default: false
        }
    }

    /// - Throws: `Broken` if a ticket has interrupted what it may not, was not judged again, or has nobody who is there.
    func checkMayInterrupt(_ id: TransitionID, _ turn: Turn) throws(Broken) {
        guard mayInterrupt(id, turn) else { throw Broken(.decision, "\(id) was not to be judged again") }
        guard oracle.victims(of: id) != nil else { throw Broken(.decision, "\(id) may interrupt nobody") }
    }

    /// - Throws: `Broken` if a ticket that was to be judged again has not interrupted what it may.
    func checkNobodyHasToInterrupt(_ turn: Turn) throws(Broken) {
        guard configuration.watchesJournal, !isDown else { return }
        for id in oracle.reconsidered where isAttended(id) && !turn.ownersLeaving.contains(id) {
            guard !parked.contains(where: { $0.number == leavingAwait && $0.transition == id }) else { continue }
            if let victims = oracle.victims(of: id) {
                throw Broken(.decision, "\(id) was to interrupt \(victims.map(\.id))")
            }
        }
    }

    /// Whether a ticket is judged again in this turn while its owner is there, or may be.
    private func mayInterrupt(_ id: TransitionID, _ turn: Turn) -> Bool {
        oracle.reconsidered.contains(id) && (isAttended(id) || turn.ownersLeaving.contains(id))
    }

    /// Whether the owner of a ticket shows that it is there.
    private func isAttended(_ id: TransitionID) -> Bool {
        let session = oracle[id]?.session
        return oracle.sessions.values.contains { $0.id == session }
            || parked.contains { $0.transition == id && $0.request.ask.isOwners }
    }
}
