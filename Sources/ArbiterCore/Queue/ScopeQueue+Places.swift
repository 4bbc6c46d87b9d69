internal import HeapModule

// The tree of places, and what each knows of those below.

extension ScopeQueue {
    mutating func place(at path: ScopePath) -> Int {
        path.reduce(Self.top) { parent, name in
            if let child = places[parent].children[name] { return child }
            let fresh = Place(name: name, parent: parent)
            let child: Int
            if let reused = vacant.popLast() {
                child = reused
                places[child] = fresh
            } else {
                child = places.count
                places.append(fresh)
            }
            places[parent].children[name] = child
            return child
        }
    }

    func path(to place: Int) -> ScopePath {
        var path: ScopePath = []
        var place = place
        while let parent = places[place].parent, let name = places[place].name {
            path.append(name)
            place = parent
        }
        return path.reversed()
    }

    func placeOfCandidate(_ order: RequestOrder) -> Int {
        var place = Self.top
        while places[place].parts.first != order {
            guard let below = places[place].childrenCandidates.min, below.order == order else {
                preconditionFailure("no place below \(path(to: place)) has the candidate \(order)")
            }
            place = below.child
        }
        return place
    }

    mutating func clear(_ order: RequestOrder, at place: Int) {
        places[place].isFirstClear = true
        update(from: place)
    }

    mutating func count(_ change: Int, grantedAt start: Int) {
        var place = start
        while true {
            let before = places[place].granted
            let after = before + change
            places[place].granted = after
            guard let parent = places[place].parent else { return }
            if before == 0 {
                places[place].rankAmongGranted = places[parent].grantedChildren.count
                places[parent].grantedChildren.append(place)
            } else if after == 0 {
                let rank = places[place].rankAmongGranted
                let last = places[parent].grantedChildren.removeLast()
                if last != place {
                    places[parent].grantedChildren[rank] = last
                    places[last].rankAmongGranted = rank
                }
            }
            place = parent
        }
    }

    /// Recomputes what a place and those above it publish, as far up as anything changes; gives back empty places.
    mutating func update(from start: Int) {
        var place = start
        while true {
            let before = (places[place].earliest, places[place].candidate)
            refresh(place)
            let after = (places[place].earliest, places[place].candidate)
            guard let parent = places[place].parent else { return }
            if after.0 == nil {
                if let name = places[place].name { places[parent].children.removeValue(forKey: name) }
                vacant.append(place)
            } else if before == after {
                return
            }
            if let earliest = after.0, earliest != before.0 {
                publishEarliest(earliest, of: place, to: parent)
            }
            if let candidate = after.1, candidate != before.1 {
                publishCandidate(candidate, of: place, to: parent)
            }
            place = parent
        }
    }

    private mutating func refresh(_ index: Int) {
        let own = places[index].parts.first
        guard !places[index].children.isEmpty || !places[index].childrenEarliest.isEmpty else {
            places[index].earliest = own
            places[index].candidate = places[index].isFirstClear ? nil : own
            return
        }
        let earliestBelow = currentEarliest(below: index)
        let candidateBelow = currentCandidate(below: index)
        places[index].earliest = [own, earliestBelow].compactMap(\.self).min()
        if let own, !places[index].isFirstClear, earliestBelow.map({ own < $0 }) ?? true {
            places[index].candidate = own
        } else if let candidateBelow, own.map({ candidateBelow < $0 }) ?? true {
            places[index].candidate = candidateBelow
        } else {
            places[index].candidate = nil
        }
    }

    private mutating func currentEarliest(below index: Int) -> RequestOrder? {
        while let published = places[index].childrenEarliest.min {
            if isCurrentEarliest(published, below: index) { return published.order }
            places[index].childrenEarliest.removeMin()
        }
        return nil
    }

    private mutating func currentCandidate(below index: Int) -> RequestOrder? {
        while let published = places[index].childrenCandidates.min {
            if isCurrentCandidate(published, below: index) { return published.order }
            places[index].childrenCandidates.removeMin()
        }
        return nil
    }

    private mutating func publishEarliest(_ order: RequestOrder, of child: Int, to parent: Int) {
        places[parent].childrenEarliest.insert(Published(order: order, child: child))
        guard places[parent].childrenEarliest.count > outdatedAllowance(of: parent) else { return }
        let current = places[parent].childrenEarliest.unordered.filter { isCurrentEarliest($0, below: parent) }
        places[parent].childrenEarliest = Heap(Set(current).sorted())
    }

    private mutating func publishCandidate(_ order: RequestOrder, of child: Int, to parent: Int) {
        places[parent].childrenCandidates.insert(Published(order: order, child: child))
        guard places[parent].childrenCandidates.count > outdatedAllowance(of: parent) else { return }
        let current = places[parent].childrenCandidates.unordered.filter { isCurrentCandidate($0, below: parent) }
        places[parent].childrenCandidates = Heap(Set(current).sorted())
    }

    /// How much may be published before the outdated is swept out: enough for the sweep to cost nothing on average.
    private func outdatedAllowance(of place: Int) -> Int {
        2 * places[place].children.count + 32
    }

    private func isCurrentEarliest(_ published: Published, below parent: Int) -> Bool {
        isChild(published.child, of: parent) && places[published.child].earliest == published.order
    }

    private func isCurrentCandidate(_ published: Published, below parent: Int) -> Bool {
        isChild(published.child, of: parent) && places[published.child].candidate == published.order
    }

    func someChildren(of place: Int, count: Int) -> ArraySlice<Int> {
        let current = places[place].childrenEarliest.unordered.lazy.filter { isCurrentEarliest($0, below: place) }
        return current.prefix(count).map(\.child)[...]
    }

    /// Whether the index, which may have been given back and reused since, is a place right below the other.
    private func isChild(_ child: Int, of parent: Int) -> Bool {
        guard let name = places[child].name else { return false }
        return places[parent].children[name] == child
    }
}
