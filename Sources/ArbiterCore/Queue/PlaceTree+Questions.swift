// Questions about parts and paths, which change nothing.

extension PlaceTree {
    /// Whether the part is the first at its place and waits for nothing.
    func isClear(_ order: RequestOrder, at place: Int) -> Bool {
        self[place].parts.first == order && self[place].isFirstClear
    }

    /// Whether another part, granted or earlier than `order`, is at the place, above it or below it.
    func isHeldUp(_ order: RequestOrder, at part: Int) -> Bool {
        if self[part].granted > 0 || self[part].earliest.map({ $0 < order }) == true { return true }
        var above = self[part].parent
        while let place = above {
            if self[place].holder != nil || self[place].parts.first.map({ $0 < order }) == true { return true }
            above = self[place].parent
        }
        return false
    }

    /// Whether a granted part, or one before `order`, is at a place of the path or below its end.
    func isHeldUp(_ path: ScopePath, before order: RequestOrder) -> Bool {
        var place = Self.top
        for name in path {
            if self[place].holder != nil || self[place].parts.first.map({ $0 < order }) == true { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return self[place].granted > 0 || self[place].earliest.map { $0 < order } == true
    }

    /// How many waiting parts are at the place and at the places above it.
    func waitingOnTheWay(to place: Int) -> Int {
        var count = 0
        var next: Int? = place
        while let index = next {
            count += self[index].parts.count - (self[index].holder == nil ? 0 : 1)
            next = self[index].parent
        }
        return count
    }

    /// Whether the places are the same or one is above the other.
    func areRelated(_ one: Int, _ other: Int) -> Bool { isAtOrAbove(one, other) || isAtOrAbove(other, one) }

    private func isAtOrAbove(_ upper: Int, _ lower: Int) -> Bool {
        var place: Int? = lower
        while let index = place {
            if index == upper { return true }
            place = self[index].parent
        }
        return false
    }

    /// Whether no part is at a place of the path or below its end.
    func isFree(_ path: ScopePath) -> Bool {
        var place = Self.top
        for name in path {
            guard self[place].parts.isEmpty else { return false }
            guard let child = self[place].children[name] else { return true }
            place = child
        }
        return self[place].earliest == nil
    }
}

// MARK: - The latest parts

extension PlaceTree {
    /// Whether a part that is not hidden and comes after `order` is at a place of the path or below its end.
    func hasPart(at path: ScopePath, after order: RequestOrder) -> Bool {
        var place = Self.top
        for name in path {
            if isAfter(order, self[place].latestOwn) { return true }
            guard let child = self[place].children[name] else { return false }
            place = child
        }
        return isAfter(order, self[place].latest)
    }

    /// Whether a part that is not hidden and comes after `order` is at a place, above it or below it.
    func hasPart(at place: Int, after order: RequestOrder) -> Bool {
        if isAfter(order, self[place].latest) { return true }
        var above = self[place].parent
        while let place = above {
            if isAfter(order, self[place].latestOwn) { return true }
            above = self[place].parent
        }
        return false
    }

    private func isAfter(_ order: RequestOrder, _ latest: RequestOrder?) -> Bool { latest.map { order < $0 } ?? false }
}
