@testable import ArbiterCore

/// The scope queue by its definition: a list in request order, searched from end to end.
struct NaiveQueue {
    struct Member {
        let order: RequestOrder
        let id: TransitionID
        var scope: [ScopePath]
        var isGranted = false
    }

    private(set) var members: [Member] = []

    mutating func append(_ order: RequestOrder, id: TransitionID, scope: [ScopePath]) {
        members.append(Member(order: order, id: id, scope: scope))
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

    func conflicting(with scope: [ScopePath]) -> [Member] {
        members.filter { Self.conflict($0.scope, scope) }
    }

    func blockers(of member: Member) -> [Member] {
        members.filter { other in
            !member.isGranted && other.order != member.order && (other.order < member.order || other.isGranted)
                && Self.conflict(other.scope, member.scope)
        }
    }

    static func conflict(_ left: [ScopePath], _ right: [ScopePath]) -> Bool {
        left.contains { one in right.contains { other in one.starts(with: other) || other.starts(with: one) } }
    }
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

    private func path(using random: inout SplitMix64) -> ScopePath {
        let length = Int.random(in: 1...depth, using: &random)
        return (0..<length).compactMap { _ in ControllerID("c\(Int.random(in: 0..<fanout, using: &random))") }
    }
}
