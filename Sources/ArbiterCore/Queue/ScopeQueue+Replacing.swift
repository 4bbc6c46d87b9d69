// Which transitions a new one may replace, or give way to: those that nothing separates from it.

/// What a transition conflicts by.
struct Claim {
    /// The paths of what it locks.
    var paths: [ScopePath]
    var arrivals = ScopeQueue.Arrivals()
    /// Whether it conflicts with exclusive ones only.
    var isShared = false
    /// Whether it locks what is at one of the paths instead of all.
    var isAny = false
}

extension ScopeQueue {
    /// Of some unfinished transitions, those that a new one may replace, or give way to.
    ///
    /// What conflicts with either of the two, and stands in the line between them, or between the place that the new one
    /// would take and them, separates them. What is granted stands before all that waits. Those that are found separate nothing. A
    /// candidate that waits costs the depth of its places times a logarithm; those that are granted cost, all together, as many as
    /// conflict with the new one.
    ///
    /// - Parameters:
    ///   - candidates: the places of unfinished transitions in the line, the last one first.
    ///   - new: what the new one conflicts by.
    ///   - place: the place of the new one if it takes none over.
    ///   - rules: the rules of the request; under the first ones, a granted transition separates as well.
    ///   - aside: what a transition that waits outside the line conflicts by; it separates nothing.
    ///   - mayBeReplaced: whether a candidate may be replaced, or stay, at all; `nil` if no more are looked at.
    /// - Returns: their places, the first one first.
    mutating func replaceable(
        _ candidates: some Sequence<LinePlace>, by new: Claim, at place: LinePlace, under rules: Rules,
        aside: (LinePlace) -> (id: TransitionID, claim: Claim)?,
        where mayBeReplaced: (TransitionID) -> Bool?
    ) -> [LinePlace] {
        var (found, granted): ([LinePlace], [LinePlace]) = ([], [])
        for order in candidates {
            let (entry, other) = (self[order], aside(order))
            guard let id = entry?.id ?? other?.id else { continue }
            guard let mayBe = mayBeReplaced(id) else { break }
            guard mayBe else { continue }
            if entry?.isGranted == true {
                granted.append(order)
                continue
            }
            let taken = LinePlace(order.order, place.priority)
            let stretch = Stretch(after: min(taken, order), before: max(place, order))
            let isNewSeparated = isSeparated(new, in: stretch)
            // What separates the new one from an equal separates it from those before that too.
            if isNewSeparated, order.priority >= place.priority {
                granted = []
                break
            }
            let isOlderSeparated =
                entry.map { isSeparated($0, in: stretch) } ?? other.map { isSeparated($0.claim, in: stretch) }
            guard !isNewSeparated, isOlderSeparated == false,
                rules > .first || !isSeparatedByGranted(new, from: order)
            else { continue }
            found.append(order)
            if entry != nil { hide(order) }
        }
        let first = granted.isEmpty ? [] : unseparated(granted, from: new, at: place)
        for order in found where self[order] != nil { reveal(order) }
        return first.reversed() + found.reversed()
    }

    /// Of some granted transitions, the last one first, those that nothing separates from a new one.
    private func unseparated(_ candidates: [LinePlace], from new: Claim, at place: LinePlace) -> [LinePlace] {
        let stretch = Stretch(after: .start, before: place)
        let bringers = new.arrivals.named.flatMap { coming.bringers(of: $0, before: nil) }
        guard !new.paths.contains(where: { places.hasPart(at: $0, in: stretch, conflictingWithShared: new.isShared) }),
            !new.arrivals.brought.contains(where: { coming.hasNamer(of: $0, in: stretch) }),
            !bringers.contains(where: { self[$0]?.isGranted != true && $0 < place })
        else { return [] }
        // What is granted and conflicts with the new one, the last one last.
        var inTheWay = Set(
            new.paths.flatMap { places.holders(at: $0, conflictingWithShared: new.isShared) }
                + new.arrivals.brought.flatMap { coming.holders(of: $0) }
                + bringers.filter { self[$0]?.isGranted == true }
        ).sorted()
        var found: Set<LinePlace> = []
        for order in candidates {
            while let last = inTheWay.last, found.contains(last) { inTheWay.removeLast() }
            // What comes between the new one and this one comes between it and those before too.
            if let last = inTheWay.last, order < last { break }
            guard let entry = self[order], !isSeparated(entry, in: stretch),
                !entry.arrivals.brought.contains(where: { brought in
                    coming.holders(of: brought).contains { order < $0 && !found.contains($0) }
                })
            else { continue }
            found.insert(order)
        }
        return candidates.filter(found.contains)
    }

    /// Whether a waiting transition of a stretch of the line conflicts with a new one.
    private func isSeparated(_ new: Claim, in stretch: Stretch) -> Bool {
        new.paths.contains { places.hasPart(at: $0, in: stretch, conflictingWithShared: new.isShared) }
            || new.arrivals.brought.contains { coming.hasNamer(of: $0, in: stretch) }
            || new.arrivals.named.contains { coming.hasBringer(of: $0, in: stretch) }
    }

    /// Whether a waiting transition of a stretch of the line, in which it is not itself, conflicts with a waiting one.
    private func isSeparated(_ entry: Entry, in stretch: Stretch) -> Bool {
        entry.places.contains { places.hasPart(at: $0, in: stretch, conflictingWithShared: entry.isShared) }
            || entry.arrivals.brought.contains { coming.hasNamer(of: $0, in: stretch) }
    }

    /// Whether a granted transition that was asked for later than a waiting one conflicts with that or with a new one.
    private func isSeparatedByGranted(_ new: Claim, from order: LinePlace) -> Bool {
        guard let waiting = self[order] else { return false }
        return new.paths.contains { places.hasHolder(at: $0, after: order) }
            || waiting.places.contains { places.hasHolder(at: $0, after: order) }
            || (new.arrivals.brought + waiting.arrivals.brought).contains { coming.hasHolder(of: $0, after: order) }
            || new.arrivals.named.contains { coming.hasBringer(of: $0, in: Stretch(after: order, before: .end)) }
    }

    /// Has a waiting transition separate nothing.
    private mutating func hide(_ order: LinePlace) {
        guard let entry = self[order] else { preconditionFailure("\(order) is not in the queue") }
        for place in entry.places { places.hide(order, at: place, isShared: entry.isShared) }
        coming.hide(order, bringing: entry.arrivals.brought, naming: entry.arrivals.named)
    }

    private mutating func reveal(_ order: LinePlace) {
        guard let entry = self[order] else { preconditionFailure("\(order) is not in the queue") }
        for place in entry.places { places.reveal(order, at: place, isShared: entry.isShared) }
        coming.reveal(order, bringing: entry.arrivals.brought, naming: entry.arrivals.named)
    }
}
