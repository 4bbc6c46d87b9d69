internal import HeapModule

/// The tree of the places that have parts, waiting ones in the order of their line and granted ones.
///
/// A part is exclusive or shared: two shared parts are in nobody's way of one another. What is known of the parts of one mode is a
/// layer; hardly any place has a shared one.
///
/// A place exists while it or a place below it has a part.
struct PlaceTree {
    var places: [Place] = [Place(name: nil, parent: nil)]
    /// Of each place, the layer of the exclusive parts and that of the shared ones.
    private var layers: [Layer] = [Layer(), Layer()]
    /// Indices of freed places, to be reused.
    var vacant: [Int] = []
    /// The number of shared parts.
    private(set) var sharedParts = 0

    static let top = 0

    struct Place {
        let name: ControllerID?
        let parent: Int?
        /// Whether the first exclusive part that waits is clear; then it is no longer a candidate.
        var isFirstClear = false
        /// The granted exclusive part, if any.
        var holder: LinePlace?
        /// The granted shared parts.
        var sharedHolders = RequestLine()
        /// The shared parts that wait and are not clear.
        var unclear = RequestLine()
        /// The places directly below.
        var children: [ControllerID: Int] = [:]
        /// The number of waiting parts at or below this place whose transitions interrupt.
        var interrupting = 0
    }

    /// The parts of one mode at a place and below it.
    struct Layer {
        /// The waiting parts at the place.
        var parts = RequestLine()
        /// Of each child and each priority, the first and the last waiting part at or below the child.
        var below = SortedLine<Part>()
        /// The children that have a granted part at or below them, unordered.
        var grantedChildren: [Int] = []
        /// The index of the place in its parent's `grantedChildren`.
        var rankAmongGranted = 0
        /// The number of granted parts at or below the place.
        var granted = 0
        /// How many of them may be interrupted.
        var yielding = 0
        /// Of how many of them the interruption has begun.
        var interrupted = 0
        /// What the children have published as their candidates, including outdated entries.
        var childrenCandidates = Heap<Part>()
        /// The earliest waiting part at or below the place that nothing at or below it is in the way of.
        var candidate: LinePlace?

        /// The earliest waiting part at or below the place.
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

    /// The parts of one mode at a place and below it.
    subscript(place: Int, isShared isShared: Bool) -> Layer {
        // With one yield each, they are inlined; otherwise each use allocates.
        _read { yield layers[2 * place + (isShared ? 1 : 0)] }
        _modify { yield &layers[2 * place + (isShared ? 1 : 0)] }
    }

    /// The earliest waiting part of the whole tree that nothing is in the way of.
    var candidate: LinePlace? {
        let exclusive = self[Self.top, isShared: false].candidate
        guard sharedParts > 0, let shared = self[Self.top, isShared: true].candidate else { return exclusive }
        return exclusive.map { min($0, shared) } ?? shared
    }
}

// MARK: - Events

extension PlaceTree {
    /// Adds a waiting part.
    ///
    /// - Returns: the clear part that was first at the place and now waits for the new part; `nil` if there is none.
    mutating func insert(_ order: LinePlace, at place: Int, isShared: Bool) -> LinePlace? {
        var overtaken: LinePlace?
        if !isShared, let first = self[place, isShared: false].parts.first, order < first, places[place].isFirstClear {
            overtaken = first
            places[place].isFirstClear = false
        }
        reveal(order, at: place, isShared: isShared)
        if isShared {
            places[place].unclear.insert(order)
            sharedParts += 1
        }
        update(from: place)
        return overtaken
    }

    /// Removes a waiting part, and frees every place that no longer has a part at or below it.
    mutating func remove(_ order: LinePlace, from place: Int, isShared: Bool) {
        take(order, from: place, isShared: isShared)
        update(from: place)
        if isShared { sharedParts -= 1 }
    }

    /// Marks the tree's candidate as clear.
    mutating func clear(_ order: LinePlace, isShared: Bool) {
        let place = placeOfCandidate(order, isShared: isShared)
        if isShared { places[place].unclear.remove(order) } else { places[place].isFirstClear = true }
        update(from: place)
    }

    /// Marks a part at a place, which is clear, as not clear, because something has come to be in its way.
    mutating func unclear(_ order: LinePlace, at place: Int, isShared: Bool) {
        if isShared { places[place].unclear.insert(order) } else { places[place].isFirstClear = false }
        update(from: place)
    }

