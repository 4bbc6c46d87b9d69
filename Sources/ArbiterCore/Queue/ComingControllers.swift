/// Which unfinished transitions bring in a controller, and which waiting ones name it.
///
/// A transition that names an id waits for every granted or earlier one that would bring in that id, wherever their places in
/// the tree are. Each line is a sorted array: hardly ever do more than a few transitions concern the same id.
struct ComingControllers {
    fileprivate struct Line {
        /// The granted transitions that bring in the id.
        var granted: [LinePlace] = []
        /// The waiting transitions that bring in the id; under the first rules the granted ones stay among them.
        var bringers: [LinePlace] = []
        /// The waiting transitions that name it.
        var namers: [LinePlace] = []
        /// The granted ones that do; they wait for nothing any more.
        var holders: [LinePlace] = []
    }

    private var lines: [ControllerID: Line] = [:]
}

// MARK: - Events

extension ComingControllers {
    /// Adds a transition that brings in the id, and stands in the line.
    ///
    /// - Returns: the transitions that wait because of it and did not wait for the id before.
    mutating func addBringer(_ order: LinePlace, of id: ControllerID) -> ArraySlice<LinePlace> {
        change(id) { line in
            let next = line.bringers.first
            line.bringers.insertMember(order)
            return line.granted.isEmpty ? line.namers(after: order, upTo: next) : []
        }
    }

    /// Adds a granted transition that brings in the id: it comes before all that waits.
    ///
    /// - Returns: the transitions that wait because of it and did not wait for the id before.
    mutating func addGrantedBringer(_ order: LinePlace, of id: ControllerID) -> ArraySlice<LinePlace> {
        change(id) { line in
            let newlyWaiting = line.namersHeldUpByGrantedOnly
            let isFirst = line.granted.isEmpty
            line.granted.insertMember(order)
            return isFirst ? newlyWaiting : []
        }
    }

    /// Removes a transition that brings in the id.
    ///
    /// - Returns: the transitions that no longer wait for the id.
    mutating func removeBringer(_ order: LinePlace, of id: ControllerID) -> ArraySlice<LinePlace> {
        change(id) { line in
            if line.granted.removeMember(order) { return line.granted.isEmpty ? line.namersHeldUpByGrantedOnly : [] }
            let isFirst = line.bringers.first == order
            line.bringers.removeKnown(order)
            return isFirst && line.granted.isEmpty ? line.namers(after: order, upTo: line.bringers.first) : []
        }
    }

    /// Adds a waiting transition that names the id.
    ///
    /// - Returns: whether it waits for the id.
    mutating func addNamer(_ order: LinePlace, of id: ControllerID) -> Bool {
        change(id) { line in
            line.namers.insertMember(order)
            return line.holdsUp(order)
        }
    }

    /// Removes a transition that named the id.
    ///
    /// - Returns: whether it waited for the id.
    @discardableResult
    mutating func removeNamer(_ order: LinePlace, of id: ControllerID) -> Bool {
        change(id) { line in
            line.namers.removeKnown(order)
            return line.holdsUp(order)
        }
    }

    /// Adds a granted transition that names the id.
    mutating func addHolder(_ order: LinePlace, of id: ControllerID) {
        change(id) { $0.holders.insertMember(order) }
    }

    /// Removes a granted transition that named the id.
    mutating func removeHolder(_ order: LinePlace, of id: ControllerID) {
        change(id) { $0.holders.removeKnown(order) }
    }

    private mutating func change<Result>(_ id: ControllerID, _ body: (inout Line) -> Result) -> Result {
        var line = lines.removeValue(forKey: id) ?? Line()
        defer { if !line.isEmpty { lines[id] = line } }
        return body(&line)
    }
}

// MARK: - Hidden transitions

extension ComingControllers {
    /// Takes a waiting transition out, until it is revealed; what waits is not told.
    mutating func hide(_ order: LinePlace, bringing brought: [ControllerID], naming named: [ControllerID]) {
        for id in brought { lines[id]?.bringers.removeKnown(order) }
        for id in named { lines[id]?.namers.removeKnown(order) }
    }

