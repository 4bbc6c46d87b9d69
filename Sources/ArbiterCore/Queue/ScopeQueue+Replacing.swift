// Which waiting transitions a new one may replace: those that nothing separates from it.

/// What a transition conflicts by.
struct Claim {
    /// The paths of what it locks.
    let paths: [ScopePath]
    var arrivals: ScopeQueue.Arrivals
}

extension ScopeQueue {
    /// Of some waiting transitions, those that a new one may replace.
    ///
    /// A transition that conflicts with the new one or with the one to be replaced, and comes after that, separates them. Those
    /// that are replaced separate nothing. One candidate costs the depth of its places times a logarithm.
    ///
    /// - Parameters:
    ///   - candidates: the orders of unfinished transitions, the last one first.
    ///   - new: what the new one conflicts by.
    ///   - mayBeReplaced: whether a candidate, which waits, may be replaced at all.
    /// - Returns: their orders, the first one first.
    mutating func replaceable(
        _ candidates: some Sequence<RequestOrder>, by new: Claim, where mayBeReplaced: (TransitionID) -> Bool
    ) -> [RequestOrder] {
        var found: [RequestOrder] = []
        for order in candidates {
            // What separates the new one from this candidate separates it from every earlier one too.
            if isSeparated(new, from: order) { break }
            guard let entry = self[order], !entry.isGranted, mayBeReplaced(entry.id), !isSeparated(order) else {
                continue
            }
            found.append(order)
            hide(order)
        }
        for order in found { reveal(order) }
        return found.reversed()
    }

    /// Whether a transition after an order conflicts with a new one.
    private func isSeparated(_ new: Claim, from order: RequestOrder) -> Bool {
        new.paths.contains { places.hasPart(at: $0, after: order) }
            || new.arrivals.brought.contains { coming.hasNamer(of: $0, after: order) }
            || new.arrivals.named.contains { coming.hasBringer(of: $0, after: order) }
    }

    /// Whether a transition after a waiting one conflicts with it.
    private func isSeparated(_ order: RequestOrder) -> Bool {
        guard let entry = self[order] else { preconditionFailure("\(order) is not in the queue") }
        return entry.places.contains { places.hasPart(at: $0, after: order) }
            || entry.arrivals.brought.contains { coming.hasNamer(of: $0, after: order) }
    }

    /// Has a waiting transition separate nothing.
    ///
    /// Those at its places that come after it are hidden already.
    private mutating func hide(_ order: RequestOrder) {
        guard let entry = self[order] else { preconditionFailure("\(order) is not in the queue") }
        for place in entry.places { places.hide(order, at: place) }
        coming.hide(order, bringing: entry.arrivals.brought, naming: entry.arrivals.named)
    }

    private mutating func reveal(_ order: RequestOrder) {
        guard let entry = self[order] else { preconditionFailure("\(order) is not in the queue") }
        for place in entry.places { places.reveal(at: place) }
        coming.reveal(order, bringing: entry.arrivals.brought, naming: entry.arrivals.named)
    }
}
