// Coalescing: of the tickets with the same key, one remains.

extension ArbiterStateMachine {
    /// What happens to a new ticket when there are older ones with its coalescing key.
    enum Coalesced {
        /// The older ones end, in the order of their places, and the new ticket takes the place of the first.
        case takesOver([Transition])
        /// The new ticket ends, and the older ones remain, of which this is the first.
        case givesWay(to: Transition)

        var isTakeover: Bool {
            switch self {
            case .takesOver: true
            case .givesWay: false
            }
        }
    }

    /// Finds the tickets that a new request is coalesced with.
    ///
    /// - Returns: `nil` if there is none, or if a transition that conflicts with it or with the new one is between.
    func coalesced(_ request: TransitionRequest) -> Coalesced? {
        guard let coalescing = request.coalescing, let scene = durable.scenes[request.scene] else { return nil }
        let place = DurableState.CoalescingPlace(of: request, coalescing)
        let candidates = (durable.index.coalescing[place] ?? []).compactMap { durable.transitions[$0] }
            .filter(\.isReplaceable).sorted { $0.place > $1.place }
        let new = Claim(of: request, scope: scene.resolvedScope(of: request), in: scene)
        var found: [Transition] = []
        // From the newest to the oldest: those that are replaced do not separate others from the new one.
        for older in candidates
        where !isSeparated(older, from: new, besides: Set(found.map(\.place)), in: scene) {
            found.append(older)
        }
        found.reverse()
        guard let first = found.first else { return nil }
        switch coalescing.keep {
        case .latest: return .takesOver(found)
        case .first: return .givesWay(to: first)
        }
    }

    /// Whether a later transition conflicts with a ticket, or with the new one that would take its place.
    ///
    /// A later ticket with the same key that is not replaced counts like any other.
    private func isSeparated(
        _ older: Transition, from new: Claim, besides replaced: Set<RequestOrder>, in scene: Scene
    ) -> Bool {
        func claim(of transition: Transition) -> Claim {
            Claim(of: transition.request, scope: transition.scope, in: scene)
        }
        let old = claim(of: older)
        let later = scene.tickets.members(after: older.place) + scene.queue.granted.filter { older.place < $0 }
        return later.contains { place in
            guard !replaced.contains(place), let other = scene.queue[place].flatMap({ durable.transitions[$0.id] })
            else { return false }
            let between = claim(of: other)
            return between.overlaps(old) || between.overlaps(new) || between.waits(for: old)
                || between.waits(for: new) || new.waits(for: between)
        }
    }
}

/// What a transition conflicts by: what it locks, what it brings in, and what it names.
private struct Claim {
    let paths: [ScopePath]
    let brought: Set<ControllerID>
    let named: Set<ControllerID>

    init(of request: TransitionRequest, scope: Scope, in scene: Scene) {
        paths = scene.storyboard.paths(of: scope, request.operationOutline)
        let arrivals = scene.storyboard.arrivals(of: request, scope: scope)
        brought = Set(arrivals.brought)
        named = Set(arrivals.named)
    }

    func overlaps(_ other: Claim) -> Bool {
        paths.contains { path in other.paths.contains { $0.starts(with: path) || path.starts(with: $0) } }
    }

    /// Whether it would wait for the other one if that were earlier, because of what that brings in.
    func waits(for other: Claim) -> Bool { !named.isDisjoint(with: other.brought) }
}

extension Transition {
    /// Whether it is queued, and its owner has neither ended it nor released its gesture.
    fileprivate var isReplaceable: Bool {
        guard case .queued(let queued) = phase else { return false }
        return !queued.completesAtGrant && gesture == nil
    }
}
