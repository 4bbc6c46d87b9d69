internal import HeapModule

/// The tree of the places that have parts; each place publishes three orders of its subtree to the place above it.
///
/// A place exists while it or a place below it has a part.
struct PlaceTree {
    private var places: [Place] = [Place(name: nil, parent: nil)]
    /// Indices of freed places, to be reused.
    private var vacant: [Int] = []

    static let top = 0

    struct Place {
        let name: ControllerID?
        let parent: Int?
        /// The parts at this place, without those below it.
        var parts = RequestLine()
        /// Whether the first part is clear; then it is no longer a candidate.
        var isFirstClear = false
        /// The granted part, if any; it need not be the first, because earlier ones may have been refiled to the place.
        var holder: RequestOrder?
        /// The places directly below.
        var children: [ControllerID: Int] = [:]
        /// The children that have a granted part at or below them, unordered.
        var grantedChildren: [Int] = []
        /// The index of this place in its parent's `grantedChildren`.
        var rankAmongGranted = 0
        /// The number of granted parts at or below this place.
        var granted = 0
        /// What the children have published, including outdated entries.
        var childrenEarliest = Heap<Published>()
        var childrenCandidates = Heap<Published>()
        /// The earliest part at or below this place.
        var earliest: RequestOrder?
        /// The earliest part that waits for nothing at or below this place.
        var candidate: RequestOrder?
        /// What the children have published as their latest parts.
        var childrenLatest = SortedLine<Published>()
        /// The latest part at or below this place that is not hidden.
        var latest: RequestOrder?
        /// The first of the parts at this place that are hidden; all behind it are.
        var firstHidden: RequestOrder?

        /// The latest part at this place that is not hidden.
        var latestOwn: RequestOrder? { firstHidden.map { parts.last(before: $0) } ?? parts.last }
    }

    /// An order that a child has published; outdated if the child has another one by now.
    struct Published: Hashable, Comparable {
        let order: RequestOrder
        let child: Int

        static func < (left: Published, right: Published) -> Bool {
            (left.order, left.child) < (right.order, right.child)
        }
    }

    subscript(place: Int) -> Place { _read { yield places[place] } }

    /// The earliest part that waits for nothing in the whole tree.
    var candidate: RequestOrder? { places[Self.top].candidate }
}

// MARK: - Events

extension PlaceTree {
    /// Adds a part.
    ///
    /// - Returns: the clear part that was first at the place and now waits for the new part; `nil` if there is none.
    mutating func insert(_ order: RequestOrder, at place: Int) -> RequestOrder? {
        var overtaken: RequestOrder?
        if let first = places[place].parts.first, order < first, places[place].isFirstClear {
            overtaken = first
            places[place].isFirstClear = false
        }
        places[place].parts.insert(order)
        updateLatest(from: place)
        update(from: place)
        return overtaken
    }

    /// Removes a part, and frees every place that no longer has a part at or below it.
    mutating func remove(_ order: RequestOrder, from place: Int) {
        if places[place].parts.first == order { places[place].isFirstClear = false }
        places[place].parts.remove(order)
        updateLatest(from: place)
        update(from: place)
    }

    /// Marks the tree's candidate as clear.
    mutating func clear(_ order: RequestOrder) {
        let place = placeOfCandidate(order)
        places[place].isFirstClear = true
        update(from: place)
    }

    /// Records that the part of `order` at the place is granted.
    mutating func hold(_ place: Int, by order: RequestOrder) {
        places[place].holder = order
        count(1, grantedAt: place)
    }

    /// Records that the granted part at the place has ended.
    mutating func letGo(of place: Int) {
        places[place].holder = nil
        count(-1, grantedAt: place)
    }
}

// MARK: - The latest parts

extension PlaceTree {
    /// Leaves out a part, and those behind it at the same place, when it is asked for the latest ones.
    mutating func hide(_ order: RequestOrder, at place: Int) {
        places[place].firstHidden = order
        updateLatest(from: place)
    }

    /// Leaves out no part at a place any more.
    mutating func reveal(at place: Int) {
        places[place].firstHidden = nil
        updateLatest(from: place)
    }

    /// Recomputes the latest part of the place and of those above it, until it does not change any more.
    private mutating func updateLatest(from start: Int) {
        var place = start
        while true {
            let before = places[place].latest
            var after = places[place].latestOwn
            if let below = places[place].childrenLatest.last?.order, after.map({ $0 < below }) ?? true { after = below }
            guard before != after else { return }
            places[place].latest = after
            guard let parent = places[place].parent else { return }
            if let before { places[parent].childrenLatest.remove(Published(order: before, child: place)) }
            if let after { places[parent].childrenLatest.insert(Published(order: after, child: place)) }
            place = parent
        }
    }
}

// MARK: - The tree

extension PlaceTree {
    /// The place at the end of a path; creates the places that do not exist.
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

    /// The names of the places from the top down to this one.
    func path(to place: Int) -> ScopePath {
        var path: ScopePath = []
        var place = place
        while let parent = places[place].parent, let name = places[place].name {
            path.append(name)
            place = parent
        }
        return path.reversed()
    }

    private func placeOfCandidate(_ order: RequestOrder) -> Int {
        var place = Self.top
        while places[place].parts.first != order {
            guard let below = places[place].childrenCandidates.min, below.order == order else {
                preconditionFailure("no place below \(path(to: place)) has the candidate \(order)")
            }
            place = below.child
        }
        return place
    }

    /// Adds to the count of granted parts at the place and at every place above it.
    private mutating func count(_ change: Int, grantedAt start: Int) {
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

    /// Recomputes what the place and those above it publish, until nothing changes any more; frees empty places.
    private mutating func update(from start: Int) {
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

    /// Recomputes `earliest` and `candidate` of one place.
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

    /// How many entries a place keeps before the outdated ones are removed, at constant average cost per entry.
    private func outdatedAllowance(of place: Int) -> Int {
        2 * places[place].children.count + 32
    }

    private func isCurrentEarliest(_ published: Published, below parent: Int) -> Bool {
        isChild(published.child, of: parent) && places[published.child].earliest == published.order
    }

    private func isCurrentCandidate(_ published: Published, below parent: Int) -> Bool {
        isChild(published.child, of: parent) && places[published.child].candidate == published.order
    }

    /// Up to `count` children of the place, in no particular order.
    func someChildren(of place: Int, count: Int) -> ArraySlice<Int> {
        let current = places[place].childrenEarliest.unordered.lazy.filter { isCurrentEarliest($0, below: place) }
        return current.prefix(count).map(\.child)[...]
    }

    /// Whether the index is a child of `parent`; the index may have been freed and reused since it was published.
    private func isChild(_ child: Int, of parent: Int) -> Bool {
        guard let name = places[child].name else { return false }
        return places[parent].children[name] == child
    }
}
