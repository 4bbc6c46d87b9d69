import ArbiterTestKit

@testable import ArbiterCore

/// The scope queue by its definition: a list in request order, searched from end to end.
struct NaiveQueue {
    struct Member {
        let order: RequestOrder
        let id: TransitionID
        var scope: [ScopePath]
        var arrivals = ScopeQueue.Arrivals()
        var isGranted = false
    }

    private(set) var members: [Member] = []

    mutating func append(
        _ order: RequestOrder, id: TransitionID, scope: [ScopePath], arrivals: ScopeQueue.Arrivals
    ) {
        members.append(Member(order: order, id: id, scope: scope, arrivals: arrivals))
    }

    mutating func rename(_ order: RequestOrder, arrivals: ScopeQueue.Arrivals) {
        for index in members.indices where members[index].order == order { members[index].arrivals = arrivals }
    }

    mutating func refile(_ order: RequestOrder, scope: [ScopePath]) {
        for index in members.indices where members[index].order == order { members[index].scope = scope }
    }

    /// Grants, in request order, every transition without an earlier unfinished one that conflicts with it.
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

    mutating func remove(_ order: RequestOrder) {
        members.removeAll { $0.order == order }
    }

    func conflicting(with scope: [ScopePath], naming ids: [ControllerID]) -> [Member] {
        members.filter { Self.conflict($0.scope, scope) || $0.brings(oneOf: ids) }
    }

    func blockers(of member: Member) -> [Member] {
        members.filter { other in
            guard !member.isGranted, other.order != member.order else { return false }
            if other.order < member.order, other.brings(oneOf: member.arrivals.named) { return true }
            return (other.order < member.order || other.isGranted) && Self.conflict(other.scope, member.scope)
        }
    }

    /// Of some waiting members, those that a new one may replace, because nothing that is not replaced separates them from it.
    func replaceable(_ candidates: [Member], by new: Claim) -> [RequestOrder] {
        var found: [RequestOrder] = []
        for older in candidates.sorted(by: { $0.order > $1.order }) {
            let isSeparated = members.contains { between in
                guard older.order < between.order, !found.contains(between.order) else { return false }
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
