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

    struct Ticket {
        let id: TransitionID
        let locks: [Lock]
        let key: Int?
        let session: Int
        var isGranted = false
        /// When its lease is over, once it is granted.
        var until = Instant(nanoseconds: 0)
    }

    /// The unfinished transitions, by their places.
    private(set) var tickets: [UInt64: Ticket] = [:]
    private var all: [UInt64] = []
    private var lines: [Lock: [UInt64]] = [:]
    /// The places of those that lock views of each group.
    private var members: [Int: [UInt64]] = [:]
    private var keys: [Int: [UInt64]] = [:]

    /// How many are granted.
    private(set) var granted = 0

    /// The place of one that is granted, or of one that waits; `nil` if a few that were drawn are not.
    func place(ofGranted isGranted: Bool, using chance: inout SplitMix64) -> UInt64? {
        for _ in 0..<50 {
            guard let place = all.randomElement(using: &chance) else { return nil }
            if tickets[place]?.isGranted == isGranted { return place }
        }
        return nil
    }

    // MARK: Questions

    /// The lists of places of all that conflicts with a lock.
    private func conflicts(with lock: Lock) -> [[UInt64]] {
        switch lock {
        case .scene: [all]
        case .group(let group): [lines[lock] ?? [], members[group] ?? [], lines[.scene] ?? []]
        case .view(let view): [lines[lock] ?? [], lines[.group(view / Self.viewsInGroup)] ?? [], lines[.scene] ?? []]
        }
    }

    /// Whether nothing before a place conflicts with the locks.
    func isFree(_ locks: [Lock], at place: UInt64) -> Bool {
        locks.allSatisfy { lock in conflicts(with: lock).allSatisfy { $0.first.map { $0 >= place } ?? true } }
    }

    /// The places of the older tickets that a new one with the key is coalesced with.
    func coalesced(_ locks: [Lock], key: Int) -> [UInt64] {
        var found: Set<UInt64> = []
        func isFollowed(_ locks: [Lock], after place: UInt64) -> Bool {
            locks.contains { lock in
                conflicts(with: lock).contains { line in
                    line.last { !found.contains($0) }.map { $0 > place } ?? false
                }
            }
        }
        for place in (keys[key] ?? []).suffix(Limits.coalesced).reversed() {
            guard let older = tickets[place], !older.isGranted else { continue }
            if isFollowed(locks, after: place) { break }
            if !isFollowed(older.locks, after: place) { found.insert(place) }
        }
        return found.sorted()
    }

    // MARK: Changes

    mutating func insert(_ ticket: Ticket, at place: UInt64) {
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
    mutating func remove(at place: UInt64) -> Set<UInt64> {
        guard let ticket = tickets.removeValue(forKey: place) else { return [] }
        if ticket.isGranted { granted -= 1 }
        all.removeSorted(place)
        if let key = ticket.key { keys[key]?.removeSorted(place) }
        for lock in ticket.locks {
            lines[lock]?.removeSorted(place)
            if case .view(let view) = lock { members[view / Self.viewsInGroup]?.removeSorted(place) }
        }
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

    /// Grants, of some, those whose turn has come.
    mutating func grant(_ candidates: Set<UInt64>, until: Instant) {
        for place in candidates {
            guard let ticket = tickets[place], !ticket.isGranted, isFree(ticket.locks, at: place) else { continue }
            granted += 1
            tickets[place]?.isGranted = true
            tickets[place]?.until = until
        }
    }
}

extension [UInt64] {
    private func index(of place: UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Inserts a place that may be there already, because a ticket locks two views of a group.
    fileprivate mutating func insertSorted(_ place: UInt64) { insert(place, at: index(of: place)) }

    fileprivate mutating func removeSorted(_ place: UInt64) { remove(at: index(of: place)) }
}
