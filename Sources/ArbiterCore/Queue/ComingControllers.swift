/// Which unfinished transitions bring in a controller, and which waiting ones name it.
///
/// A transition that names an id waits for every earlier one that would bring in that id, wherever their places are.
/// Each line of orders is a sorted array: hardly ever do more than a few transitions concern the same id.
struct ComingControllers {
    fileprivate struct Line {
        /// The transitions that bring in the id, granted or not.
        var bringers: [RequestOrder] = []
        /// The waiting transitions that name it.
        var namers: [RequestOrder] = []
        /// The granted ones that do; they wait for nothing any more.
        var holders: [RequestOrder] = []
    }

    private var lines: [ControllerID: Line] = [:]
}

// MARK: - Events

extension ComingControllers {
    /// Adds a transition that brings in the id.
    ///
    /// - Returns: the transitions that wait because of it and did not wait for the id before.
    mutating func addBringer(_ order: RequestOrder, of id: ControllerID) -> ArraySlice<RequestOrder> {
        var line = lines.removeValue(forKey: id) ?? Line()
        let next = line.bringers.first
        line.bringers.insertMember(order)
        defer { lines[id] = line }
        return line.namers(after: order, upTo: next)
    }

    /// Removes a transition that brings in the id.
    ///
    /// - Returns: the transitions that no longer wait for the id.
    mutating func removeBringer(_ order: RequestOrder, of id: ControllerID) -> ArraySlice<RequestOrder> {
        guard var line = lines.removeValue(forKey: id) else { preconditionFailure("nothing brings in \(id)") }
        let isFirst = line.bringers.first == order
        line.bringers.removeMember(order)
        defer { if !line.isEmpty { lines[id] = line } }
        return isFirst ? line.namers(after: order, upTo: line.bringers.first) : []
    }

    /// Adds a waiting transition that names the id.
    ///
    /// - Returns: whether it waits for the id.
    mutating func addNamer(_ order: RequestOrder, of id: ControllerID) -> Bool {
        var line = lines.removeValue(forKey: id) ?? Line()
        line.namers.insertMember(order)
        defer { lines[id] = line }
        return line.holdsUp(order)
    }

    /// Removes a transition that named the id.
    ///
    /// - Returns: whether it waited for the id.
    @discardableResult
    mutating func removeNamer(_ order: RequestOrder, of id: ControllerID) -> Bool {
        guard var line = lines.removeValue(forKey: id) else { preconditionFailure("nothing names \(id)") }
        line.namers.removeMember(order)
        defer { if !line.isEmpty { lines[id] = line } }
        return line.holdsUp(order)
    }
}

// MARK: - Granted and hidden transitions

extension ComingControllers {
    /// Adds a granted transition that names the id.
    mutating func addHolder(_ order: RequestOrder, of id: ControllerID) {
        lines[id, default: Line()].holders.insertMember(order)
    }

    /// Removes a granted transition that named the id.
    mutating func removeHolder(_ order: RequestOrder, of id: ControllerID) {
        guard var line = lines.removeValue(forKey: id) else { preconditionFailure("nothing names \(id)") }
        line.holders.removeMember(order)
        if !line.isEmpty { lines[id] = line }
    }

    /// Takes a waiting transition out, until it is revealed; what waits is not told.
    mutating func hide(_ order: RequestOrder, bringing brought: [ControllerID], naming named: [ControllerID]) {
        for id in brought { lines[id]?.bringers.removeMember(order) }
        for id in named { lines[id]?.namers.removeMember(order) }
    }

    /// Puts a hidden transition in again.
    mutating func reveal(_ order: RequestOrder, bringing brought: [ControllerID], naming named: [ControllerID]) {
        for id in brought { lines[id]?.bringers.insertMember(order) }
        for id in named { lines[id]?.namers.insertMember(order) }
    }

    /// Whether a transition after an order brings in the id.
    func hasBringer(of id: ControllerID, after order: RequestOrder) -> Bool {
        lines[id]?.bringers.last.map { order < $0 } ?? false
    }

    /// Whether a transition after an order, granted or not, names the id.
    func hasNamer(of id: ControllerID, after order: RequestOrder) -> Bool {
        guard let line = lines[id] else { return false }
        return [line.namers.last, line.holders.last].contains { $0.map { order < $0 } ?? false }
    }
}

// MARK: - Questions

extension ComingControllers {
    /// Whether an unfinished transition would bring in the id.
    func isComing(_ id: ControllerID) -> Bool { lines[id].map { !$0.bringers.isEmpty } ?? false }

    /// The waiting transitions after an order that name the id.
    func namers(of id: ControllerID, after order: RequestOrder) -> ArraySlice<RequestOrder> {
        lines[id]?.namers(after: order, upTo: nil) ?? []
    }

    /// The transitions that would bring in the id, only those before `limit` if there is one, in the order of their places.
    func bringers(of id: ControllerID, before limit: RequestOrder?) -> ArraySlice<RequestOrder> {
        guard let bringers = lines[id]?.bringers else { return [] }
        let end = limit.map { bringers.index(of: $0) } ?? bringers.count
        return bringers[..<end]
    }
}

extension ComingControllers.Line {
    fileprivate var isEmpty: Bool { bringers.isEmpty && namers.isEmpty && holders.isEmpty }

    /// Whether a transition that names the id waits for an earlier one.
    fileprivate func holdsUp(_ order: RequestOrder) -> Bool { bringers.first.map { $0 < order } ?? false }

    /// The namers after an order, up to another one and including it.
    fileprivate func namers(after order: RequestOrder, upTo last: RequestOrder?) -> ArraySlice<RequestOrder> {
        let begin = namers.index(behind: order)
        let end = last.map { namers.index(behind: $0) } ?? namers.count
        return begin < end ? namers[begin..<end] : []
    }
}

// MARK: - Sorted arrays

extension [RequestOrder] {
    /// Where an order is in the sorted array, or would be inserted.
    fileprivate func index(of order: RequestOrder) -> Int { prefixLength { $0 < order } }

    /// Where the orders after this one begin.
    fileprivate func index(behind order: RequestOrder) -> Int { prefixLength { $0 <= order } }

    fileprivate mutating func insertMember(_ order: RequestOrder) { insert(order, at: index(of: order)) }

    fileprivate mutating func removeMember(_ order: RequestOrder) {
        let index = index(of: order)
        precondition(index < count && self[index] == order, "\(order) is not in the line")
        remove(at: index)
    }
}
