internal import HeapModule

/// The queue of one scene: its line, the conflicts, and which transition may be granted now.
///
/// The rule: *a transition is granted as soon as every conflicting one that is granted, or stands before it in the line, has
/// ended.*
///
/// Each unfinished transition has a *part* at every place that its scope names. The tree holds only places with a part
/// at or below them. Every place knows how many parts of its subtree are granted, and which one is its *candidate*: the earliest
/// that waits for nothing at or below the place. A candidate that reaches the top waits for nothing at all: the part is
/// *clear*, and its transition is granted when all its parts are clear. So appending, granting and removing cost the
/// depth of the place times a logarithm; the length of the queue and the size of the tree do not matter.
///
/// A part that is clear may come to stand behind another one: of a transition with a higher priority, or of an earlier one whose
/// places have changed with the hierarchy. So before a grant, the queue looks again whether anything is in the way of a part.
/// One that something is in the way of is no longer clear, and has to be a candidate anew.
///
/// A shared part conflicts with exclusive ones only. A transition that is to get any of its parts is granted when one of them is
/// clear, and leaves the line at its other places.
///
/// Besides, a transition waits for every granted or earlier one that would bring in a controller that it names.
struct ScopeQueue {
    var entries = Table<LinePlace, Entry>()
    private(set) var granted: Set<LinePlace> = []
    /// The parts of all entries.
    var places = PlaceTree()
    /// Transitions whose parts are all clear; may contain outdated ones, which were granted, ended or wait again.
    var ready = Heap<LinePlace>()
    /// The unfinished transitions whose paths depend on a controller.
    var dependants: [ControllerID: Set<LinePlace>] = [:]
    /// Which controllers are coming, and which transitions wait for them.
    var coming = ComingControllers()
    /// The transitions that were added, moved or granted since `takeContended` was called.
    private(set) var changed: [LinePlace] = []
    /// The number of granted transitions that no other one has waited for yet.
    private(set) var uncontended = 0
    /// The number of waiting transitions that interrupt.
    private(set) var interrupting = 0
    /// The number of waiting transitions that are to get any of their parts.
    private(set) var choosing = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The number of unfinished transitions.
    var count: Int { entries.count }

    /// The unfinished transition at an order, if there is one.
    subscript(order: LinePlace) -> Entry? { entries[order] }

    /// All unfinished transitions, in the order of the line.
    var unfinished: [TransitionID] {
        entries.sorted { $0.key < $1.key }.map(\.value.id)
    }
}

// MARK: - Events

extension ScopeQueue {
    /// Adds a transition that waits.
    ///
    /// - Parameters:
    ///   - order: its place in the line.
    ///   - id: what `grantNext` returns when its turn comes.
    ///   - claim: what it conflicts by; no path may be a prefix of another.
    ///   - names: the controllers that the paths depend on.
    ///   - interrupts: whether it interrupts what is in its way.
    ///   - yields: whether it consents to be interrupted.
    mutating func append(
        _ order: LinePlace, id: TransitionID, _ claim: Claim, names: [ControllerID] = [], interrupts: Bool = false,
        yields: Bool = false
    ) {
        let isTop = claim.paths.count == 1 && claim.paths[0].isEmpty
        let standing = isTop ? Self.top : claim.paths.map { places.place(at: $0) }
        let entry = Entry(
            id: id, names: names, arrivals: claim.arrivals, places: standing,
            waiting: claim.isAny ? 1 : standing.count, isShared: claim.isShared, isAny: claim.isAny,
            interrupts: interrupts, yields: yields)
        entries[order] = entry
        if interrupts { interrupting += 1 }
        if claim.isAny { choosing += 1 }
        note(names, of: order)
        for place in standing { insert(order, entry, at: place) }
        bringIn(claim.arrivals.brought, by: order)
        waitForArrivals(order)
        if entries[order]?.waiting == 0 { ready.insert(order) }
        changed.append(order)
    }

