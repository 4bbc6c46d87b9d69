// Coalescing: of two tickets with the same key, only one remains.

extension ArbiterStateMachine {
    /// What happens to a new ticket when there is an older one with its coalescing key.
    enum Coalesced {
        /// The new ticket takes the place of the older one, which ends.
        case takesOver(Transition)
        /// The new ticket ends, and the older one remains.
        case givesWay(to: Transition)

        var isTakeover: Bool {
            switch self {
            case .takesOver: true
            case .givesWay: false
            }
        }
    }

    /// Finds the ticket that a new request is coalesced with.
    ///
    /// - Returns: `nil` if there is none, or if a transition that conflicts with either of them is between.
    func coalesced(_ request: TransitionRequest) -> Coalesced? {
        guard let coalescing = request.coalescing else { return nil }
        let place = DurableState.CoalescingPlace(scene: request.scene, key: coalescing.key)
        let candidates = (durable.index.coalescing[place] ?? []).compactMap { durable.transitions[$0] }
        guard let older = candidates.filter(\.isReplaceable).max(by: { $0.place < $1.place }),
            let scene = durable.scenes[request.scene]
        else { return nil }
        let paths =
            scene.storyboard.paths(of: scene.resolvedScope(of: request), request.operationOutline)
            + scene.storyboard.paths(of: older.scope, older.request.operationOutline)
        let later = scene.tickets.members(after: older.place) + scene.queue.granted.filter { older.place < $0 }
        for place in later {
            guard let other = scene.queue[place].flatMap({ durable.transitions[$0.id] }) else { continue }
            let others = scene.storyboard.paths(of: other.scope, other.request.operationOutline)
            let isInTheWay = others.contains { path in
                paths.contains { $0.starts(with: path) || path.starts(with: $0) }
            }
            // A later ticket with the same key cannot be replaced, so it blocks like any other.
            if isInTheWay { return nil }
        }
        switch coalescing.keep {
        case .latest: return .takesOver(older)
        case .first: return .givesWay(to: older)
        }
    }
}

extension Transition {
    /// Whether it is queued, and its owner has neither ended it nor released its gesture.
    fileprivate var isReplaceable: Bool {
        guard case .queued(let queued) = phase else { return false }
        return !queued.completesAtGrant && gesture == nil
    }
}
