internal import HeapModule

/// The serial queue of one scene: who came when, who is in whose way, and who may run now.
///
/// The rule: *a transition is granted as soon as every earlier unfinished transition that conflicts with it has ended.*
///
/// Each unfinished transition stands as a *part* at every place its scope names, in a tree of just those places that
/// have something at or below them. Every place knows two orders of its subtree: the `earliest`, and the `candidate`,
/// which is the earliest part that waits for nothing at or below the place. A candidate that reaches the top waits for
/// nothing at all: the part is *clear*, and its transition is granted when all its parts are. So appending, granting and
/// removing cost the depth of the place times a logarithm, whatever the length of the queue and the size of the tree.
struct ScopeQueue {
    var entries: [RequestOrder: Entry] = [:]
    var places: [Place] = [Place(name: nil, parent: nil)]
    private var vacant: [Int] = []

    static let top = 0

    struct Entry {
        let id: TransitionID
        /// Where its parts stand.
        let places: [Int]
        /// How many of them still wait for something.
        var waiting: Int
        var isGranted = false
    }

    struct Place {
        let name: ControllerID?
        let parent: Int?
        /// The parts at this very place.
        var parts = RequestLine()
        /// Whether the first of them is clear, and so no candidate any more.
        var isFirstClear = false
        /// The places right below that have something at or below them.
        var children: [ControllerID: Int] = [:]
        /// Those of them with something granted at or below them, in no order.
        var grantedChildren: [Int] = []
        /// Where this place stands among its parent's granted children.
        var rankAmongGranted = 0
        /// How many granted parts stand at this place or below.
        var granted = 0
        /// What was published of each child, the outdated included.
        var childrenEarliest = Heap<Published>()
        var childrenCandidates = Heap<Published>()
        var earliest: RequestOrder?
        var candidate: RequestOrder?
    }

    struct Published: Hashable, Comparable {
        let order: RequestOrder
        let child: Int

        static func < (left: Published, right: Published) -> Bool {
            (left.order, left.child) < (right.order, right.child)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// How many are unfinished.
    var count: Int { entries.count }

    /// Every unfinished transition, in request order.
    var unfinished: [TransitionID] {
        entries.sorted { $0.key < $1.key }.map(\.value.id)
    }
}

// MARK: - Events

extension ScopeQueue {
    /// Takes a transition in behind all others.
    mutating func append(_ transition: Transition) {
        append(transition.order, id: transition.id, scope: transition.request.scope.paths)
    }

    /// Takes a transition in behind all others.
    ///
    /// No path of its scope may be the beginning of another.
    mutating func append(_ order: RequestOrder, id: TransitionID, scope: [ScopePath]) {
        let standing = scope.map { place(at: $0) }
        entries[order] = Entry(id: id, places: standing, waiting: standing.count)
        for place in standing {
            places[place].parts.append(order)
            update(from: place)
        }
    }

    /// The next transition whose turn has come, from now on granted; `nil` if there is none.
    mutating func grantNext() -> TransitionID? {
        while let order = places[Self.top].candidate {
            clear(order, at: placeOfCandidate(order))
            guard var entry = entries[order] else {
                preconditionFailure("\(order) stands in the tree but not in the queue")
            }
            entry.waiting -= 1
            entry.isGranted = entry.waiting == 0
            entries[order] = entry
            guard entry.isGranted else { continue }
            for place in entry.places { count(1, grantedAt: place) }
            return entry.id
        }
        return nil
    }

    /// Takes an ended transition out, wherever it stands.
    mutating func remove(_ order: RequestOrder) {
        guard let entry = entries.removeValue(forKey: order) else {
            preconditionFailure("\(order) is not in the queue")
        }
        for place in entry.places {
            if entry.isGranted { count(-1, grantedAt: place) }
            if places[place].parts.first == order { places[place].isFirstClear = false }
            places[place].parts.remove(order)
            update(from: place)
        }
    }
}

// MARK: - Questions

extension ScopeQueue {
    /// Whether nothing unfinished conflicts with the scope.
    func isFree(_ scope: [ScopePath]) -> Bool {
        scope.allSatisfy { path in
            var place = Self.top
            for name in path {
                guard places[place].parts.isEmpty else { return false }
                guard let child = places[place].children[name] else { return true }
                place = child
            }
            return places[place].earliest == nil
        }
    }
}

// MARK: - The tree of places

extension ScopeQueue {
    private mutating func place(at path: ScopePath) -> Int {
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

    private mutating func clear(_ order: RequestOrder, at place: Int) {
        places[place].isFirstClear = true
        update(from: place)
    }

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

    /// Recomputes what a place and those above it publish, as far up as anything changes; gives back empty places.
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