    /// Grants a waiting part.
    mutating func grant(_ order: LinePlace, at place: Int, isShared: Bool, yields: Bool) {
        take(order, from: place, isShared: isShared)
        if isShared { places[place].sharedHolders.insert(order) } else { places[place].holder = order }
        count(1, grantedAt: place, isShared: isShared, yields: yields, isInterrupted: false)
        update(from: place)
    }

    /// Removes a granted part of a place, and frees every place that no longer has a part at or below it.
    mutating func letGo(_ order: LinePlace, of place: Int, isShared: Bool, yields: Bool, isInterrupted: Bool) {
        if isShared { places[place].sharedHolders.remove(order) } else { places[place].holder = nil }
        count(-1, grantedAt: place, isShared: isShared, yields: yields, isInterrupted: isInterrupted)
        update(from: place)
        if isShared { sharedParts -= 1 }
    }

    /// Notes that the interruption of a granted part of a place has begun.
    mutating func noteInterruption(at start: Int, isShared: Bool) {
        var place: Int? = start
        while let current = place {
            self[current, isShared: isShared].interrupted += 1
            place = places[current].parent
        }
    }

    private mutating func take(_ order: LinePlace, from place: Int, isShared: Bool) {
        if isShared {
            if places[place].unclear.contains(order) { places[place].unclear.remove(order) }
        } else if self[place, isShared: false].parts.first == order {
            places[place].isFirstClear = false
        }
        hide(order, at: place, isShared: isShared)
    }
}

// MARK: - Hidden parts

extension PlaceTree {
    /// Takes a waiting part out of the line, until it is revealed; who is a candidate or clear stays so.
    mutating func hide(_ order: LinePlace, at place: Int, isShared: Bool) {
        changeLine(of: order.priority, at: place, isShared: isShared) { $0.remove(order) }
    }

    /// Puts a hidden part into the line again.
    mutating func reveal(_ order: LinePlace, at place: Int, isShared: Bool) {
        changeLine(of: order.priority, at: place, isShared: isShared) { $0.insert(order) }
    }

    /// Changes the waiting parts of a priority at a place, and what the places above it know of them.
    private mutating func changeLine(
        of priority: Priority, at start: Int, isShared: Bool, _ change: (inout RequestLine) -> Void
    ) {
        guard places[start].parent != nil else { return change(&self[start, isShared: isShared].parts) }
        var place = start
        var before = self[place, isShared: isShared].ends(of: priority)
        change(&self[place, isShared: isShared].parts)
        var after = self[place, isShared: isShared].ends(of: priority)
        while before != after, let parent = places[place].parent {
            let parentBefore = self[parent, isShared: isShared].ends(of: priority)
            for order in before.subtracting(after) {
                self[parent, isShared: isShared].below.remove(Part(order: order, child: place))
            }
            for order in after.subtracting(before) {
                self[parent, isShared: isShared].below.insert(Part(order: order, child: place))
            }
            (place, before, after) = (parent, parentBefore, self[parent, isShared: isShared].ends(of: priority))
        }
    }
}

extension PlaceTree.Layer {
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
                self[child, isShared: false] = Layer()
                self[child, isShared: true] = Layer()
            } else {
                child = places.count
                places.append(fresh)
                layers += [Layer(), Layer()]
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

    private func placeOfCandidate(_ order: LinePlace, isShared: Bool) -> Int {
        var place = Self.top
        while (isShared ? places[place].unclear.first : self[place, isShared: false].parts.first) != order {
            guard let below = self[place, isShared: isShared].childrenCandidates.min, below.order == order else {
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
    private mutating func count(
        _ change: Int, grantedAt start: Int, isShared: Bool, yields: Bool, isInterrupted: Bool
    ) {
        let yielding = yields ? change : 0
        let interrupted = isInterrupted ? change : 0
        var place = start
        while true {
            let before = self[place, isShared: isShared].granted
            let after = before + change
            self[place, isShared: isShared].granted = after
            self[place, isShared: isShared].yielding += yielding
            self[place, isShared: isShared].interrupted += interrupted
            guard let parent = places[place].parent else { return }
            if before == 0 {
                self[place, isShared: isShared].rankAmongGranted =
                    self[parent, isShared: isShared].grantedChildren.count
                self[parent, isShared: isShared].grantedChildren.append(place)
            } else if after == 0 {
                let rank = self[place, isShared: isShared].rankAmongGranted
                let last = self[parent, isShared: isShared].grantedChildren.removeLast()
                if last != place {
                    self[parent, isShared: isShared].grantedChildren[rank] = last
                    self[last, isShared: isShared].rankAmongGranted = rank
                }
            }
            place = parent
        }
    }
}
