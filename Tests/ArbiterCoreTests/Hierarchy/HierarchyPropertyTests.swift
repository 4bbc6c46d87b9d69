import ArbiterModel
import ArbiterTestKit
import Testing

@testable import ArbiterCore

struct HierarchyPropertyTests {
    @Test(arguments: Seeds.first(60, atNight: 600))
    func `operations do what one who builds everything anew would do`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        var storyboard = try operations.storyboard()
        for step in 1...150 {
            let operation = operations.operation(on: storyboard.hierarchy)
            let before = NaiveTree(storyboard.hierarchy)
            let comment = Comment("seed \(seed), step \(step): \(operation) on \(storyboard.hierarchy.outline)")
            let plan = Result { () throws(OperationRefusal) in try storyboard.plan(operation) }
            switch (before.outcome(of: operation, segues: storyboard.segues, reserved: []), plan) {
            case (.refused(let code), .failure(let refusal)):
                #expect(refusal.code == code, comment)
            case (.nothing, .success(nil)):
                break
            case (.done(let expected), .success(let plan?)):
                try check(plan, of: operation, on: &storyboard, before: before, expected, comment)
            case (let expected, let plan):
                Issue.record("\(plan) instead of \(expected): \(comment)")
            }
        }
    }

    private func check(
        _ plan: OperationPlan, of operation: Operation, on storyboard: inout Storyboard, before: NaiveTree,
        _ expected: NaiveChange, _ comment: Comment
    ) throws {
        let after = expected.tree
        let old = storyboard.hierarchy
        let anchors = storyboard.anchors(of: operation)
        let change = storyboard.hierarchy.apply(plan.steps)
        let new = storyboard.hierarchy
        #expect(after.difference(from: new) == nil, comment)
        #expect(new.brokenInvariant() == nil, comment)
        #expect(plan.inserted == expected.inserted, comment)
        #expect(plan.removed == expected.removed, comment)
        #expect(plan.leaving == expected.leaving, comment)
        let (earlier, later) = (Set(before.nodes.keys), Set(after.nodes.keys))
        #expect(Set(change.arrived) == later.subtracting(earlier).union(expected.renewed), comment)
        #expect(Set(change.departed) == earlier.subtracting(later).union(expected.renewed), comment)
        let seen = before.seen(in: expected)
        #expect(plan.disappearing == seen.going, comment)
        #expect(plan.appearing == seen.coming, comment)
        #expect(plan.isAnimated == expected.isAnimated, comment)
        #expect(new.preorder.map(\.id).filter(new.isVisible) == after.visible(), comment)
        // A new root locks the whole scene.
        if case .setRoot = operation { return }
        // Everything that has changed is within what the operation locks.
        for id in earlier.union(later) where old[id] != new[id] {
            let path = try #require(old.path(to: id) ?? new.path(to: id))
            #expect(path.contains(where: anchors.contains), "\(id), \(comment)")
        }
    }

    @Test(arguments: Seeds.first(40, atNight: 400))
    func `what an operation comes to does not depend on what others do beside what it locks`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        var storyboard = try operations.storyboard()
        for step in 1...200 {
            let first = operations.operation(on: storyboard.hierarchy)
            let second = operations.operation(on: storyboard.hierarchy)
            guard let plan = try? storyboard.plan(first) else { continue }
            let comment = Comment(
                "seed \(seed), step \(step): \(second) after \(first) on \(storyboard.hierarchy.outline)")
            let beside = try? storyboard.plan(second, reserving: Set(plan.arriving))
            let isFree =
                areApart(storyboard.anchors(of: first), storyboard.anchors(of: second), in: storyboard)
                && first.type != .setRoot && second.type != .setRoot
            storyboard.hierarchy.apply(plan.steps)
            guard isFree, let beside else { continue }
            #expect((try? storyboard.plan(second)) == beside, comment)
            storyboard.hierarchy.apply(beside.steps)
            #expect(storyboard.hierarchy.brokenInvariant() == nil, comment)
        }
    }

    @Test(arguments: Seeds.first(40, atNight: 400))
    func `what an operation locks stays the same while those it names stay where they are`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        var storyboard = try operations.storyboard()
        for step in 1...100 {
            let waiting = (0..<8).map { _ in operations.operation(on: storyboard.hierarchy) }
            let before = storyboard
            let operation = operations.operation(on: storyboard.hierarchy)
            guard let plan = try? storyboard.plan(operation) else { continue }
            let change = storyboard.hierarchy.apply(plan.steps)
            // A controller may depart and another one with its id arrive.
            let displaced = Set(change.arrived + change.departed + change.moved)
            for waiter in waiting where displaced.isDisjoint(with: names(in: waiter, of: storyboard)) {
                #expect(
                    before.anchors(of: waiter) == storyboard.anchors(of: waiter),
                    "seed \(seed), step \(step): \(waiter) after \(operation) on \(before.hierarchy.outline)")
            }
        }
    }

    private func areApart(_ left: [ControllerID], _ right: [ControllerID], in storyboard: Storyboard) -> Bool {
        let hierarchy = storyboard.hierarchy
        return left.allSatisfy { one in
            right.allSatisfy { other in
                let (path, otherPath) = (hierarchy.path(to: one) ?? [], hierarchy.path(to: other) ?? [])
                return !path.starts(with: otherPath) && !otherPath.starts(with: path)
            }
        }
    }

    /// The controllers whose places determine what an operation locks.
    private func names(in operation: Operation, of storyboard: Storyboard) -> [ControllerID] {
        let target = operation.target.map { [$0] } ?? []
        guard case .segue(let source, let identifier, let destination) = operation,
            let segue = storyboard.segue(identifier, from: source), segue.kind == .unwind
        else { return target }
        return target + ((destination ?? segue.destination).root.map { [$0] } ?? [])
    }
}
