// Who is in whose way: what people are shown, a few of them.

extension ScopeQueue {
    /// Who is in the way of a scope that is asked for now, granted ones first, `limit` at most.
    func blockers(of scope: [ScopePath], limit: Int) -> [TransitionID] {
        blockers(of: scope, before: nil, limit: limit)
    }

    /// Who is in the way of a transition that waits, granted ones first, `limit` at most.
    func blockers(of order: RequestOrder, limit: Int) -> [TransitionID] {
        guard let entry = entries[order], !entry.isGranted else { return [] }
        return blockers(of: entry.places.map { path(to: $0) }, before: order, limit: limit)
    }

    private func blockers(of scope: [ScopePath], before order: RequestOrder?, limit: Int) -> [TransitionID] {
        var granted: Set<RequestOrder> = []
        var waiting: Set<RequestOrder> = []
        for path in scope {
            var place: Int? = Self.top
            for name in path {
                guard let above = place else { break }
                note(at: above)
                place = places[above].children[name]
            }
            if let place { collect(below: place) }
        }
        let found = (granted.sorted() + waiting.sorted()).prefix(limit)
        return found.compactMap { entries[$0]?.id }

        func note(at place: Int) {
            if let holder = places[place].holder { granted.insert(holder) }
            for other in places[place].parts.prefix(limit, before: order) where entries[other]?.isGranted == false {
                waiting.insert(other)
            }
        }

        // Granted ones first, then those that wait; a bounded look around, since so few are shown.
        func collect(below place: Int) {
            var visits = 16 * limit
            func descend(_ place: Int, grantedOnly: Bool) {
                visits -= 1
                guard visits > 0, granted.count + (grantedOnly ? 0 : waiting.count) < limit else { return }
                note(at: place)
                let children = grantedOnly ? places[place].grantedChildren[...] : someChildren(of: place, count: limit)
                for child in children { descend(child, grantedOnly: grantedOnly) }
            }
            descend(place, grantedOnly: true)
            descend(place, grantedOnly: false)
        }
    }
}
