// Candidates: which parts nothing is in the way of.

internal import HeapModule

extension PlaceTree {
    /// Recomputes the candidates of a place and of those above it, and frees empty places.
    mutating func update(from start: Int) {
        var place = start
        while true {
            update(place, isShared: false)
            if sharedParts > 0 { update(place, isShared: true) }
            guard let parent = places[place].parent else { return }
            if isEmpty(place) {
                if let name = places[place].name { places[parent].children.removeValue(forKey: name) }
                vacant.append(place)
            }
            place = parent
        }
    }

    private mutating func update(_ place: Int, isShared: Bool) {
        let before = self[place, isShared: isShared].candidate
        let after = isShared ? currentSharedCandidate(of: place) : currentCandidate(of: place)
        self[place, isShared: isShared].candidate = after
        guard let after, after != before, let parent = places[place].parent else { return }
        publish(after, of: place, to: parent, isShared: isShared)
    }

    private mutating func currentCandidate(of index: Int) -> LinePlace? {
        let own = self[index, isShared: false].parts.first
        // A granted part is in the way of all others here and below.
        guard places[index].holder == nil, places[index].sharedHolders.isEmpty else { return nil }
        guard !places[index].children.isEmpty || sharedParts > 0 else {
            return places[index].isFirstClear ? nil : own
        }
        if let below = currentCandidate(below: index, isShared: false), isBefore(below, own),
            isBefore(below, self[index, isShared: true].parts.first)
        {
            return below
        }
        guard let own, granted(in: index, conflictingWithShared: false) == 0, !places[index].isFirstClear,
            isBefore(own, self[index, isShared: false].below.first?.order),
            isBefore(own, self[index, isShared: true].earliest)
        else { return nil }
        return own
    }

    private mutating func currentSharedCandidate(of index: Int) -> LinePlace? {
        guard places[index].holder == nil else { return nil }
        let below = currentCandidate(below: index, isShared: true).flatMap {
            isBefore($0, self[index, isShared: false].parts.first) ? $0 : nil
        }
        guard let own = places[index].unclear.first, self[index, isShared: false].granted == 0,
            isBefore(own, self[index, isShared: false].earliest), isBefore(own, below)
        else { return below }
        return own
    }

    private mutating func currentCandidate(below index: Int, isShared: Bool) -> LinePlace? {
        while let published = self[index, isShared: isShared].childrenCandidates.min {
            if isCurrent(published, below: index, isShared: isShared) { return published.order }
            self[index, isShared: isShared].childrenCandidates.removeMin()
        }
        return nil
    }

    private mutating func publish(_ order: LinePlace, of child: Int, to parent: Int, isShared: Bool) {
        self[parent, isShared: isShared].childrenCandidates.insert(Part(order: order, child: child))
        guard self[parent, isShared: isShared].childrenCandidates.count > outdatedAllowance(of: parent) else { return }
        let published = self[parent, isShared: isShared].childrenCandidates.unordered
        let current = published.filter { isCurrent($0, below: parent, isShared: isShared) }
        self[parent, isShared: isShared].childrenCandidates = Heap(Set(current).sorted())
    }

    /// How many entries a place keeps before the outdated ones are removed, at constant average cost per entry.
    private func outdatedAllowance(of place: Int) -> Int {
        2 * places[place].children.count + 32
    }

    private func isCurrent(_ published: Part, below parent: Int, isShared: Bool) -> Bool {
        isChild(published.child, of: parent) && self[published.child, isShared: isShared].candidate == published.order
    }

    /// Whether the index is a child of `parent`; the index may have been freed and reused since it was published.
    private func isChild(_ child: Int, of parent: Int) -> Bool {
        guard let name = places[child].name else { return false }
        return places[parent].children[name] == child
    }
}

/// Whether a place of the line comes before another one, if there is another one.
private func isBefore(_ order: LinePlace, _ other: LinePlace?) -> Bool { other.map { order < $0 } ?? true }
