internal import HeapModule

/// The queue of one scene: the request order, the conflicts, and which transition may be granted now.
///
/// The rule: *a transition is granted as soon as every earlier unfinished transition that conflicts with it has ended.*
///
/// Each unfinished transition has a *part* at every place that its scope names. The tree holds only places with a part
/// at or below them. Every place knows two orders of its subtree: `earliest`, and `candidate`, the earliest part that
/// waits for nothing at or below the place. A candidate that reaches the top waits for nothing at all: the part is
/// *clear*, and its transition is granted when all its parts are clear. So appending, granting and removing cost the
/// depth of the place times a logarithm; the length of the queue and the size of the tree do not matter.
///
/// When the hierarchy gains or loses a controller that a waiting transition depends on, its parts are refiled. The new
/// places may be above parts of later transitions that are clear or granted. So before a grant, the queue checks again
/// that no granted or earlier part conflicts. A transition that fails this check is held up, and checked again whenever
/// another one is removed or refiled.
///
/// Besides, a transition waits for every earlier one that would bring in a controller that it names.
struct ScopeQueue {
    private(set) var entries = Table<RequestOrder, Entry>()
    private(set) var granted: Set<RequestOrder> = []
    /// The parts of all entries.
    var places = PlaceTree()
    /// Transitions whose parts are all clear; may contain outdated ones, which were granted, ended or wait again.
    private var ready = Heap<RequestOrder>()
    /// Transitions whose parts are clear, but which conflict with others because parts were refiled.
    private var heldUp: [RequestOrder] = []
    /// The unfinished transitions whose paths depend on a controller.
    private var dependants: [ControllerID: Set<RequestOrder>] = [:]
    /// Which controllers are coming, and which transitions wait for them.
    var coming = ComingControllers()
    /// The transitions that were added, moved or granted since `takeContended` was called.
    private(set) var changed: [RequestOrder] = []
    /// The number of granted transitions that no other one has waited for yet.
    private(set) var uncontended = 0

    /// What a transition has to do with controllers that are coming.
    struct Arrivals {
        /// The ids of the controllers that it brings in.
        var brought: [ControllerID] = []
        /// The ids that it names, each once, unless it locks the whole scene and so waits for everything.
        ///
        /// A granted transition waits for none of them.
        var named: [ControllerID] = []
    }

    /// An unfinished transition.
    struct Entry {
        let id: TransitionID
        /// The controllers that its paths depend on.
        var names: [ControllerID]
        var arrivals: Arrivals
        /// The places of its parts.
        var places: [Int]
        /// The number of its parts that are not clear, and of controllers that it names and earlier ones bring in.
        var waiting: Int
        var isGranted = false
        /// Whether another transition has waited for it since its grant.
        var isContended = false
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The number of unfinished transitions.
    var count: Int { entries.count }

    /// The unfinished transition at an order, if there is one.
    subscript(order: RequestOrder) -> Entry? { entries[order] }

    /// All unfinished transitions, in the order of their places.
    var unfinished: [TransitionID] {
        entries.sorted { $0.key < $1.key }.map(\.value.id)
    }
}

// MARK: - Events

extension ScopeQueue {
    /// Adds a transition, after all others or in the place of one that was removed.
    ///
    /// - Parameters:
    ///   - order: its place; no conflicting transition after this place may be granted.
    ///   - id: what `grantNext` returns when its turn comes.
    ///   - scope: the paths of its parts; no path may be a prefix of another.
    ///   - names: the controllers that the paths depend on.
    ///   - arrivals: the controllers that it brings in, and those that it names.
    mutating func append(
        _ order: RequestOrder, id: TransitionID, scope: [ScopePath], names: [ControllerID] = [],
        arrivals: Arrivals = Arrivals()
    ) {
        let standing = scope.count == 1 && scope[0].isEmpty ? Self.top : scope.map { places.place(at: $0) }
        entries[order] = Entry(
            id: id, names: names, arrivals: arrivals, places: standing, waiting: standing.count)
        note(names, of: order)
        for place in standing {
            insert(order, at: place)
        }
        bringIn(arrivals.brought, by: order)
        waitForArrivals(order)
        if entries[order]?.waiting == 0 { ready.insert(order) }
        changed.append(order)
    }

    /// Replaces the names that a waiting transition depends on, and what it has to do with controllers that are coming;
    /// its paths are replaced by `refile`.
    mutating func rename(_ order: RequestOrder, names: [ControllerID], arrivals: Arrivals) {
        guard let entry = entries[order], !entry.isGranted else {
            preconditionFailure("\(order) cannot be renamed: it does not wait")
        }
        forget(entry.names, of: order)
        stopWaitingForArrivals(order)
        keepAway(entry.arrivals.brought, by: order)
        entries[order]?.names = names
        entries[order]?.arrivals = arrivals
        note(names, of: order)
        bringIn(arrivals.brought, by: order)
        waitForArrivals(order)
        if entries[order]?.waiting == 0 { ready.insert(order) }
    }

