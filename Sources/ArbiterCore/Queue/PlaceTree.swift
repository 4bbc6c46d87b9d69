internal import HeapModule

/// The tree of the places that have parts, waiting ones in the order of their line and granted ones.
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
        /// The waiting parts at this place.
        var parts = RequestLine()
        /// Whether the first waiting part is clear; then it is no longer a candidate.
        var isFirstClear = false
        /// The granted part, if any.
        var holder: LinePlace?
        /// Whether the granted part may be interrupted.
        var holderYields = false
        /// Whether the interruption of the granted part has begun.
        var isHolderInterrupted = false
        /// The places directly below.
        var children: [ControllerID: Int] = [:]
        /// Of each child and each priority, the first and the last waiting part at or below the child.
        var below = SortedLine<Part>()
        /// The children that have a granted part at or below them, unordered.
        var grantedChildren: [Int] = []
        /// The index of this place in its parent's `grantedChildren`.
        var rankAmongGranted = 0
        /// The number of granted parts at or below this place.
        var granted = 0
        /// How many of them may be interrupted.
        var yielding = 0
        /// Of how many of them the interruption has begun.
        var interrupted = 0
        /// The number of waiting parts at or below this place whose transitions interrupt.
        var interrupting = 0
        /// What the children have published as their candidates, including outdated entries.
        var childrenCandidates = Heap<Part>()
        /// The earliest waiting part at or below this place that nothing at or below it is in the way of.
        var candidate: LinePlace?

        /// The earliest waiting part at or below this place.
        var earliest: LinePlace? {
            guard let below = below.first?.order else { return parts.first }
            return parts.first.map { min($0, below) } ?? below
        }
    }

    /// A waiting part at or below a child, and the index of the child.
    struct Part: Hashable, Comparable {
        let order: LinePlace
        let child: Int

        static func < (left: Part, right: Part) -> Bool { (left.order, left.child) < (right.order, right.child) }
    }

    subscript(place: Int) -> Place { _read { yield places[place] } }

    /// The earliest waiting part of the whole tree that nothing is in the way of.
    var candidate: LinePlace? { places[Self.top].candidate }
}

// MARK: - Events

extension PlaceTree {
    /// Adds a waiting part.
    ///
    /// - Returns: the clear part that was first at the place and now waits for the new part; `nil` if there is none.
    mutating func insert(_ order: LinePlace, at place: Int) -> LinePlace? {
        var overtaken: LinePlace?
        if let first = places[place].parts.first, order < first, places[place].isFirstClear {
            overtaken = first
            places[place].isFirstClear = false
        }
        reveal(order, at: place)
        update(from: place)
        return overtaken
    }

    /// Removes a waiting part, and frees every place that no longer has a part at or below it.
    mutating func remove(_ order: LinePlace, from place: Int) {
        take(order, from: place)
        update(from: place)
    }

    /// Marks the tree's candidate as clear.
    mutating func clear(_ order: LinePlace) {
        let place = placeOfCandidate(order)
        places[place].isFirstClear = true
        update(from: place)
    }

    /// Marks the first part at a place, which is clear, as not clear, because something has come to be in its way.
    mutating func unclear(_ place: Int) {
        places[place].isFirstClear = false
        update(from: place)
    }

    /// Grants a waiting part.
    mutating func grant(_ order: LinePlace, at place: Int, yields: Bool) {
        take(order, from: place)
        places[place].holder = order
        places[place].holderYields = yields
        count(1, grantedAt: place)
        update(from: place)
    }

    /// Removes the granted part of a place, and frees every place that no longer has a part at or below it.
    mutating func letGo(of place: Int) {
        places[place].holder = nil
        count(-1, grantedAt: place)
        places[place].isHolderInterrupted = false
        update(from: place)
    }

    /// Notes that the interruption of the granted part of a place has begun.
    mutating func interruptHolder(of start: Int) {
        places[start].isHolderInterrupted = true
        var place: Int? = start
        while let current = place {
            places[current].interrupted += 1
            place = places[current].parent
        }
    }

    private mutating func take(_ order: LinePlace, from place: Int) {
        if places[place].parts.first == order { places[place].isFirstClear = false }
        hide(order, at: place)
    }
}

// MARK: - Hidden parts

extension PlaceTree {
    /// Takes a waiting part out of the line, until it is revealed; who is a candidate or clear stays so.
    mutating func hide(_ order: LinePlace, at place: Int) {
        changeLine(of: order.priority, at: place) { $0.remove(order) }
    }

    /// Puts a hidden part into the line again.
    mutating func reveal(_ order: LinePlace, at place: Int) {
        changeLine(of: order.priority, at: place) { $0.insert(order) }
    }

    /// Changes the waiting parts of a priority at a place, and what the places above it know of them.
    private mutating func changeLine(of priority: Priority, at start: Int, _ change: (inout RequestLine) -> Void) {
        guard places[start].parent != nil else { return change(&places[start].parts) }
        var place = start
        var before = places[place].ends(of: priority)
        change(&places[place].parts)
        var after = places[place].ends(of: priority)
        while before != after, let parent = places[place].parent {
            let parentBefore = places[parent].ends(of: priority)
            for order in before.subtracting(after) { places[parent].below.remove(Part(order: order, child: place)) }
            for order in after.subtracting(before) { places[parent].below.insert(Part(order: order, child: place)) }
            (place, before, after) = (parent, parentBefore, places[parent].ends(of: priority))
        }
    }
}

