internal import DequeModule

/// Decides which connections are kept.
///
/// There are ordinary places, and a reserve for requests that must come through (`Route.mayUseReserve`). If there is no
/// free place, a new connection takes that of the oldest one that has never completed a request. A connection that has
/// completed a request keeps its place.
struct ConnectionPlaces {
    typealias ID = UInt64

    private let ordinary: Line.Capacity
    private let reserve: Line.Capacity
    private var ordinaryLine = Line()
    private var reserveLine = Line()

    /// What happens to a new connection.
    enum Admission: Hashable, Sendable {
        case admitted
        /// It takes the place of another connection, which has to be closed.
        case replacing(ID)
        /// There is no place for it, not even in the reserve: it has to be closed.
        case refused
    }

    init(ordinary: Int, reserve: Int) {
        self.ordinary = ordinary
        self.reserve = reserve
    }

    var isEmpty: Bool { ordinaryLine.count + reserveLine.count == 0 }

    mutating func admit(_ id: ID) -> Admission {
        if ordinaryLine.count < ordinary {
            ordinaryLine.insert(id)
            return .admitted
        }
        if let victim = ordinaryLine.removeOldestStranger() {
            ordinaryLine.insert(id)
            return .replacing(victim)
        }
        if reserveLine.count < reserve {
            reserveLine.insert(id)
            return .admitted
        }
        guard let victim = reserveLine.removeOldestStranger() else { return .refused }
        reserveLine.insert(id)
        return .replacing(victim)
    }

    /// Whether a connection has an ordinary place; one in the reserve moves to a free ordinary place.
    mutating func claimOrdinaryPlace(_ id: ID) -> Bool {
        if ordinaryLine.contains(id) { return true }
        guard ordinaryLine.count < ordinary else { return false }
        let isStranger = reserveLine.isStranger(id)
        guard reserveLine.remove(id) else { return false }
        ordinaryLine.insert(id)
        if !isStranger { ordinaryLine.establish(id) }
        return true
    }

    /// The connection has completed a request, and keeps its place from now on.
    mutating func establish(_ id: ID) {
        ordinaryLine.establish(id)
        reserveLine.establish(id)
    }

    /// The connection is closed.
    mutating func leave(_ id: ID) {
        if !ordinaryLine.remove(id) { reserveLine.remove(id) }
    }
}

/// The connections with places of one kind; strangers are those that have never completed a request.
private struct Line {
    typealias Capacity = Int

    private var members: Set<ConnectionPlaces.ID> = []
    private var strangers: Set<ConnectionPlaces.ID> = []
    /// Those that came as strangers, oldest first; entries that are no longer strangers are skipped, and removed in bulk.
    private var order: Deque<ConnectionPlaces.ID> = []

    var count: Int { members.count }

    func contains(_ id: ConnectionPlaces.ID) -> Bool { members.contains(id) }

    func isStranger(_ id: ConnectionPlaces.ID) -> Bool { strangers.contains(id) }

    mutating func insert(_ id: ConnectionPlaces.ID) {
        members.insert(id)
        strangers.insert(id)
        order.append(id)
        if order.count > 2 * strangers.count + 64 { order.removeAll { !strangers.contains($0) } }
    }

    mutating func establish(_ id: ConnectionPlaces.ID) {
        strangers.remove(id)
    }

    @discardableResult mutating func remove(_ id: ConnectionPlaces.ID) -> Bool {
        strangers.remove(id)
        return members.remove(id) != nil
    }

    mutating func removeOldestStranger() -> ConnectionPlaces.ID? {
        while let oldest = order.popFirst() {
            guard strangers.remove(oldest) != nil else { continue }
            members.remove(oldest)
            return oldest
        }
        return nil
    }
}