    /// Sets what a granted transition, which brought in nothing, has to do with controllers: from now on, the later transitions
    /// that name what it brings in wait for it.
    mutating func give(_ order: RequestOrder, _ arrivals: Arrivals) {
        guard let entry = entries[order], entry.isGranted, entry.arrivals.brought.isEmpty else {
            preconditionFailure("\(order) is not granted, or brings in controllers already")
        }
        for id in entry.arrivals.named { coming.removeHolder(order, of: id) }
        for id in arrivals.named { coming.addHolder(order, of: id) }
        entries[order]?.arrivals = arrivals
        bringIn(arrivals.brought, by: order)
        changed.append(order)
    }

    /// The waiting transitions that depend on one of the controllers, in the order of their places.
    func waiting(on names: some Sequence<ControllerID>) -> [TransitionID] {
        guard !dependants.isEmpty else { return [] }
        let found = names.reduce(into: Set<RequestOrder>()) { $0.formUnion(dependants[$1] ?? []) }
        return found.sorted().compactMap { entries[$0] }.filter { !$0.isGranted }.map(\.id)
    }

    /// Moves the parts of a waiting transition to the paths that its scope has now; its order stays.
    ///
    /// Later transitions may already have clear parts at, above or below a new place. Granted ones keep their scope;
    /// the others are checked again before they are granted.
    mutating func refile(_ order: RequestOrder, scope: [ScopePath]) {
        guard var entry = entries[order], !entry.isGranted else {
            preconditionFailure("\(order) cannot be refiled: it does not wait")
        }
        var wanted: [Int] = []
        for path in scope {
            let place = places.place(at: path)
            wanted.append(place)
            guard !entry.places.contains(place) else { continue }
            entry.waiting += 1
            insert(order, at: place)
        }
        // Removed last: an earlier removal could free a place that is still wanted.
        for place in entry.places where !wanted.contains(place) {
            if !places.isClear(order, at: place) { entry.waiting -= 1 }
            places.remove(order, from: place)
        }
        entry.places = wanted
        entries[order] = entry
        if entry.waiting == 0 { ready.insert(order) }
        changed.append(order)
        reconsider()
    }

    /// Notes that a granted transition names these controllers; it waits for none of them.
    mutating func note(_ order: RequestOrder, naming ids: [ControllerID]) {
        guard let entry = entries[order], entry.isGranted, entry.arrivals.named.isEmpty else {
            preconditionFailure("\(order) is not granted, or names controllers already")
        }
        entries[order]?.arrivals.named = ids
        for id in ids { coming.addHolder(order, of: id) }
    }

    /// Grants the next transition whose turn has come.
    ///
    /// - Returns: its id; `nil` if there is none.
    mutating func grantNext() -> TransitionID? {
        while let order = nextReady() {
            guard isHeldUp(order) else { return grant(order) }
            heldUp.append(order)
        }
        return nil
    }

    /// The earliest transition whose parts are all clear.
    ///
    /// It makes no difference when they became clear. So the order of grants depends only on durable state.
    private mutating func nextReady() -> RequestOrder? {
        while true {
            dropOutdatedReady()
            guard let order = places.candidate, ready.min.map({ order < $0 }) ?? true else {
                return ready.popMin()
            }
            places.clear(order)
            guard var entry = entries[order] else {
                preconditionFailure("\(order) has a part in the tree but is not in the queue")
            }
            // A granted transition may be a candidate again, if an earlier one was refiled to its place and has left.
            guard !entry.isGranted else { continue }
            entry.waiting -= 1
            entries[order] = entry
            if entry.waiting == 0 { return order }
        }
    }

    /// Removes transitions from the front of `ready` that have ended, are granted or wait again.
    private mutating func dropOutdatedReady() {
        while let order = ready.min, entries[order].map({ $0.isGranted || $0.waiting > 0 }) ?? true {
            ready.removeMin()
        }
    }

    /// Whether a granted or earlier part is at, above or below one of its places.
    private func isHeldUp(_ order: RequestOrder) -> Bool {
        (entries[order]?.places ?? []).contains { places.isHeldUp(order, at: $0) }
    }

    /// Has all transitions that were held up checked again.
    private mutating func reconsider() {
        for order in heldUp { ready.insert(order) }
        heldUp.removeAll()
    }

