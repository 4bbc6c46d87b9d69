// Questions about parts and paths, which change nothing.

extension PlaceTree {
    /// Whether a waiting part has been found to have nothing in its way.
    func isClear(_ order: LinePlace, at place: Int, isShared: Bool) -> Bool {
        if isShared { return !self[place].unclear.contains(order) }
        return self[place].isFirstClear && self[place, isShared: false].parts.first == order
    }

    /// Whether another part that conflicts, granted or earlier than `order`, is at the place, above it or below it.
    func isHeldUp(_ order: LinePlace, at place: Int, isShared: Bool) -> Bool {
        isTaken(place, before: order, isShared: isShared)
            || ancestors(of: place).contains { hasOwn($0, before: order, isShared: isShared) }
    }

    /// Whether a part that conflicts, granted or before `order`, is at a place of the path or below its end.
    func isHeldUp(_ path: ScopePath, before order: LinePlace, isShared: Bool) -> Bool {
        var place = Self.top
        for name in path {
            if hasOwn(place, before: order, isShared: isShared) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return isTaken(place, before: order, isShared: isShared)
    }

    /// Whether no part is at the place or below it.
    func isEmpty(_ place: Int) -> Bool {
        granted(in: place, conflictingWithShared: false) == 0
            && earliest(in: place, conflictingWithShared: false) == nil
    }

    /// Whether a part that conflicts, granted or before `order`, is at the place.
    private func hasOwn(_ place: Int, before order: LinePlace, isShared: Bool) -> Bool {
        if self[place].holder != nil { return true }
        if let first = self[place, isShared: false].parts.first, first < order { return true }
        guard !isShared, sharedParts > 0 else { return false }
        return !self[place].sharedHolders.isEmpty
            || self[place, isShared: true].parts.first.map { $0 < order } ?? false
    }

    /// Whether a part that conflicts, granted or before `order`, is at the place or below it.
    private func isTaken(_ place: Int, before order: LinePlace, isShared: Bool) -> Bool {
        if granted(in: place, conflictingWithShared: isShared) > 0 { return true }
        return earliest(in: place, conflictingWithShared: isShared).map { $0 < order } ?? false
    }

    /// The number of granted parts at a place or below it that conflict with a shared part, or with an exclusive one.
    func granted(in place: Int, conflictingWithShared isShared: Bool) -> Int {
        let exclusive = self[place, isShared: false].granted
        return isShared || sharedParts == 0 ? exclusive : exclusive + self[place, isShared: true].granted
    }

    /// The earliest waiting part at a place or below it that conflicts with a shared part, or with an exclusive one.
    func earliest(in place: Int, conflictingWithShared isShared: Bool) -> LinePlace? {
        let exclusive = self[place, isShared: false].earliest
        guard !isShared, sharedParts > 0, let shared = self[place, isShared: true].earliest else { return exclusive }
        return exclusive.map { min($0, shared) } ?? shared
    }

    /// The first waiting part at a place that conflicts with a shared part, or with an exclusive one.
    func first(at place: Int, conflictingWithShared isShared: Bool) -> LinePlace? {
        let first = self[place, isShared: false].parts.first
        guard !isShared, sharedParts > 0, let other = self[place, isShared: true].parts.first else { return first }
        return first.map { min($0, other) } ?? other
    }

    /// The granted parts at a place that conflict with a shared part, or with an exclusive one; at most `limit`.
    func holders(of place: Int, conflictingWithShared isShared: Bool, limit: Int = .max) -> [LinePlace] {
        let shared = isShared || sharedParts == 0 ? [] : self[place].sharedHolders.prefix(limit, before: nil)
        return (self[place].holder.map { [$0] } ?? []) + shared
    }

    /// The first waiting parts at a place that conflict with a shared part, or with an exclusive one, of each mode at most `limit`.
    func parts(
        at place: Int, conflictingWithShared isShared: Bool, limit: Int, before order: LinePlace? = nil
    ) -> [LinePlace] {
        let exclusive = self[place, isShared: false].parts.prefix(limit, before: order)
        guard !isShared, sharedParts > 0 else { return exclusive }
        return exclusive + self[place, isShared: true].parts.prefix(limit, before: order)
    }

    /// The children that have a granted part that conflicts with a shared part, or with an exclusive one, at or below them.
    func grantedChildren(of place: Int, conflictingWithShared isShared: Bool) -> [Int] {
        let exclusive = self[place, isShared: false].grantedChildren
        guard !isShared, sharedParts > 0 else { return exclusive }
        let shared = self[place, isShared: true].grantedChildren
        return shared.isEmpty ? exclusive : exclusive.isEmpty ? shared : Set(exclusive + shared).sorted()
    }

    /// Children at or below which a part that conflicts waits before a place of the line.
    ///
    /// - Parameters:
    ///   - place: the place.
    ///   - order: the place of the line.
    ///   - isShared: whether it is to conflict with a shared part.
    ///   - most: how many children, or published parts of a mode, are looked at.
    /// - Returns: the children, and whether there are no others.
    func children(
        of place: Int, withPartsBefore order: LinePlace, conflictingWithShared isShared: Bool, lookingAt most: Int
    ) -> (found: [Int], areAll: Bool) {
        let children = self[place].children
        if children.count <= most {
            let found = children.values.filter {
                earliest(in: $0, conflictingWithShared: isShared).map { $0 < order } ?? false
            }
            return (found, true)
        }
        var found: Set<Int> = []
        var areAll = true
        for isOther in isShared ? [false] : [false, true] {
            var looked = 0
            self[place, isShared: isOther].below.visit(before: Part(order: order, child: .min)) { part in
                found.insert(part.child)
                looked += 1
                return looked < most
            }
            areAll = areAll && looked < most
        }
        return (found.sorted(), areAll)
    }

    /// How many waiting parts that conflict with a part at the place are there and at the places above it.
    func waitingOnTheWay(to place: Int, conflictingWithShared isShared: Bool) -> Int {
        ancestors(of: place).reduce(waiting(at: place, isShared)) { $0 + waiting(at: $1, isShared) }
    }

    private func waiting(at place: Int, _ isShared: Bool) -> Int {
        self[place, isShared: false].parts.count + (isShared ? 0 : self[place, isShared: true].parts.count)
    }

    /// Whether the places are the same or one is above the other.
    func areRelated(_ one: Int, _ other: Int) -> Bool { isAtOrAbove(one, other) || isAtOrAbove(other, one) }

    private func isAtOrAbove(_ upper: Int, _ lower: Int) -> Bool {
        upper == lower || ancestors(of: lower).contains(upper)
    }
}

// MARK: - Parts between two places of the line

extension PlaceTree {
    /// Whether a waiting part of a stretch of the line that conflicts is at a place of the path or below its end.
    func hasPart(at path: ScopePath, in stretch: Stretch, conflictingWithShared isShared: Bool) -> Bool {
        var place = Self.top
        for name in path {
            if hasOwn(place, in: stretch, isShared) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return hasPart(atOrBelow: place, in: stretch, isShared)
    }

    /// Whether a waiting part of a stretch of the line that conflicts is at a place, above it or below it.
    func hasPart(at place: Int, in stretch: Stretch, conflictingWithShared isShared: Bool) -> Bool {
        hasPart(atOrBelow: place, in: stretch, isShared)
            || ancestors(of: place).contains { hasOwn($0, in: stretch, isShared) }
    }

    private func hasOwn(_ place: Int, in stretch: Stretch, _ isShared: Bool) -> Bool {
        stretch.contains(oneOf: self[place, isShared: false].parts)
            || !isShared && stretch.contains(oneOf: self[place, isShared: true].parts)
    }

    private func hasPart(atOrBelow place: Int, in stretch: Stretch, _ isShared: Bool) -> Bool {
        stretch.contains(oneOf: self[place, isShared: false])
            || !isShared && stretch.contains(oneOf: self[place, isShared: true])
    }
}

// MARK: - Granted parts

extension PlaceTree {
    /// Whether a granted part that comes after a place of the line is at a place of the path or below its end; none is shared.
    func hasHolder(at path: ScopePath, after order: LinePlace) -> Bool {
        var place = Self.top
        for name in path {
            if isHeld(place, after: order) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return hasHolder(atOrBelow: place, after: order)
    }

    /// Whether a granted part that comes after a place of the line is at a place, above it or below it; none is shared.
    func hasHolder(at place: Int, after order: LinePlace) -> Bool {
        hasHolder(atOrBelow: place, after: order) || ancestors(of: place).contains { isHeld($0, after: order) }
    }

    private func hasHolder(atOrBelow place: Int, after order: LinePlace) -> Bool {
        isHeld(place, after: order)
            || self[place, isShared: false].grantedChildren.contains { hasHolder(atOrBelow: $0, after: order) }
    }

    private func isHeld(_ place: Int, after order: LinePlace) -> Bool { self[place].holder.map { order < $0 } ?? false }

    /// The granted parts that conflict, at the places of a path and below its end.
    func holders(at path: ScopePath, conflictingWithShared isShared: Bool) -> [LinePlace] {
        var (place, found): (Int, [LinePlace]) = (Self.top, [])
        for name in path {
            found += holders(of: place, conflictingWithShared: isShared)
            guard let child = self[place].children[name] else { return found }
            place = child
        }
        visitHolders(atOrBelow: place, conflictingWithShared: isShared) {
            found.append($0)
            return true
        }
        return found
    }

    /// Visits the granted parts that conflict, at a place and below it, as long as `visit` returns true.
    ///
    /// - Returns: whether all have been visited.
    @discardableResult
    func visitHolders(
        atOrBelow place: Int, conflictingWithShared isShared: Bool, _ visit: (LinePlace) -> Bool
    ) -> Bool {
        holders(of: place, conflictingWithShared: isShared).allSatisfy(visit)
            && grantedChildren(of: place, conflictingWithShared: isShared).allSatisfy {
                visitHolders(atOrBelow: $0, conflictingWithShared: isShared, visit)
            }
    }
}

/// What stands in the line between two places, of which the later one has another priority or is the end of the line for its own.
///
/// So what is in it shows among the first and the last of each priority.
struct Stretch {
    let after: LinePlace
    let before: LinePlace

    func contains(_ order: LinePlace) -> Bool { after < order && order < before }

    /// Whether it contains a member of an ordered line.
    func contains(oneOf line: RequestLine) -> Bool { line.first(after: after).map { $0 < before } ?? false }

    /// Whether it contains a waiting part at a place or below it.
    func contains(oneOf layer: PlaceTree.Layer) -> Bool {
        contains(oneOf: layer.parts)
            || layer.below.first(after: PlaceTree.Part(order: after, child: .max)).map { contains($0.order) } ?? false
    }
}
