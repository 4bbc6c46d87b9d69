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
///
/// Where a change of the hierarchy takes away or brings a controller that a waiting transition depends on, its parts are
/// filed anew. They may come to stand over parts of later ones that are clear, or granted: so nobody is granted before
/// it is known that nothing granted or earlier stands in the way, and whoever is held up by that is looked at again
/// whenever somebody leaves.
struct ScopeQueue {
    var entries: [RequestOrder: Entry] = [:]
    private(set) var granted: Set<RequestOrder> = []
    var places: [Place] = [Place(name: nil, parent: nil)]
    var vacant: [Int] = []
    /// Whose parts are all clear and who may not have been granted yet; those without parts among them.
    private var ready = Heap<RequestOrder>()
    /// Those of them that something is in the way of all the same, since the hierarchy has changed.
    private var heldUp: [RequestOrder] = []
    /// Who depends on where a controller is.
    private var dependants: [ControllerID: Set<RequestOrder>] = [:]

    static let top = 0

    struct Entry {
        let id: TransitionID
        /// The controllers that its scope depends on.
        let names: [ControllerID]
        /// Where its parts stand.
        var places: [Int]
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
        /// The one of them that is granted, if one is; there may be earlier ones, who came here since.
        var holder: RequestOrder?
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
    /// Takes a transition in, behind all others or in the place of one that has left.
    ///
    /// - Parameters:
    ///   - order: Its place in line; nobody who conflicts and stands behind it may have been granted.
    ///   - id: What it is called when its turn comes.
    ///   - scope: Where it stands; no path may be the beginning of another.
    ///   - names: The controllers that its scope depends on, if any.
    mutating func append(_ order: RequestOrder, id: TransitionID, scope: [ScopePath], names: [ControllerID] = []) {
        let standing = scope.map { place(at: $0) }
        entries[order] = Entry(id: id, names: names, places: standing, waiting: standing.count)
        for name in names { dependants[name, default: []].insert(order) }
        for place in standing {
            insert(order, at: place)
        }
        if standing.isEmpty { ready.insert(order) }
    }

    /// Whoever waits and depends on one of these controllers, in request order.
    func waiting(on names: some Sequence<ControllerID>) -> [TransitionID] {
        guard !dependants.isEmpty else { return [] }
        let found = names.reduce(into: Set<RequestOrder>()) { $0.formUnion(dependants[$1] ?? []) }
        return found.sorted().compactMap { entries[$0] }.filter { !$0.isGranted }.map(\.id)
    }

    /// Files a waiting transition anew, under its old order.
    ///
    /// Later ones may stand at its new place, above it or below, whose parts there are clear already: those that are
    /// granted keep what they have, and the others are looked at once more when their turn comes.
    mutating func refile(_ order: RequestOrder, scope: [ScopePath]) {
        guard var entry = entries[order], !entry.isGranted else {
            preconditionFailure("\(order) does not wait, and cannot be filed anew")
        }
        var wanted: [Int] = []
        for path in scope {
            let place = place(at: path)
            wanted.append(place)
            guard !entry.places.contains(place) else { continue }
            entry.waiting += 1
            insert(order, at: place)
        }
        // Only now, since a place with nothing at or below it is given back.
        for place in entry.places where !wanted.contains(place) {
            let wasClear = places[place].parts.first == order && places[place].isFirstClear
            if !wasClear { entry.waiting -= 1 }
            takeOut(order, from: place)
        }
        entry.places = wanted
        entries[order] = entry
        if entry.waiting == 0 { ready.insert(order) }
        reconsider()
    }

    /// The next transition whose turn has come, from now on granted; `nil` if there is none.
    mutating func grantNext() -> TransitionID? {
        while let order = nextReady() {
            guard isHeldUp(order) else { return grant(order) }
            heldUp.append(order)
        }
        return nil
    }

    /// The next whose parts are all clear, in request order, whether it has become so now or before: so nothing but what
    /// is durable decides who is first.
    private mutating func nextReady() -> RequestOrder? {
        while true {
            dropOutdatedReady()
            guard let order = places[Self.top].candidate, ready.min.map({ order < $0 }) ?? true else {
                return ready.popMin()
            }
            clear(order, at: placeOfCandidate(order))
            guard var entry = entries[order] else {
                preconditionFailure("\(order) stands in the tree but not in the queue")
            }
            // Whoever was granted before an earlier one came to its place has its turn behind it.
            guard !entry.isGranted else { continue }
            entry.waiting -= 1
            entries[order] = entry
            if entry.waiting == 0 { return order }
        }
    }

    /// Whoever was ready may have ended, or come to wait for something again, since.
    private mutating func dropOutdatedReady() {
        while let order = ready.min, entries[order].map({ $0.isGranted || $0.waiting > 0 }) ?? true {
            ready.removeMin()
        }
    }

    /// Whether something granted, or asked for earlier, stands at one of its places, above or below.
    private func isHeldUp(_ order: RequestOrder) -> Bool {
        let standing = entries[order]?.places ?? []
        return standing.contains { part in
            if places[part].granted > 0 || places[part].earliest.map({ $0 < order }) == true { return true }
            var above = places[part].parent
            while let place = above {
                if places[place].holder != nil || places[place].parts.first.map({ $0 < order }) == true { return true }
                above = places[place].parent
            }
            return false
        }
    }

    /// Whoever is held up may be so no longer.
    private mutating func reconsider() {
        for order in heldUp { ready.insert(order) }
        heldUp.removeAll()
    }

    private mutating func grant(_ order: RequestOrder) -> TransitionID? {
        entries[order]?.isGranted = true
        granted.insert(order)
        for place in entries[order]?.places ?? [] {
            places[place].holder = order
            count(1, grantedAt: place)
        }
        return entries[order]?.id
    }

    /// Takes an ended transition out, wherever it stands.
    mutating func remove(_ order: RequestOrder) {
        guard let entry = entries.removeValue(forKey: order) else {
            preconditionFailure("\(order) is not in the queue")
        }
        granted.remove(order)
        for name in entry.names {
            dependants[name]?.remove(order)
            if dependants[name]?.isEmpty == true { dependants.removeValue(forKey: name) }
        }
        for place in entry.places {
            if entry.isGranted {
                places[place].holder = nil
                count(-1, grantedAt: place)
            }
            takeOut(order, from: place)
        }
        reconsider()
    }

    private mutating func insert(_ order: RequestOrder, at place: Int) {
        if let first = places[place].parts.first, order < first, places[place].isFirstClear {
            // It waits for the newcomer now, unless it is granted: then its turn is behind it.
            if entries[first]?.isGranted == false { entries[first]?.waiting += 1 }
            places[place].isFirstClear = false
        }
        places[place].parts.insert(order)
        update(from: place)
    }

    private mutating func takeOut(_ order: RequestOrder, from place: Int) {
        if places[place].parts.first == order { places[place].isFirstClear = false }
        places[place].parts.remove(order)
        update(from: place)
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