    /// Puts a hidden transition in again.
    mutating func reveal(_ order: LinePlace, bringing brought: [ControllerID], naming named: [ControllerID]) {
        for id in brought { lines[id]?.bringers.insertMember(order) }
        for id in named { lines[id]?.namers.insertMember(order) }
    }
}

// MARK: - Questions

extension ComingControllers {
    /// Whether a granted transition, or one before a place of the line, would bring in the id.
    func isComing(_ id: ControllerID, before limit: LinePlace) -> Bool { lines[id]?.holdsUp(limit) ?? false }

    /// Whether a transition of a stretch of the line brings in the id: a waiting one, or one granted under the first rules.
    func hasBringer(of id: ControllerID, in stretch: Stretch) -> Bool {
        lines[id]?.bringers.hasMember(in: stretch) ?? false
    }

    /// Whether a waiting transition of a stretch of the line names the id.
    func hasNamer(of id: ControllerID, in stretch: Stretch) -> Bool {
        lines[id]?.namers.hasMember(in: stretch) ?? false
    }

    /// Whether a granted transition that comes after a place of the line names the id.
    func hasHolder(of id: ControllerID, after order: LinePlace) -> Bool {
        lines[id]?.holders.last.map { order < $0 } ?? false
    }

    /// The granted transitions that name the id.
    func holders(of id: ControllerID) -> [LinePlace] { lines[id]?.holders ?? [] }

    /// The waiting transitions that wait because a granted one brings in the id.
    func namers(of id: ControllerID, waitingFor order: LinePlace) -> ArraySlice<LinePlace> {
        guard let line = lines[id] else { return [] }
        return line.granted.isEmpty ? line.namers(after: order, upTo: nil) : line.namers[...]
    }

    /// The transitions that would bring in the id: the granted ones, and those before a place of the line, or all without one.
    func bringers(of id: ControllerID, before limit: LinePlace?) -> [LinePlace] {
        guard let line = lines[id] else { return [] }
        let end = limit.map { line.bringers.index(of: $0) } ?? line.bringers.count
        return line.granted + line.bringers[..<end]
    }
}

extension ComingControllers.Line {
    fileprivate var isEmpty: Bool { granted.isEmpty && bringers.isEmpty && namers.isEmpty && holders.isEmpty }

    /// Whether a transition at a place of the line that names the id waits for another one.
    fileprivate func holdsUp(_ order: LinePlace) -> Bool {
        !granted.isEmpty || bringers.first.map { $0 < order } ?? false
    }

    /// The namers that no bringer in the line holds up.
    fileprivate var namersHeldUpByGrantedOnly: ArraySlice<LinePlace> {
        namers[..<(bringers.first.map { namers.index(behind: $0) } ?? namers.count)]
    }

    /// The namers after an order, up to another one and including it.
    fileprivate func namers(after order: LinePlace, upTo last: LinePlace?) -> ArraySlice<LinePlace> {
        let begin = namers.index(behind: order)
        let end = last.map { namers.index(behind: $0) } ?? namers.count
        return begin < end ? namers[begin..<end] : []
    }
}

// MARK: - Sorted arrays

extension [LinePlace] {
    /// Where an order is in the sorted array, or would be inserted.
    fileprivate func index(of order: LinePlace) -> Int { prefixLength { $0 < order } }

    /// Where the orders after this one begin.
    fileprivate func index(behind order: LinePlace) -> Int { prefixLength { $0 <= order } }

    fileprivate func hasMember(in stretch: Stretch) -> Bool {
        let index = index(behind: stretch.after)
        return index < count && stretch.contains(self[index])
    }

    fileprivate mutating func insertMember(_ order: LinePlace) { insert(order, at: index(of: order)) }

    /// - Returns: whether it was there.
    fileprivate mutating func removeMember(_ order: LinePlace) -> Bool {
        let index = index(of: order)
        guard index < count, self[index] == order else { return false }
        remove(at: index)
        return true
    }

    fileprivate mutating func removeKnown(_ order: LinePlace) {
        let wasThere = removeMember(order)
        precondition(wasThere, "\(order) is not in the line")
    }
}
