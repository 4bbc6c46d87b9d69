// Coalescing: of two tickets that want the same, one is enough.

extension ArbiterStateMachine {
    /// What becomes of a new ticket beside one with the same coalescing key.
    enum Coalesced {
        /// It takes over the place of the older one.
        case takesOver(Transition)
        /// The older one stays.
        case givesWay(to: Transition)

        var isTakeover: Bool {
            switch self {
            case .takesOver: true
            case .givesWay: false
            }
        }
    }

    /// Finds the older ticket that a new one is coalesced with, if there is one and nothing stands between.
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
            guard let other = scene.queue.entries[place].flatMap({ durable.transitions[$0.id] }) else { continue }
            let others = scene.storyboard.paths(of: other.scope, other.request.operationOutline)
            let isInTheWay = others.contains { path in
                paths.contains { $0.starts(with: path) || path.starts(with: $0) }
            }
            // One with the same key is there only if it cannot be replaced, and so it is not passed either.
            if isInTheWay { return nil }
        }
        switch coalescing.keep {
        case .latest: return .takesOver(older)
        case .first: return .givesWay(to: older)
        }
    }
}

extension Transition {
    /// Whether it waits, and its owner has not been told that it will be carried out.
    fileprivate var isReplaceable: Bool {
        guard case .queued(let queued) = phase else { return false }
        return !queued.completesAtGrant && gesture == nil
    }
}
