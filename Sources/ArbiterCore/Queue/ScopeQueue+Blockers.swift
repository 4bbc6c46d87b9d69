// Blockers: the transitions that an error or a view shows as the reason to wait, limited in number.

extension ScopeQueue {
    /// Whether a new request would be granted at once at a place in the line.
    func isFree(_ claim: Claim, at order: LinePlace) -> Bool {
        guard !claim.arrivals.named.contains(where: { coming.isComing($0, before: order) }) else { return false }
        return claim.isAny ? freePath(of: claim, at: order) != nil : claim.paths.allSatisfy { isFree($0, claim, order) }
    }

    /// The first path of a new request that nothing is in the way of at a place in the line.
    func freePath(of claim: Claim, at order: LinePlace) -> ScopePath? {
        claim.paths.first { isFree($0, claim, order) }
    }

    private func isFree(_ path: ScopePath, _ claim: Claim, _ order: LinePlace) -> Bool {
        !places.isHeldUp(path, before: order, isShared: claim.isShared)
    }

    /// The transitions in the way of a new request at a place in the line: granted ones first, at most `limit`.
    func blockers(of claim: Claim, at order: LinePlace, limit: Int) -> [TransitionID] {
        blockers(of: claim, before: order, limit: limit).found
    }

    /// The transitions that a waiting transition waits for, granted ones first, at most `limit`.
    func blockers(of order: LinePlace, limit: Int) -> [TransitionID] { someBlockers(of: order, limit: limit).found }

    /// All transitions in the way of a new request; `nil` if there are more than `limit`, or if it takes too long to say that
    /// there are not.
    func allBlockers(of claim: Claim, at order: LinePlace, limit: Int) -> [TransitionID]? {
        let (found, areAll) = blockers(of: claim, before: order, limit: limit + 1)
        return areAll ? found : nil
    }

    /// All transitions that a waiting transition waits for; `nil` as above.
    func allBlockers(of order: LinePlace, limit: Int) -> [TransitionID]? {
        let (found, areAll) = someBlockers(of: order, limit: limit + 1)
        return areAll ? found : nil
    }

    private func someBlockers(of order: LinePlace, limit: Int) -> (found: [TransitionID], areAll: Bool) {
        guard let entry = self[order], !entry.isGranted else { return ([], true) }
        if entry.places == Self.top, isFlat(naming: entry.arrivals.named, before: order) {
            return blockersAtTop(before: order, limit: limit)
        }
        let claim = Claim(
            paths: entry.places.map { places.path(to: $0) }, arrivals: entry.arrivals, isShared: entry.isShared)
        return blockers(of: claim, before: order, limit: limit)
    }

    /// The controllers at the ends of the paths of an unfinished transition; `nil` if it locks the whole scene.
    func locks(of order: LinePlace) -> [ControllerID]? {
        guard let entry = self[order], entry.places != Self.top else { return nil }
        return entry.places.compactMap { places[$0].name }
    }

    /// At most `limit` blockers, and whether there are certainly no others.
    private func blockers(
        of claim: Claim, before order: LinePlace, limit: Int
    ) -> (found: [TransitionID], areAll: Bool) {
        if claim.paths.count == 1, claim.paths[0].isEmpty, isFlat(naming: claim.arrivals.named, before: order) {
            return blockersAtTop(before: order, limit: limit)
        }
        let isShared = claim.isShared
        var granted: Set<LinePlace> = []
        var waiting: Set<LinePlace> = []
        var isCut = false
        for path in claim.paths {
            var place: Int? = PlaceTree.top
            for name in path {
                guard let above = place else { break }
                note(at: above)
                place = places[above].children[name]
            }
            if let place { collect(below: place) }
        }
        for id in claim.arrivals.named { noteBringers(of: id) }
        let found = (granted.sorted() + waiting.sorted()).prefix(limit)
        return (found.compactMap { self[$0]?.id }, !isCut && found.count < limit)

        func note(at place: Int) {
            granted.formUnion(places.holders(of: place, conflictingWithShared: isShared, limit: limit))
            waiting.formUnion(
                places.parts(at: place, conflictingWithShared: isShared, limit: limit, before: order))
        }

        func noteBringers(of id: ControllerID) {
            for bringer in coming.bringers(of: id, before: order).prefix(limit) {
                if self[bringer]?.isGranted == true { granted.insert(bringer) } else { waiting.insert(bringer) }
            }
        }

        // Looks for granted parts first, then for waiting ones. The visits are bounded, because only `limit` are shown. So many
        // transitions have parts at no more places than that; but the first one is looked for at any depth.
        func collect(below place: Int) {
            note(at: place)
            var visits = Limits.scopeControllers * limit
            collectGranted(below: place, &visits)
            collectWaiting(below: place, &visits)
        }

        func collectGranted(below place: Int, _ visits: inout Int) {
            for child in places.grantedChildren(of: place, conflictingWithShared: isShared) {
                visits -= 1
                guard visits > 0 || granted.isEmpty, granted.count < limit else {
                    isCut = true
                    return
                }
                granted.formUnion(places.holders(of: child, conflictingWithShared: isShared, limit: limit))
                collectGranted(below: child, &visits)
            }
        }

        func collectWaiting(below place: Int, _ visits: inout Int) {
            let (children, areAll) = places.children(
                of: place, withPartsBefore: order, conflictingWithShared: isShared, lookingAt: max(limit, visits))
            if !areAll { isCut = true }
            for child in children {
                visits -= 1
                guard visits > 0 || granted.isEmpty && waiting.isEmpty, granted.count + waiting.count < limit else {
                    isCut = true
                    return
                }
                waiting.formUnion(
                    places.parts(at: child, conflictingWithShared: isShared, limit: limit, before: order))
                collectWaiting(below: child, &visits)
            }
        }
    }

    /// Whether every transition locks the whole scene, none is shared, and none before a place in the line brings in one of the
    /// controllers.
    private func isFlat(naming ids: [ControllerID], before order: LinePlace) -> Bool {
        places[PlaceTree.top].children.isEmpty && places.sharedParts == 0
            && !ids.contains { coming.isComing($0, before: order) }
    }

    /// The same if every transition locks the whole scene: nothing has to be sorted.
    private func blockersAtTop(before order: LinePlace, limit: Int) -> (found: [TransitionID], areAll: Bool) {
        var found: [TransitionID] = []
        found.reserveCapacity(limit)
        if limit > 0, let holder = places[PlaceTree.top].holder.flatMap({ self[$0] }) { found.append(holder.id) }
        places[PlaceTree.top, isShared: false].parts.visit(before: order) { other in
            guard found.count < limit else { return false }
            if let entry = self[other] { found.append(entry.id) }
            return true
        }
        return (found, found.count < limit)
    }
}
