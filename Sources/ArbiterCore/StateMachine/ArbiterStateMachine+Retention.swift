// Retention: how long ended transitions are remembered.

extension ArbiterStateMachine {
    /// A transition, if it is remembered.
    package func transition(_ id: TransitionID) -> Transition? { durable.transitions[id] }

    /// Adds a new transition to `requested`; removes the entries of forgotten ones once they are the majority.
    mutating func remember(_ id: TransitionID, at order: RequestOrder) {
        momentary.requested.append(MomentaryState.Requested(id: id, order: order))
        guard momentary.requested.count > 2 * durable.transitions.count + 1024 else { return }
        momentary.requested.removeAll { !durable.transitions.contains($0.id) }
    }

    /// Forgets the transitions that ended first while they exceed the limits.
    mutating func prune(at now: Instant) {
        while let first = durable.ended.first, isSuperfluous(first, at: now) {
            durable.dropFirstEnded()
            let forgotten = durable.transitions.removeValue(forKey: first.id)
            // The key may belong to a newer transition by now.
            if let key = forgotten?.request.ownedKey, durable.keys[key] == first.id {
                durable.keys.removeValue(forKey: key)
            }
        }
    }

    private func isSuperfluous(_ first: DurableState.Ended, at now: Instant) -> Bool {
        let retention = retention
        if durable.endedWeight > retention.weight || durable.memory.ended > retention.bytes { return true }
        guard durable.ended.count > retention.count else { return false }
        return durable.ended.count > retention.maximum || first.at.advanced(by: retention.duration) <= now
    }
}

extension Transition {
    /// Its size in names: controllers, expectations, participants and appearance events, and the `userInfo` of its
    /// animation in units of a name's length.
    var weight: Int {
        let locked =
            switch request.scope {
            case .controllers(let named)?, .anyOf(let named)?: named.count
            case .scene?, .operation?, nil: 0
            }
        let read = locked + request.controllerCount + request.expectations.count + participants.count
        let unread = (request.animation?.userInfo?.count ?? 0) / Limits.controllerIDBytes
        guard case .ended(let ending) = phase else { return read + unread }
        let resolved = ending.grant?.resolved.reduce(0) { $0 + $1.arrivalCounts.controllers } ?? 0
        let changed = ending.change.map { $0.inserted.count + $0.removed.count } ?? 0
        return read + unread + resolved + changed + ending.appearance.count + (ending.grant?.appearance.count ?? 0)
    }
}
