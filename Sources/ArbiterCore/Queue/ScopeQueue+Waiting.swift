// How many transitions wait for a granted one, and for which granted transitions another one has begun to wait.

extension ScopeQueue {
    /// How many waiting transitions conflict with a granted one, counted up to `limit`; 0 for one that is not granted.
    func waiting(for order: RequestOrder, limit: Int) -> Int {
        guard let entry = self[order], entry.isGranted, count > granted.count else { return 0 }
        if let place = entry.places.first, entry.places.count == 1, places[place].children.isEmpty,
            !isAwaited(entry.arrivals.brought, of: order)
        {
            return min(limit, places.waitingOnTheWay(to: place))
        }
        var found: Set<RequestOrder> = []
        for id in entry.arrivals.brought {
            for namer in coming.namers(of: id, after: order).prefix(limit) { found.insert(namer) }
        }
        for place in entry.places {
            var above = places[place].parent
            while let ancestor = above {
                collect(at: ancestor)
                above = places[ancestor].parent
            }
            // A place exists only while there are parts at or below it, so the number of visits is bounded by that of
            // parts, and by their depth.
            var below = [place]
            while found.count < limit, let next = below.popLast() {
                collect(at: next)
                below.append(contentsOf: places[next].children.values)
            }
        }
        return min(limit, found.count)

        func collect(at place: Int) {
            // Besides the waiting ones, the line may have one that is granted.
            for other in places[place].parts.prefix(limit + 1, before: nil) where self[other]?.isGranted == false {
                found.insert(other)
            }
        }
    }

    private func isAwaited(_ brought: [ControllerID], of order: RequestOrder) -> Bool {
        brought.contains { !coming.namers(of: $0, after: order).isEmpty }
    }
}

// MARK: - Contention

extension ScopeQueue {
    /// The granted transitions that another one has begun to wait for, each named only once, in the order of their places.
    ///
    /// Looks at what was added, moved or granted since the last call, so it costs nothing where nothing changed.
    mutating func takeContended() -> [TransitionID] {
        guard !changed.isEmpty else { return [] }
        var found: [(order: RequestOrder, id: TransitionID)] = []
        // Once all that are granted are waited for, there is nothing to look for.
        for order in changed where uncontended > 0 {
            guard let entry = self[order] else { continue }
            if !entry.isGranted {
                for holder in uncontended(inTheWayOf: entry, at: order) { note(holder) }
            } else if !entry.isContended, count > granted.count, waiting(for: order, limit: 1) > 0 {
                note(order)
            }
        }
        forgetChanges()
        if found.count > 1 { found.sort { $0.order < $1.order } }
        return found.map(\.id)

        func note(_ order: RequestOrder) {
            if let id = noteContention(of: order) { found.append((order, id)) }
        }
    }

    /// The granted transitions that a waiting one waits for and that have not been waited for before.
    private func uncontended(inTheWayOf entry: Entry, at order: RequestOrder) -> [RequestOrder] {
        var found: [RequestOrder] = []
        func note(_ holder: RequestOrder) {
            if let other = self[holder], other.isGranted, !other.isContended { found.append(holder) }
        }
        for id in entry.arrivals.named {
            coming.bringers(of: id, before: order).prefix(Limits.blockersShown).forEach(note)
        }
        let below = entry.places.reduce(0) { $0 + places[$1].granted }
        if below > granted.count / 2 {
            // Almost everything that is granted is in the way.
            for holder in granted where self[holder]?.isContended == false {
                let isInTheWay = self[holder]?.places.contains { held in
                    entry.places.contains { places.areRelated($0, held) }
                }
                if isInTheWay == true { found.append(holder) }
            }
            return found
        }
        for place in entry.places {
            var above = places[place].parent
            while let ancestor = above {
                if let holder = places[ancestor].holder { note(holder) }
                above = places[ancestor].parent
            }
            var below = [place]
            while let next = below.popLast() {
                if let holder = places[next].holder { note(holder) }
                below.append(contentsOf: places[next].grantedChildren)
            }
        }
        return found
    }
}
