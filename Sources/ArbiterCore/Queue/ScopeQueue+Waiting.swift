// How many transitions wait for a granted one, and for which granted transitions another one has begun to wait.

extension ScopeQueue {
    /// How many waiting transitions conflict with a granted one, counted up to `limit`; 0 for one that is not granted.
    func waiting(for order: LinePlace, limit: Int) -> Int {
        guard let entry = self[order], entry.isGranted, count > granted.count else { return 0 }
        if let place = entry.places.first, entry.places.count == 1, places[place].children.isEmpty,
            !isAwaited(entry.arrivals.brought, of: order)
        {
            return min(limit, places.waitingOnTheWay(to: place, conflictingWithShared: entry.isShared))
        }
        var found: Set<LinePlace> = []
        for id in entry.arrivals.brought {
            for namer in coming.namers(of: id, waitingFor: order).prefix(limit) { found.insert(namer) }
        }
        for place in entry.places {
            for above in places.ancestors(of: place) { note(at: above) }
            var below = [place]
            while found.count < limit, let next = below.popLast() {
                note(at: next)
                below.append(
                    contentsOf: places[next].children.values.filter {
                        places.earliest(in: $0, conflictingWithShared: entry.isShared) != nil
                    })
            }
        }
        return min(limit, found.count)

        func note(at place: Int) {
            found.formUnion(places.parts(at: place, conflictingWithShared: entry.isShared, limit: limit))
        }
    }

    private func isAwaited(_ brought: [ControllerID], of order: LinePlace) -> Bool {
        brought.contains { !coming.namers(of: $0, waitingFor: order).isEmpty }
    }
}

// MARK: - Contention

extension ScopeQueue {
    /// The granted transitions that another one has begun to wait for, each named only once, in the order of the line.
    ///
    /// Looks at what was added, moved or granted since the last call, so it costs nothing where nothing changed.
    mutating func takeContended() -> [TransitionID] {
        guard !changed.isEmpty else { return [] }
        var found: [(order: LinePlace, id: TransitionID)] = []
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

        func note(_ order: LinePlace) {
            if let id = noteContention(of: order) { found.append((order, id)) }
        }
    }

    /// The granted transitions that a waiting one waits for and that have not been waited for before.
    private func uncontended(inTheWayOf entry: Entry, at order: LinePlace) -> [LinePlace] {
        var found: [LinePlace] = []
        func note(_ holder: LinePlace) {
            if let other = self[holder], other.isGranted, !other.isContended { found.append(holder) }
        }
        for id in entry.arrivals.named {
            coming.bringers(of: id, before: order).prefix(Limits.blockersShown).forEach(note)
        }
        let below = entry.places.reduce(0) { $0 + places.granted(in: $1, conflictingWithShared: entry.isShared) }
        if below > granted.count / 2 {
            // Almost everything that is granted is in the way.
            for holder in granted {
                guard let other = self[holder], !other.isContended, !(other.isShared && entry.isShared) else {
                    continue
                }
                let isInTheWay = other.places.contains { held in
                    entry.places.contains { places.areRelated($0, held) }
                }
                if isInTheWay { found.append(holder) }
            }
            return found
        }
        for place in entry.places {
            for above in places.ancestors(of: place) {
                places.holders(of: above, conflictingWithShared: entry.isShared).forEach(note)
            }
            places.visitHolders(atOrBelow: place, conflictingWithShared: entry.isShared) {
                note($0)
                return true
            }
        }
        return found
    }
}
