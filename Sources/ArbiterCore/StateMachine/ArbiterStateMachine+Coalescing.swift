// Coalescing: of the tickets with the same key, one remains.

extension ArbiterStateMachine {
    /// What happens to a new ticket when there are older transitions with its coalescing key.
    enum Coalesced {
        /// The older ones, which wait or prepare, end, in the order of the line, and the new ticket counts as if it had been asked for when the first was.
        case takesOver([Transition])
        /// The new ticket ends, and the older ones remain, of which this is the first.
        case givesWay(to: Transition)

        /// Those that end.
        var replaced: [Transition] {
            switch self {
            case .takesOver(let older): older
            case .givesWay: []
            }
        }
    }

    /// Finds the transitions that a new request is coalesced with, among the newest `Limits.coalesced` with its key.
    ///
    /// Nothing changes, although the queue marks the tickets meanwhile.
    ///
    /// - Returns: `nil` if there is none, or if a transition that conflicts with it or with the new one is between.
    mutating func coalesced(_ request: TransitionRequest) -> Coalesced? {
        guard let coalescing = request.coalescing,
            let line = durable.index.coalescing[DurableState.CoalescingPlace(of: request, coalescing)],
            let claim = durable.scenes[request.scene]?.claim(of: request)
        else { return nil }
        let transitions = durable.transitions
        let aside = asideClaims(in: request.scene)
        guard let priority = durable.scenes[request.scene]?.resolvedPriority(of: request) else { return nil }
        let place = LinePlace(RequestOrder(rawValue: durable.lastOrder.rawValue + 1), priority)
        var looked = 0
        let places = durable.scenes[request.scene]?.queue.replaceable(
            line.latest(.max), by: claim, at: place, under: durable.rules, aside: aside
        ) {
            // Of what is started, none can be in the queue.
            guard let older = transitions[$0], older.isSerialized || coalescing.among == .unfinished else {
                return false
            }
            looked += 1
            guard looked <= Limits.coalesced else { return nil }
            guard older.isCoalesced(by: coalescing) else { return false }
            // The one that stays has no lower priority than the one that goes.
            return coalescing.keep == .latest ? older.priority <= priority : older.priority >= priority
        }
        let found = (places ?? []).compactMap { transition(at: $0, in: request.scene) }
        guard let first = found.first else { return nil }
        switch coalescing.keep {
        case .latest: return .takesOver(found)
        case .first: return .givesWay(to: first)
        }
    }

    /// The unfinished transition at a place of a scene.
    private func transition(at place: LinePlace, in scene: SceneName) -> Transition? {
        (durable.scenes[scene]?.queue[place]?.id ?? durable.scenes[scene]?.aside.tickets[place])
            .flatMap { durable.transitions[$0] }
    }

    /// What the tickets of a scene that are set aside conflict by.
    private func asideClaims(in name: SceneName) -> (LinePlace) -> (id: TransitionID, claim: Claim)? {
        guard let scene = durable.scenes[name], !scene.aside.isEmpty else { return { _ in nil } }
        let (aside, storyboard, transitions) = (scene.aside, scene.storyboard, durable.transitions)
        return { place in
            guard let ticket = aside.tickets[place].flatMap({ transitions[$0] }) else { return nil }
            // As with one in the line, it is nobody's bringing that keeps it from being replaced.
            var claim = storyboard.claim(of: ticket.request, scope: ticket.scope)
            claim.arrivals.named = []
            return (ticket.id, claim)
        }
    }
}

extension Scene {
    /// What a new request conflicts by.
    func claim(of request: TransitionRequest) -> Claim {
        storyboard.claim(of: request, scope: resolvedScope(of: request))
    }
}

extension Transition {
    /// Whether a new ticket may replace it, or give way to it.
    ///
    /// It may while it is queued, and its owner has neither ended it nor released its gesture. If the new one looks beyond the queue, it
    /// may replace one that prepares, which has shown nothing, and give way to every one that is not being taken back.
    fileprivate func isCoalesced(by coalescing: Coalescing) -> Bool {
        let isOpen = !hasRememberedEnd && gesture == nil
        switch (phase, coalescing.among, coalescing.keep) {
        case (.queued, .queued, _), (.queued, .unfinished, .latest): return isOpen
        case (.queued, .unfinished, .first): return gesture?.decision != .cancel
        case (.ended, _, _), (.preparing, .queued, _), (.running, .queued, _), (.running, _, .latest): return false
        case (.preparing, .unfinished, .latest): return isOpen
        case (.preparing, .unfinished, .first), (.running, .unfinished, .first):
            return interruption == nil && gesture?.decision != .cancel
        }
    }
}
