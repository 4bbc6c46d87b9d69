internal import DequeModule

/// Who may have a connection.
///
/// There are ordinary places, and a reserve for requests that must come through (`Route.mayUseReserve`). A connection that
/// has never completed a request makes room for a new one, the oldest first; one that has keeps its place.
struct ConnectionPlaces {
    typealias ID = UInt64

    private let ordinary: Line.Capacity
    private let reserve: Line.Capacity
    private var ordinaryLine = Line()
    private var reserveLine = Line()

    /// What becomes of a new connection.
    enum Admission: Hashable, Sendable {
        case admitted
        /// It has the place of another, which is to be closed.
        case replacing(ID)
        /// There is no place for it, not even in the reserve: it is to be closed.
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

    /// Whether it has an ordinary place, or gets one that has become free.
    mutating func claimOrdinaryPlace(_ id: ID) -> Bool {
        if ordinaryLine.contains(id) { return true }
        guard ordinaryLine.count < ordinary else { return false }
        let isStranger = reserveLine.isStranger(id)
        guard reserveLine.remove(id) else { return false }
        ordinaryLine.insert(id)
        if !isStranger { ordinaryLine.establish(id) }
        return true
    }

    /// It has completed a request, and keeps its place.
    mutating func establish(_ id: ID) {
        ordinaryLine.establish(id)
        reserveLine.establish(id)
    }

    /// It is closed.
    mutating func leave(_ id: ID) {
        if !ordinaryLine.remove(id) { reserveLine.remove(id) }
    }
}

/// Those who have places of one kind, and those of them who have never completed a request, in the order they came.
private struct Line {
    typealias Capacity = Int

    private var members: Set<ConnectionPlaces.ID> = []
    private var strangers: Set<ConnectionPlaces.ID> = []
    /// With some that are no strangers any more, which are skipped, and swept out when they are too many.
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
