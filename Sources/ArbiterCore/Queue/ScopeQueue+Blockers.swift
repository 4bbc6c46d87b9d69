// Blockers: the transitions that an error or a view shows as the reason to wait, limited in number.

extension ScopeQueue {
    /// The unfinished transitions that conflict with a new request for the scope that names these controllers, granted
    /// ones first, at most `limit`.
    func blockers(of scope: [ScopePath], naming ids: [ControllerID] = [], limit: Int) -> [TransitionID] {
        blockers(of: scope, naming: ids, before: nil, limit: limit).found
    }

    /// The same of a new request that takes an earlier place: what is behind that is in its way only if it is granted.
    func blockers(of new: Claim, at place: RequestOrder, limit: Int) -> [TransitionID] {
        blockers(of: new.paths, naming: new.arrivals.named, before: place, limit: limit).found
    }

    /// The transitions that a waiting transition waits for, granted ones first, at most `limit`.
    func blockers(of order: RequestOrder, limit: Int) -> [TransitionID] { someBlockers(of: order, limit: limit).found }

    /// All unfinished transitions that conflict with a new request for the scope that names these controllers; `nil` if there
    /// are more than `limit`, or if it takes too long to say that there are not.
    func allBlockers(of scope: [ScopePath], naming ids: [ControllerID] = [], limit: Int) -> [TransitionID]? {
        let (found, areAll) = blockers(of: scope, naming: ids, before: nil, limit: limit + 1)
        return areAll ? found : nil
    }

    /// All transitions that a waiting transition waits for; `nil` as above.
    func allBlockers(of order: RequestOrder, limit: Int) -> [TransitionID]? {
        let (found, areAll) = someBlockers(of: order, limit: limit + 1)
        return areAll ? found : nil
    }

    private func someBlockers(of order: RequestOrder, limit: Int) -> (found: [TransitionID], areAll: Bool) {
        guard let entry = self[order], !entry.isGranted else { return ([], true) }
        if entry.places == Self.top, isFlat(naming: entry.arrivals.named) {
            return blockersAtTop(before: order, limit: limit)
        }
        let paths = entry.places.map { places.path(to: $0) }
        return blockers(of: paths, naming: entry.arrivals.named, before: order, limit: limit)
    }

    /// The controllers at the ends of the paths of an unfinished transition; `nil` if it locks the whole scene.
    func locks(of order: RequestOrder) -> [ControllerID]? {
        guard let entry = self[order], entry.places != Self.top else { return nil }
        return entry.places.compactMap { places[$0].name }
    }

    /// At most `limit` blockers, and whether there are certainly no others.
    private func blockers(
        of scope: [ScopePath], naming ids: [ControllerID], before order: RequestOrder?, limit: Int
    ) -> (found: [TransitionID], areAll: Bool) {
        if scope.count == 1, scope[0].isEmpty, isFlat(naming: ids) {
            return blockersAtTop(before: order, limit: limit)
        }
        var granted: Set<RequestOrder> = []
        var waiting: Set<RequestOrder> = []
        var isCut = false
        for path in scope {
            var place: Int? = PlaceTree.top
            for name in path {
                guard let above = place else { break }
                note(at: above)
                place = places[above].children[name]
            }
            if let place { collect(below: place) }
        }
        for id in ids { noteBringers(of: id) }
        let found = (granted.sorted() + waiting.sorted()).prefix(limit)
        return (found.compactMap { self[$0]?.id }, !isCut && found.count < limit)

        func note(at place: Int) {
            if let holder = places[place].holder { granted.insert(holder) }
            for other in places[place].parts.prefix(limit, before: order) where self[other]?.isGranted == false {
                waiting.insert(other)
            }
        }

        func noteBringers(of id: ControllerID) {
            for bringer in coming.bringers(of: id, before: order).prefix(limit) {
                if self[bringer]?.isGranted == true { granted.insert(bringer) } else { waiting.insert(bringer) }
            }
        }

        // Looks for granted parts first, then for waiting ones. The visits are bounded, because only `limit` are shown.
        func collect(below place: Int) {
            var visits = 16 * limit
            func descend(_ place: Int, grantedOnly: Bool) {
                visits -= 1
                // The first one is looked for at any depth, because a refusal names one at least.
                let isFirst = granted.isEmpty && (grantedOnly || order == nil && waiting.isEmpty)
                guard visits > 0 || isFirst, granted.count + (grantedOnly ? 0 : waiting.count) < limit else {
                    isCut = true
                    return
                }
                note(at: place)
                let children =
                    grantedOnly ? places[place].grantedChildren[...] : places.someChildren(of: place, count: limit)
                if !grantedOnly, Set(children).count < places[place].children.count { isCut = true }
                for child in children { descend(child, grantedOnly: grantedOnly) }
            }
            descend(place, grantedOnly: true)
            descend(place, grantedOnly: false)
        }
    }

    /// Whether every transition locks the whole scene, and none brings in one of the controllers.
    private func isFlat(naming ids: [ControllerID]) -> Bool {
        places[PlaceTree.top].children.isEmpty && !ids.contains { coming.isComing($0) }
    }

    /// The same if every transition locks the whole scene: nothing has to be sorted.
    private func blockersAtTop(before order: RequestOrder?, limit: Int) -> (found: [TransitionID], areAll: Bool) {
        var found: [TransitionID] = []
        found.reserveCapacity(limit)
        if limit > 0, let holder = places[PlaceTree.top].holder.flatMap({ self[$0] }) { found.append(holder.id) }
        places[PlaceTree.top].parts.visit(before: order) { other in
            guard found.count < limit else { return false }
            if let entry = self[other], !entry.isGranted { found.append(entry.id) }
            return true
        }
        return (found, found.count < limit)
    }
}
