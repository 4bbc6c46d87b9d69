// Questions about parts and paths, which change nothing.

extension PlaceTree {
    /// Whether the part is the first that waits at its place, and nothing is in its way.
    func isClear(_ order: LinePlace, at place: Int) -> Bool {
        self[place].parts.first == order && self[place].isFirstClear
    }

    /// Whether another part, granted or earlier than `order`, is at the place, above it or below it.
    func isHeldUp(_ order: LinePlace, at place: Int) -> Bool {
        isTaken(place, before: order) || ancestors(of: place).contains { hasOwn($0, before: order) }
    }

    /// Whether a granted part, or one before `order`, is at a place of the path or below its end.
    func isHeldUp(_ path: ScopePath, before order: LinePlace) -> Bool {
        var place = Self.top
        for name in path {
            if hasOwn(place, before: order) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return isTaken(place, before: order)
    }

    /// Whether a granted part, or one before `order`, is at the place.
    private func hasOwn(_ place: Int, before order: LinePlace) -> Bool {
        if self[place].holder != nil { return true }
        guard let first = self[place].parts.first else { return false }
        return first < order
    }

    /// Whether a granted part, or one before `order`, is at the place or below it.
    private func isTaken(_ place: Int, before order: LinePlace) -> Bool {
        if self[place].granted > 0 { return true }
        guard let earliest = self[place].earliest else { return false }
        return earliest < order
    }

    /// Children at or below which a part waits before a place of the line.
    ///
    /// - Parameters:
    ///   - place: the place.
    ///   - order: the place of the line.
    ///   - most: how many children, or published parts, are looked at.
    /// - Returns: the children, and whether there are no others.
    func children(
        of place: Int, withPartsBefore order: LinePlace, lookingAt most: Int
    ) -> (found: [Int], areAll: Bool) {
        let children = self[place].children
        if children.count <= most {
            return (children.values.filter { self[$0].earliest.map { $0 < order } ?? false }, true)
        }
        var found: Set<Int> = []
        var looked = 0
        self[place].below.visit(before: Part(order: order, child: .min)) { part in
            found.insert(part.child)
            looked += 1
            return looked < most
        }
        return (found.sorted(), looked < most)
    }

    /// How many waiting parts are at the place and at the places above it.
    func waitingOnTheWay(to place: Int) -> Int {
        ancestors(of: place).reduce(self[place].parts.count) { $0 + self[$1].parts.count }
    }

    /// Whether the places are the same or one is above the other.
    func areRelated(_ one: Int, _ other: Int) -> Bool { isAtOrAbove(one, other) || isAtOrAbove(other, one) }

    private func isAtOrAbove(_ upper: Int, _ lower: Int) -> Bool {
        upper == lower || ancestors(of: lower).contains(upper)
    }
}

// MARK: - Parts between two places of the line

extension PlaceTree {
    /// Whether a waiting part of a stretch of the line is at a place of the path or below its end.
    func hasPart(at path: ScopePath, in stretch: Stretch) -> Bool {
        var place = Self.top
        for name in path {
            if stretch.contains(oneOf: self[place].parts) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return hasPart(atOrBelow: place, in: stretch)
    }

    /// Whether a waiting part of a stretch of the line is at a place, above it or below it.
    func hasPart(at place: Int, in stretch: Stretch) -> Bool {
        hasPart(atOrBelow: place, in: stretch)
            || ancestors(of: place).contains { stretch.contains(oneOf: self[$0].parts) }
    }

    private func hasPart(atOrBelow place: Int, in stretch: Stretch) -> Bool {
        if stretch.contains(oneOf: self[place].parts) { return true }
        return self[place].below.first(after: Part(order: stretch.after, child: .max))
            .map { stretch.contains($0.order) } ?? false
    }
}

// MARK: - Granted parts

extension PlaceTree {
    /// Whether a granted part that comes after a place of the line is at a place of the path or below its end.
    func hasHolder(at path: ScopePath, after order: LinePlace) -> Bool {
        var place = Self.top
        for name in path {
            if isHeld(place, after: order) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return hasHolder(atOrBelow: place, after: order)
    }

    /// Whether a granted part that comes after a place of the line is at a place, above it or below it.
    func hasHolder(at place: Int, after order: LinePlace) -> Bool {
        hasHolder(atOrBelow: place, after: order) || ancestors(of: place).contains { isHeld($0, after: order) }
    }

    private func hasHolder(atOrBelow place: Int, after order: LinePlace) -> Bool {
        isHeld(place, after: order)
            || self[place].grantedChildren.contains { hasHolder(atOrBelow: $0, after: order) }
    }

    /// The granted parts at the places of a path and below its end.
    func holders(at path: ScopePath) -> [LinePlace] {
        var (place, found): (Int, [LinePlace]) = (Self.top, [])
        for name in path {
            if let holder = self[place].holder { found.append(holder) }
            guard let child = self[place].children[name] else { return found }
            place = child
        }
        collectHolders(atOrBelow: place, in: &found)
        return found
    }

    private func collectHolders(atOrBelow place: Int, in found: inout [LinePlace]) {
        if let holder = self[place].holder { found.append(holder) }
        for child in self[place].grantedChildren { collectHolders(atOrBelow: child, in: &found) }
    }

    private func isHeld(_ place: Int, after order: LinePlace) -> Bool { self[place].holder.map { order < $0 } ?? false }
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
}