    /// Replaces the names that a waiting transition depends on, and what it has to do with controllers that are coming;
    /// its paths are replaced by `refile`.
    mutating func rename(_ order: LinePlace, names: [ControllerID], arrivals: Arrivals) {
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

    /// Sets what a granted transition, which brought in nothing, has to do with controllers: from now on, those behind it that
    /// name what it brings in wait for it.
    mutating func give(_ order: LinePlace, _ arrivals: Arrivals, under rules: Rules) {
        guard let entry = entries[order], entry.isGranted, entry.arrivals.brought.isEmpty else {
            preconditionFailure("\(order) is not granted, or brings in controllers already")
        }
        for id in entry.arrivals.named { coming.removeHolder(order, of: id) }
        for id in arrivals.named { coming.addHolder(order, of: id) }
        entries[order]?.arrivals = arrivals
        bringIn(arrivals.brought, by: order)
        comeFirst(order, under: rules)
        changed.append(order)
    }

    /// Moves the parts of a waiting transition to the paths that its scope has now; its place in the line stays.
    ///
    /// Later transitions may already have parts at, above or below a new place that are granted, and keep their scope, or clear.
    mutating func refile(_ order: LinePlace, scope: [ScopePath]) {
        guard var entry = entries[order], !entry.isGranted, !entry.isAny else {
            preconditionFailure("\(order) cannot be refiled: it does not wait for all of its parts")
        }
        var wanted: [Int] = []
        for path in scope {
            let place = places.place(at: path)
            wanted.append(place)
            guard !entry.places.contains(place) else { continue }
            entry.waiting += 1
            insert(order, entry, at: place)
        }
        // Removed last: an earlier removal could free a place that is still wanted.
        for place in entry.places where !wanted.contains(place) {
            if !places.isClear(order, at: place, isShared: entry.isShared) { entry.waiting -= 1 }
            remove(order, entry, from: place)
        }
        entry.places = wanted
        entries[order] = entry
        if entry.waiting == 0 { ready.insert(order) }
        changed.append(order)
    }

    /// Notes that a granted transition names these controllers; it waits for none of them.
    mutating func note(_ order: LinePlace, naming ids: [ControllerID]) {
        guard let entry = entries[order], entry.isGranted, entry.arrivals.named.isEmpty else {
            preconditionFailure("\(order) is not granted, or names controllers already")
        }
        entries[order]?.arrivals.named = ids
        for id in ids { coming.addHolder(order, of: id) }
    }

    /// Grants the next transition whose turn has come.
    ///
    /// - Parameters:
    ///   - rules: the rules of the grant.
    ///   - mayChoose: whether one that is to get any of its parts is granted. Otherwise it is returned too, and waits on at all its
    ///     places; it is not returned again.
    /// - Returns: its id; `nil` if there is none.
    mutating func grantNext(under rules: Rules, mayChoose: Bool = true) -> TransitionID? {
        while let order = nextReady() {
            unclearWhatIsHeldUp(of: order)
            guard let entry = entries[order], entry.waiting == 0 else { continue }
            guard entry.isAny else { return grant(order, under: rules) }
            guard mayChoose else { return entry.id }
            choose(order)
            return grant(order, under: rules)
        }
        return nil
    }

    /// Has a transition leave the line at all its places but the first one listed at which nothing is in its way.
    private mutating func choose(_ order: LinePlace) {
        guard var entry = entries[order],
            let chosen = entry.places.first(where: { !places.isHeldUp(order, at: $0, isShared: entry.isShared) })
        else { preconditionFailure("\(order) is to get any of its parts, and something is in the way of all") }
        for place in entry.places where place != chosen { remove(order, entry, from: place) }
        entry.places = [chosen]
        entry.isAny = false
        entries[order] = entry
        choosing -= 1
    }

    /// The earliest transition whose parts are all clear.
    ///
    /// It makes no difference when they became clear. So the order of grants depends only on durable state.
    private mutating func nextReady() -> LinePlace? {
        while true {
            dropOutdatedReady()
            guard let order = places.candidate, ready.min.map({ order < $0 }) ?? true else {
                return ready.popMin()
            }
            guard var entry = entries[order], !entry.isGranted else {
                preconditionFailure("\(order) has a waiting part, but does not wait")
            }
            if !(entry.isAny && hasClearPart(order, entry)) { entry.waiting -= 1 }
            places.clear(order, isShared: entry.isShared)
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

    /// Has those parts of a transition wait again that something has come to be in the way of since they became clear.
    private mutating func unclearWhatIsHeldUp(of order: LinePlace) {
        guard let entry = entries[order] else { return }
        for place in entry.places where places.isHeldUp(order, at: place, isShared: entry.isShared) {
            // Of one that is to get any of its parts, others may not be clear.
            guard !entry.isAny || places.isClear(order, at: place, isShared: entry.isShared) else { continue }
            places.unclear(order, at: place, isShared: entry.isShared)
            noteUnclearPart(of: order)
        }
    }

    /// Counts a part that is not clear any more.
    private mutating func noteUnclearPart(of order: LinePlace) {
        guard let entry = entries[order], !(entry.isAny && hasClearPart(order, entry)) else { return }
        entries[order]?.waiting += 1
    }

    private func hasClearPart(_ order: LinePlace, _ entry: Entry) -> Bool {
        entry.places.contains { places.isClear(order, at: $0, isShared: entry.isShared) }
    }

    private mutating func grant(_ order: LinePlace, under rules: Rules) -> TransitionID? {
        stopWaitingForArrivals(order)
        for id in entries[order]?.arrivals.named ?? [] { coming.addHolder(order, of: id) }
        comeFirst(order, under: rules)
        entries[order]?.isGranted = true
        uncontended += 1
        if changed.last != order { changed.append(order) }
        granted.insert(order)
        guard let entry = entries[order] else { return nil }
        if entry.interrupts { interrupting -= 1 }
        for place in entry.places {
            if entry.interrupts { places.count(-1, interruptingAt: place) }
            places.grant(order, at: place, isShared: entry.isShared, yields: entry.yields)
        }
        return entry.id
    }

    /// Notes that the interruption of a granted transition has begun.
    mutating func noteInterruption(of order: LinePlace) {
        guard let entry = entries[order], entry.isGranted, entry.yields, !entry.isInterrupted else {
            preconditionFailure("\(order) may not be interrupted, or is already")
        }
        entries[order]?.isInterrupted = true
        for place in entry.places { places.noteInterruption(at: place, isShared: entry.isShared) }
    }

    /// Removes a transition that has ended.
    mutating func remove(_ order: LinePlace) {
        if entries[order]?.isGranted == false { stopWaitingForArrivals(order) }
        guard let entry = entries.removeValue(forKey: order) else {
            preconditionFailure("\(order) is not in the queue")
        }
        if granted.remove(order) != nil {
            if !entry.isContended { uncontended -= 1 }
            for id in entry.arrivals.named { coming.removeHolder(order, of: id) }
        } else {
            if entry.interrupts { interrupting -= 1 }
            if entry.isAny { choosing -= 1 }
        }
        forget(entry.names, of: order)
        keepAway(entry.arrivals.brought, by: order)
        for place in entry.places {
            if entry.isGranted {
                places.letGo(
                    order, of: place, isShared: entry.isShared, yields: entry.yields,
                    isInterrupted: entry.isInterrupted)
            } else {
                remove(order, entry, from: place)
            }
        }
    }

    /// The places of a whole scene.
    static let top = [PlaceTree.top]

    private mutating func insert(_ order: LinePlace, _ entry: Entry, at place: Int) {
        // The part that was first and clear now waits for the new one.
        if let first = places.insert(order, at: place, isShared: entry.isShared) { noteUnclearPart(of: first) }
        if entry.interrupts { places.count(1, interruptingAt: place) }
    }

    /// Removes a waiting part.
    private mutating func remove(_ order: LinePlace, _ entry: Entry, from place: Int) {
        if entry.interrupts { places.count(-1, interruptingAt: place) }
        places.remove(order, from: place, isShared: entry.isShared)
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
    mutating func noteContention(of order: LinePlace) -> TransitionID? {
        guard let entry = entries[order], entry.isGranted, !entry.isContended else { return nil }
        entries[order]?.isContended = true
        uncontended -= 1
        return entry.id
    }
}
