import ArbiterTestKit

@testable import ArbiterCore

/// The scope queue by its definition: a list in the order of the line, searched from end to end.
struct NaiveQueue {
    struct Member {
        let order: LinePlace
        let id: TransitionID
        var scope: [ScopePath]
        var arrivals = ScopeQueue.Arrivals()
        var isGranted = false
    }

    private(set) var members: [Member] = []

    mutating func append(
        _ order: LinePlace, id: TransitionID, scope: [ScopePath], arrivals: ScopeQueue.Arrivals
    ) {
        let index = members.firstIndex { order < $0.order } ?? members.count
        members.insert(Member(order: order, id: id, scope: scope, arrivals: arrivals), at: index)
    }

    mutating func rename(_ order: LinePlace, arrivals: ScopeQueue.Arrivals) {
        for index in members.indices where members[index].order == order { members[index].arrivals = arrivals }
    }

    mutating func refile(_ order: LinePlace, scope: [ScopePath]) {
        for index in members.indices where members[index].order == order { members[index].scope = scope }
    }

    /// Grants, in the order of the line, every transition without a granted one or one before it that conflicts with it.
    mutating func grantAll() -> [TransitionID] {
        var granted: [TransitionID] = []
        for index in members.indices where !members[index].isGranted {
            let member = members[index]
            guard blockers(of: member).isEmpty else { continue }
            members[index].isGranted = true
            granted.append(members[index].id)
        }
        return granted
    }

    mutating func remove(_ order: LinePlace) {
        members.removeAll { $0.order == order }
    }

    /// Those that are in the way of a new one at a place in the line.
    func conflicting(with scope: [ScopePath], naming ids: [ControllerID], at place: LinePlace) -> [Member] {
        members.filter { other in
            (other.isGranted || other.order < place) && (Self.conflict(other.scope, scope) || other.brings(oneOf: ids))
        }
    }

    func blockers(of member: Member) -> [Member] {
        members.filter { other in
            guard !member.isGranted, other.isGranted || other.order < member.order else { return false }
            return other.brings(oneOf: member.arrivals.named) || Self.conflict(other.scope, member.scope)
        }
    }

    /// Of some waiting members, those that a new one may replace, because nothing that is not replaced separates them from it.
    func replaceable(_ candidates: [Member], by new: Claim, at place: LinePlace) -> [LinePlace] {
        var found: [LinePlace] = []
        for older in candidates.sorted(by: { $0.order > $1.order }) {
            let start = min(older.order, LinePlace(older.order.order, place.priority))
            let isSeparated = members.contains { between in
                guard start < between.order, between.order < max(older.order, place), between.order != older.order,
                    !between.isGranted, !found.contains(between.order)
                else { return false }
                return Self.conflict(between.scope, older.scope) || Self.conflict(between.scope, new.paths)
                    || older.brings(oneOf: between.arrivals.named)
                    || new.arrivals.brought.contains { between.arrivals.named.contains($0) }
                    || between.brings(oneOf: new.arrivals.named)
            }
            if !isSeparated { found.append(older.order) }
        }
        return found.reversed()
    }

    static func conflict(_ left: [ScopePath], _ right: [ScopePath]) -> Bool {
        left.contains { one in right.contains { other in one.starts(with: other) || other.starts(with: one) } }
    }
}

extension NaiveQueue.Member {
    fileprivate func brings(oneOf ids: [ControllerID]) -> Bool { arrivals.brought.contains { ids.contains($0) } }
}

/// The scopes of a random run.
struct Forest: Sendable, CustomStringConvertible {
    let depth: Int
    let fanout: Int
    /// How many may be unfinished at once.
    let members: Int
    let steps: Int

    static let all = [
        Forest(depth: 4, fanout: 2, members: 12, steps: 250),
        Forest(depth: 4, fanout: 3, members: 40, steps: 250),
        Forest(depth: 2, fanout: 12, members: 60, steps: 300),
        Forest(depth: 1, fanout: 2, members: 150, steps: 500),
    ]

    var description: String { "depth \(depth), fanout \(fanout), \(members) members" }

    /// One to three paths, none a prefix of another; rarely the whole scene.
    func scope(using random: inout SplitMix64) -> [ScopePath] {
        guard !random.isOnce(in: 15) else { return [[]] }
        var scope: [ScopePath] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let path = path(using: &random)
            if !NaiveQueue.conflict(scope, [path]) { scope.append(path) }
        }
        return scope
    }

    /// What a transition brings in and names; what it brings in it names too, as operations do.
    func arrivals(using random: inout SplitMix64) -> ScopeQueue.Arrivals {
        guard random.isOnce(in: 2) else { return ScopeQueue.Arrivals() }
        func ids(upTo most: Int) -> Set<ControllerID> {
            Set(
                (0..<Int.random(in: 0...most, using: &random)).compactMap { _ in
                    ControllerID("n\(Int.random(in: 0..<6, using: &random))")
                })
        }
        let brought = ids(upTo: 2)
        return ScopeQueue.Arrivals(brought: Array(brought), named: Array(brought.union(ids(upTo: 2))))
    }

    private func path(using random: inout SplitMix64) -> ScopePath {
        let length = Int.random(in: 1...depth, using: &random)
        return (0..<length).compactMap { _ in ControllerID("c\(Int.random(in: 0..<fanout, using: &random))") }
    }
}
