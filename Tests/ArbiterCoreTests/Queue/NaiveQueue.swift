import ArbiterTestKit

@testable import ArbiterCore

/// The scope queue by its definition: a list in the order of the line, searched from end to end.
struct NaiveQueue {
    struct Member {
        let order: LinePlace
        let id: TransitionID
        var claim: Claim
        var isGranted = false
    }

    private(set) var members: [Member] = []

    mutating func append(_ order: LinePlace, id: TransitionID, _ claim: Claim) {
        let index = members.firstIndex { order < $0.order } ?? members.count
        members.insert(Member(order: order, id: id, claim: claim), at: index)
    }

    mutating func rename(_ order: LinePlace, arrivals: ScopeQueue.Arrivals) {
        for index in members.indices where members[index].order == order { members[index].claim.arrivals = arrivals }
    }

    mutating func refile(_ order: LinePlace, scope: [ScopePath]) {
        for index in members.indices where members[index].order == order { members[index].claim.paths = scope }
    }

    /// Grants, in the order of the line, every transition without a granted one or one before it that conflicts with it.
    mutating func grantAll() -> [TransitionID] {
        var granted: [TransitionID] = []
        for index in members.indices where !members[index].isGranted {
            let member = members[index]
            guard let paths = freePaths(of: member) else { continue }
            members[index].claim.paths = paths
            members[index].claim.isAny = false
            members[index].isGranted = true
            granted.append(member.id)
        }
        return granted
    }

    mutating func remove(_ order: LinePlace) {
        members.removeAll { $0.order == order }
    }

    /// What a member would lock now: of one that is to get any of its paths, the first one that nothing is in the way of.
    ///
    /// - Returns: `nil` if something is in its way.
    private func freePaths(of member: Member) -> [ScopePath]? { freePaths(of: member.claim, at: member.order) }

    /// What a claim would lock at a place in the line.
    func freePaths(of claim: Claim, at place: LinePlace) -> [ScopePath]? {
        let wanted = claim.isAny ? claim.paths.map { [$0] } : [claim.paths]
        return wanted.first { paths in
            var one = claim
            one.paths = paths
            return conflicting(with: one, at: place).isEmpty
        }
    }

    /// Those that are in the way of a new one at a place in the line.
    func conflicting(with claim: Claim, at place: LinePlace) -> [Member] {
        members.filter { other in
            (other.isGranted || other.order < place)
                && (Self.conflict(other.claim, claim) || other.brings(oneOf: claim.arrivals.named))
        }
    }

    func blockers(of member: Member) -> [Member] {
        member.isGranted ? [] : conflicting(with: member.claim, at: member.order).filter { $0.order != member.order }
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
                return Self.conflict(between.claim, older.claim) || Self.conflict(between.claim, new)
                    || older.brings(oneOf: between.claim.arrivals.named)
                    || new.arrivals.brought.contains { between.claim.arrivals.named.contains($0) }
                    || between.brings(oneOf: new.arrivals.named)
            }
            if !isSeparated { found.append(older.order) }
        }
        return found.reversed()
    }

    /// Whether something of one has to do with something of the other, and one of them is exclusive.
    static func conflict(_ left: Claim, _ right: Claim) -> Bool {
        !(left.isShared && right.isShared) && conflict(left.paths, right.paths)
    }

    static func conflict(_ left: [ScopePath], _ right: [ScopePath]) -> Bool {
        left.contains { one in right.contains { other in one.starts(with: other) || other.starts(with: one) } }
    }
}

extension NaiveQueue.Member {
    fileprivate func brings(oneOf ids: [ControllerID]) -> Bool { claim.arrivals.brought.contains { ids.contains($0) } }
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

    /// What a transition conflicts by; one in four is shared, and brings in nothing.
    func claim(using random: inout SplitMix64) -> Claim {
        var claim = Claim(paths: scope(using: &random), arrivals: arrivals(using: &random))
        claim.isShared = random.isOnce(in: 4)
        if claim.isShared { claim.arrivals.brought = [] }
        claim.isAny = random.isOnce(in: 6)
        return claim
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
