// How long what has ended stays readable.

extension ArbiterStateMachine {
    /// The record of a transition, if it is remembered.
    package func transition(_ id: TransitionID) -> Transition? { durable.transitions[id] }

    /// Lists a new transition, in request order.
    mutating func remember(_ id: TransitionID) {
        momentary.requested.append(id)
        guard momentary.requested.count > 2 * durable.transitions.count + 1024 else { return }
        momentary.requested.removeAll { durable.transitions[$0] == nil }
    }

    /// Forgets the transitions that ended first, as far as the limits ask for it.
    mutating func prune(at now: Instant) {
        while durable.ended.count > limits.retainedCount, let first = durable.ended.first,
            durable.ended.count > limits.retainedMaximum || first.at.advanced(by: limits.retainedDuration) <= now
        {
            durable.ended.removeFirst()
            let forgotten = durable.transitions.removeValue(forKey: first.id)
            // The key may have made another since.
            if let key = forgotten?.request.idempotencyKey, durable.keys[key] == first.id {
                durable.keys.removeValue(forKey: key)
            }
        }
    }
}
