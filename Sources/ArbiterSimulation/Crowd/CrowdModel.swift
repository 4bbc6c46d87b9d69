internal import ArbiterCore
internal import ArbiterTestKit

/// A scene with thousands of tickets by the rules, in lists that are short enough to be searched.
///
/// It has groups of views. A ticket locks views, groups or the whole scene; a group conflicts with its views.
struct CrowdModel {
    static let groups = 40
    static let viewsInGroup = 50

    /// What a ticket locks.
    enum Lock: Hashable {
        case scene
        case group(Int)
        /// The index of a view over all groups.
        case view(Int)

        var group: Int? {
            switch self {
            case .scene: nil
            case .group(let group): group
            case .view(let view): view / viewsInGroup
            }
        }
    }

    /// A place in the line, in which what is granted comes before all that waits.
    struct Spot: Hashable, Comparable {
        var isGranted = false
        let priority: Int
        let order: UInt64

        static func < (left: Spot, right: Spot) -> Bool {
            if left.isGranted != right.isGranted { return left.isGranted }
            return (right.priority, left.order) < (left.priority, right.order)
        }
    }

    struct Ticket {
        let id: TransitionID
        let locks: [Lock]
        let key: Int?
        let session: Int
        let priority: Int
        /// When its lease is over, once it is granted.
        var until = Instant(nanoseconds: 0)
    }

    /// The unfinished transitions, by their places.
    private(set) var tickets: [Spot: Ticket] = [:]
    private var all: [Spot] = []
    private var lines: [Lock: [Spot]] = [:]
    /// The places of those that lock views of each group.
    private var members: [Int: [Spot]] = [:]
    private var keys: [Int: [Spot]] = [:]

    /// How many are granted.
    private(set) var granted = 0

    /// The place of one that is granted, or of one that waits; `nil` if a few that were drawn are not.
    func place(ofGranted isGranted: Bool, using chance: inout SplitMix64) -> Spot? {
        for _ in 0..<50 {
            guard let place = all.randomElement(using: &chance) else { return nil }
            if place.isGranted == isGranted { return place }
        }
        return nil
    }

    // MARK: Questions

    /// The lists of places of all that conflicts with a lock.
    private func conflicts(with lock: Lock) -> [[Spot]] {
        switch lock {
        case .scene: [all]
        case .group(let group): [lines[lock] ?? [], members[group] ?? [], lines[.scene] ?? []]
        case .view(let view): [lines[lock] ?? [], lines[.group(view / Self.viewsInGroup)] ?? [], lines[.scene] ?? []]
        }
    }

    /// Whether nothing before a place conflicts with the locks.
    func isFree(_ locks: [Lock], at place: Spot) -> Bool {
        locks.allSatisfy { lock in conflicts(with: lock).allSatisfy { $0.first.map { $0 >= place } ?? true } }
    }

    /// The places of the older tickets that a new one, which would wait at a place, is coalesced with.
    func coalesced(_ new: Ticket, at place: Spot, keepsLatest: Bool) -> [Spot] {
        guard let key = new.key else { return [] }
        var found: Set<Spot> = []
        func isSeparated(_ locks: [Lock], after start: Spot, before end: Spot) -> Bool {
            locks.contains { lock in
                conflicts(with: lock).contains { line in
                    line[line.index(behind: start)...].prefix { $0 < end }.contains { !found.contains($0) }
                }
            }
        }
        for older in (keys[key] ?? []).suffix(Limits.coalesced).reversed() {
            guard let ticket = tickets[older], !older.isGranted else { continue }
            guard keepsLatest ? older.priority <= place.priority : older.priority >= place.priority else { continue }
            let start = min(older, Spot(priority: place.priority, order: older.order))
            let end = max(older, place)
            found.insert(older)
            if isSeparated(new.locks + ticket.locks, after: start, before: end) { found.remove(older) }
        }
        return found.sorted()
    }

    // MARK: Changes

    mutating func insert(_ ticket: Ticket, at place: Spot) {
        tickets[place] = ticket
        all.insertSorted(place)
        for lock in ticket.locks {
            lines[lock, default: []].insertSorted(place)
            if case .view(let view) = lock { members[view / Self.viewsInGroup, default: []].insertSorted(place) }
        }
        if let key = ticket.key { keys[key, default: []].insertSorted(place) }
    }

    /// Removes a transition that ends.
    ///
    /// - Returns: the places of those whose turn may have come.
    mutating func remove(at place: Spot) -> Set<Spot> {
        guard let ticket = take(place) else { return [] }
        if place.isGranted { granted -= 1 }
        // Behind the whole scene anything may wait, and behind a group its views.
        guard !ticket.locks.contains(.scene) else { return Set(lines.values.compactMap(\.first)) }
        var next = Set([lines[.scene]?.first].compactMap(\.self))
        for lock in ticket.locks {
            guard let group = lock.group else { continue }
            let views = (group * Self.viewsInGroup)..<((group + 1) * Self.viewsInGroup)
            for view in views { if let first = lines[.view(view)]?.first { next.insert(first) } }
            if let first = lines[.group(group)]?.first { next.insert(first) }
        }
        return next
    }

    private mutating func take(_ place: Spot) -> Ticket? {
        guard let ticket = tickets.removeValue(forKey: place) else { return nil }
        all.removeSorted(place)
        if let key = ticket.key { keys[key]?.removeSorted(place) }
        for lock in ticket.locks {
            lines[lock]?.removeSorted(place)
            if case .view(let view) = lock { members[view / Self.viewsInGroup]?.removeSorted(place) }
        }
        return ticket
    }

    /// Grants, of some, those whose turn has come.
    mutating func grant(_ candidates: Set<Spot>, until: Instant) {
        for place in candidates.sorted() where !place.isGranted {
            guard let locks = tickets[place]?.locks, isFree(locks, at: place), var ticket = take(place) else {
                continue
            }
            granted += 1
            ticket.until = until
            insert(ticket, at: Spot(isGranted: true, priority: place.priority, order: place.order))
        }
    }
}

extension [CrowdModel.Spot] {
    private func index(of place: CrowdModel.Spot) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Where the places behind one begin.
    fileprivate func index(behind place: CrowdModel.Spot) -> Int {
        var index = index(of: place)
        while index < count, self[index] == place { index += 1 }
        return index
    }

    /// Inserts a place that may be there already, because a ticket locks two views of a group.
    fileprivate mutating func insertSorted(_ place: CrowdModel.Spot) { insert(place, at: index(of: place)) }

    fileprivate mutating func removeSorted(_ place: CrowdModel.Spot) { remove(at: index(of: place)) }
}