extension PlaceTree.Place {
    /// The first and the last waiting part of a priority at or below the place; they may be the same.
    fileprivate func ends(of priority: Priority) -> Ends {
        let (start, end) = (LinePlace.beforeAll(of: priority), LinePlace.behindAll(of: priority))
        let firstBelow = below.first(after: PlaceTree.Part(order: start, child: .max))?.order
        let lastBelow = below.last(before: PlaceTree.Part(order: end, child: .min))?.order
        var first = parts.first(after: start)
        if let firstBelow, first.map({ firstBelow < $0 }) ?? true { first = firstBelow }
        var last = parts.last(before: end)
        if let lastBelow, last.map({ $0 < lastBelow }) ?? true { last = lastBelow }
        guard let first, let last, first < end, start < last else { return Ends(first: nil, last: nil) }
        return Ends(first: first, last: last)
    }

    fileprivate struct Ends: Equatable {
        let first: LinePlace?
        let last: LinePlace?

        private var orders: [LinePlace] {
            first == last ? [first].compactMap(\.self) : [first, last].compactMap(\.self)
        }

        func subtracting(_ other: Ends) -> [LinePlace] { orders.filter { $0 != other.first && $0 != other.last } }
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

    /// The places above one, from the nearest up to the top.
    func ancestors(of place: Int) -> Ancestors { Ancestors(tree: self, parent: places[place].parent) }

    struct Ancestors: Sequence, IteratorProtocol {
        fileprivate let tree: PlaceTree
        fileprivate var parent: Int?

        mutating func next() -> Int? {
            guard let place = parent else { return nil }
            parent = tree.places[place].parent
            return place
        }
    }

    private func placeOfCandidate(_ order: LinePlace) -> Int {
        var place = Self.top
        while places[place].parts.first != order {
            guard let below = places[place].childrenCandidates.min, below.order == order else {
                preconditionFailure("no place below \(path(to: place)) has the candidate \(order)")
            }
            place = below.child
        }
        return place
    }

    /// Adds to the count of parts whose transitions interrupt, at a place and at every place above it.
    mutating func count(_ change: Int, interruptingAt start: Int) {
        var place: Int? = start
        while let current = place {
            places[current].interrupting += change
            place = places[current].parent
        }
    }

    /// Adds to the count of granted parts at the place and at every place above it.
    private mutating func count(_ change: Int, grantedAt start: Int) {
        let yielding = places[start].holderYields ? change : 0
        let interrupted = places[start].isHolderInterrupted ? change : 0
        var place = start
        while true {
            let before = places[place].granted
            let after = before + change
            places[place].granted = after
            places[place].yielding += yielding
            places[place].interrupted += interrupted
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

    /// Recomputes the candidates of a place and of those above it, and frees empty places.
    private mutating func update(from start: Int) {
        var place = start
        while true {
            let before = places[place].candidate
            let after = currentCandidate(of: place)
            places[place].candidate = after
            guard let parent = places[place].parent else { return }
            if places[place].granted == 0, places[place].earliest == nil {
                if let name = places[place].name { places[parent].children.removeValue(forKey: name) }
                vacant.append(place)
            } else if let after, after != before {
                publish(after, of: place, to: parent)
            }
            place = parent
        }
    }

    private mutating func currentCandidate(of index: Int) -> LinePlace? {
        let own = places[index].parts.first
        // A granted part is in the way of all others here and below.
        guard places[index].holder == nil else { return nil }
        guard !places[index].children.isEmpty else { return places[index].isFirstClear ? nil : own }
        if let candidate = currentCandidate(below: index), own.map({ candidate < $0 }) ?? true { return candidate }
        guard let own, places[index].granted == 0, !places[index].isFirstClear else { return nil }
        return places[index].below.first.map { own < $0.order } ?? true ? own : nil
    }

    private mutating func currentCandidate(below index: Int) -> LinePlace? {
        while let published = places[index].childrenCandidates.min {
            if isCurrent(published, below: index) { return published.order }
            places[index].childrenCandidates.removeMin()
        }
        return nil
    }

    private mutating func publish(_ order: LinePlace, of child: Int, to parent: Int) {
        places[parent].childrenCandidates.insert(Part(order: order, child: child))
        guard places[parent].childrenCandidates.count > outdatedAllowance(of: parent) else { return }
        let current = places[parent].childrenCandidates.unordered.filter { isCurrent($0, below: parent) }
        places[parent].childrenCandidates = Heap(Set(current).sorted())
    }

    /// How many entries a place keeps before the outdated ones are removed, at constant average cost per entry.
    private func outdatedAllowance(of place: Int) -> Int {
        2 * places[place].children.count + 32
    }

    private func isCurrent(_ published: Part, below parent: Int) -> Bool {
        isChild(published.child, of: parent) && places[published.child].candidate == published.order
    }

    /// Whether the index is a child of `parent`; the index may have been freed and reused since it was published.
    private func isChild(_ child: Int, of parent: Int) -> Bool {
        guard let name = places[child].name else { return false }
        return places[parent].children[name] == child
    }
}