    private mutating func grant(_ order: RequestOrder) -> TransitionID? {
        stopWaitingForArrivals(order)
        for id in entries[order]?.arrivals.named ?? [] { coming.addHolder(order, of: id) }
        entries[order]?.isGranted = true
        uncontended += 1
        if changed.last != order { changed.append(order) }
        granted.insert(order)
        for place in entries[order]?.places ?? [] { places.hold(place, by: order) }
        return entries[order]?.id
    }

    /// Removes a transition that has ended.
    mutating func remove(_ order: RequestOrder) {
        if entries[order]?.isGranted == false { stopWaitingForArrivals(order) }
        guard let entry = entries.removeValue(forKey: order) else {
            preconditionFailure("\(order) is not in the queue")
        }
        if granted.remove(order) != nil {
            if !entry.isContended { uncontended -= 1 }
            for id in entry.arrivals.named { coming.removeHolder(order, of: id) }
        }
        forget(entry.names, of: order)
        keepAway(entry.arrivals.brought, by: order)
        for place in entry.places {
            if entry.isGranted { places.letGo(of: place) }
            places.remove(order, from: place)
        }
        reconsider()
    }

    /// The places of a whole scene.
    static let top = [PlaceTree.top]

    private mutating func insert(_ order: RequestOrder, at place: Int) {
        // The part that was first and clear now waits for the new one. A granted transition keeps its grant.
        guard let first = places.insert(order, at: place), entries[first]?.isGranted == false else { return }
        entries[first]?.waiting += 1
    }
}

// MARK: - Contention

extension ScopeQueue {
    /// Forgets what was added, moved or granted, as if `takeContended` had been called.
    mutating func forgetChanges() {
        changed.removeAll(keepingCapacity: true)
    }

    /// The granted transitions that others have waited for, in no order.
    var contended: some Sequence<TransitionID> { entries.values.lazy.filter(\.isContended).map(\.id) }

    /// Notes that another transition has waited for a granted one.
    ///
    /// - Returns: its id; `nil` if that was noted before, or if it is not granted.
    mutating func noteContention(of order: RequestOrder) -> TransitionID? {
        guard let entry = entries[order], entry.isGranted, !entry.isContended else { return nil }
        entries[order]?.isContended = true
        uncontended -= 1
        return entry.id
    }
}

// MARK: - Names

extension ScopeQueue {
    private mutating func note(_ names: [ControllerID], of order: RequestOrder) {
        for name in names { dependants[name, default: []].insert(order) }
    }

    private mutating func forget(_ names: [ControllerID], of order: RequestOrder) {
        for name in names {
            dependants[name]?.remove(order)
            if dependants[name]?.isEmpty == true { dependants.removeValue(forKey: name) }
        }
    }

    /// Makes later transitions that name these controllers wait for the transition that brings them in.
    private mutating func bringIn(_ ids: [ControllerID], by order: RequestOrder) {
        for id in ids {
            for namer in coming.addBringer(order, of: id) { entries[namer]?.waiting += 1 }
        }
    }

    /// Ends the wait of later transitions that name these controllers, because the earlier one no longer brings them in.
    private mutating func keepAway(_ ids: [ControllerID], by order: RequestOrder) {
        for id in ids {
            for namer in coming.removeBringer(order, of: id) {
                entries[namer]?.waiting -= 1
                if entries[namer]?.waiting == 0 { ready.insert(namer) }
            }
        }
    }

    /// Makes a transition wait for the controllers that it names and earlier transitions bring in.
    private mutating func waitForArrivals(_ order: RequestOrder) {
        for id in entries[order]?.arrivals.named ?? [] where coming.addNamer(order, of: id) {
            entries[order]?.waiting += 1
        }
    }

    /// Ends the wait of a transition for controllers, because it is granted, is renamed or has ended.
    private mutating func stopWaitingForArrivals(_ order: RequestOrder) {
        for id in entries[order]?.arrivals.named ?? [] where coming.removeNamer(order, of: id) {
            entries[order]?.waiting -= 1
        }
    }
}

// MARK: - Questions

extension ScopeQueue {
    /// Whether no unfinished transition conflicts with a new request for the scope that names these controllers.
    func isFree(_ scope: [ScopePath], naming ids: [ControllerID] = []) -> Bool {
        scope.allSatisfy { places.isFree($0) } && !ids.contains { coming.isComing($0) }
    }

    /// Whether a new request that takes an earlier place would be granted there at once.
    func isFree(_ new: Claim, at place: RequestOrder) -> Bool {
        !new.paths.contains { places.isHeldUp($0, before: place) }
            && !new.arrivals.named.contains { !coming.bringers(of: $0, before: place).isEmpty }
    }
}
