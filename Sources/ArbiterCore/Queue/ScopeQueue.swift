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
/// filed anew; without any part left it waits for nothing.
struct ScopeQueue {
    var entries: [RequestOrder: Entry] = [:]
    var places: [Place] = [Place(name: nil, parent: nil)]
    var vacant: [Int] = []
    /// Who has lost its last part, or never had one, and so waits for nothing.
    private var partless = Heap<RequestOrder>()
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
    ///
    /// - Parameters:
    ///   - order: Its place in request order, which none behind it may have.
    ///   - id: What it is called when its turn comes.
    ///   - scope: Where it stands; no path may be the beginning of another.
    ///   - names: The controllers that its scope depends on, if any.
    mutating func append(_ order: RequestOrder, id: TransitionID, scope: [ScopePath], names: [ControllerID] = []) {
        let standing = scope.map { place(at: $0) }
        entries[order] = Entry(id: id, names: names, places: standing, waiting: standing.count)
        for name in names { dependants[name, default: []].insert(order) }
        for place in standing {
            places[place].parts.append(order)
            update(from: place)
        }
        if standing.isEmpty { partless.insert(order) }
    }

    /// Whoever waits and depends on one of these controllers, in request order.
    func waiting(on names: some Sequence<ControllerID>) -> [TransitionID] {
        guard !dependants.isEmpty else { return [] }
        let found = names.reduce(into: Set<RequestOrder>()) { $0.formUnion(dependants[$1] ?? []) }
        return found.sorted().compactMap { entries[$0] }.filter { !$0.isGranted }.map(\.id)
    }

    /// Files a waiting transition anew, under its old order.
    ///
    /// Whatever comes or goes does so under the lock of the one that changed the hierarchy, so no part that is clear is
    /// overtaken by it.
    mutating func refile(_ order: RequestOrder, scope: [ScopePath]) {
        guard var entry = entries[order], !entry.isGranted else {
            preconditionFailure("\(order) does not wait, and cannot be filed anew")
        }
        var wanted: [Int] = []
        for path in scope {
            let place = place(at: path)
            wanted.append(place)
            guard !entry.places.contains(place) else { continue }
            precondition(!places[place].isFirstClear, "\(order) comes late before one that is clear")
            entry.waiting += 1
            places[place].parts.insert(order)
            update(from: place)
        }
        // Only now, since a place with nothing at or below it is given back.
        for place in entry.places where !wanted.contains(place) {
            let wasClear = places[place].parts.first == order && places[place].isFirstClear
            if !wasClear { entry.waiting -= 1 }
            takeOut(order, from: place)
        }
        entry.places = wanted
        entries[order] = entry
        if entry.waiting == 0 { partless.insert(order) }
    }

    /// The next transition whose turn has come, from now on granted; `nil` if there is none.
    mutating func grantNext() -> TransitionID? {
        while let order = partless.popMin() {
            // It may have ended, or found parts again, since.
            guard let entry = entries[order], !entry.isGranted, entry.waiting == 0 else { continue }
            return grant(order)
        }
        while let order = places[Self.top].candidate {
            clear(order, at: placeOfCandidate(order))
            guard var entry = entries[order] else {
                preconditionFailure("\(order) stands in the tree but not in the queue")
            }
            entry.waiting -= 1
            entries[order] = entry
            if entry.waiting == 0 { return grant(order) }
        }
        return nil
    }

    private mutating func grant(_ order: RequestOrder) -> TransitionID? {
        entries[order]?.isGranted = true
        for place in entries[order]?.places ?? [] { count(1, grantedAt: place) }
        return entries[order]?.id
    }

    /// Takes an ended transition out, wherever it stands.
    mutating func remove(_ order: RequestOrder) {
        guard let entry = entries.removeValue(forKey: order) else {
            preconditionFailure("\(order) is not in the queue")
        }
        for name in entry.names {
            dependants[name]?.remove(order)
            if dependants[name]?.isEmpty == true { dependants.removeValue(forKey: name) }
        }
        for place in entry.places {
            if entry.isGranted { count(-1, grantedAt: place) }
            takeOut(order, from: place)
        }
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
