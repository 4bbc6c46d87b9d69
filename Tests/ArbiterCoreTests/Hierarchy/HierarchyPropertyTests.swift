import ArbiterModel
import ArbiterTestKit
import Testing

@testable import ArbiterCore

struct HierarchyPropertyTests {
    @Test(arguments: Seeds.first(60, atNight: 600))
    func `operations do what one who builds everything anew would do`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        try compare(seed) {
            operations.operation(on: $0.hierarchy)
        } on: {
            try operations.storyboard()
        }
    }

    @Test(arguments: Seeds.first(120, atNight: 1_200))
    func `lists of operations do what one who builds everything anew would do`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        try compare(seed) {
            operations.list(on: $0)
        } on: {
            try operations.storyboard()
        }
    }

    private func compare(
        _ seed: UInt64, _ draw: (Storyboard) -> ArbiterCore.Operation, on beginning: () throws -> Storyboard
    ) throws {
        var storyboard = try beginning()
        for step in 1...150 {
            let operation = draw(storyboard)
            let before = NaiveTree(storyboard.hierarchy)
            let comment = Comment("seed \(seed), step \(step): \(operation) on \(storyboard.hierarchy.outline)")
            let plan = Result { () throws(OperationRefusal) in try storyboard.plan(operation) }
            switch (before.outcome(of: operation, segues: storyboard.segues, reserved: []), plan) {
            case (.refused(let code, let index), .failure(let refusal)):
                #expect(refusal.code == code && refusal.index == index, comment)
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
        let locked = storyboard.paths(of: .operation, operation)
        let change = storyboard.hierarchy.apply(plan.steps)
        let new = storyboard.hierarchy
        #expect(after.difference(from: new) == nil, comment)
        #expect(new.brokenInvariant() == nil, comment)
        #expect(plan.inserted == expected.inserted, comment)
        #expect(plan.removed == expected.removed, comment)
        #expect(plan.type == expected.type(before: before), comment)
        let (earlier, later) = (Set(before.nodes.keys), Set(after.nodes.keys))
        // A controller that a list brings in and removes again both arrives and departs.
        let passing = Set(change.arrived).intersection(change.departed).subtracting(expected.renewed)
        #expect(plan.isNet || passing.isEmpty, comment)
        #expect(
            Set(change.arrived).subtracting(passing).union(passing.intersection(later))
                == later.subtracting(earlier).union(expected.renewed), comment)
        #expect(
            Set(change.departed).subtracting(passing).union(passing.intersection(earlier))
                == earlier.subtracting(later).union(expected.renewed), comment)
        #expect(before.isListed(by: expected), comment)
        if plan.isNet { checkTold(of: change, by: plan, from: old, to: new, comment) }
        let seen = before.seen(in: expected)
        #expect(plan.disappearing == seen.going, comment)
        #expect(plan.appearing == seen.coming, comment)
        #expect(plan.isAnimated == expected.isAnimated, comment)
        #expect(new.preorder.map(\.id).filter(new.isVisible) == after.visible(), comment)
        // Everything that has changed is within what the operation locks.
        for id in earlier.union(later) where old[id] != new[id] {
            for path in [old.path(to: id), new.path(to: id)].compactMap(\.self) {
                #expect(locked.contains { path.starts(with: $0) }, "\(id), \(comment)")
            }
        }
    }

    private func checkTold(
        of change: HierarchyChange, by plan: OperationPlan, from old: Hierarchy, to new: Hierarchy, _ comment: Comment
    ) {
        let net = NetChange(from: old, to: new, by: change)
        switch net.told(touching: old.touched(by: plan.steps)) {
        case .replaced(let whole):
            #expect(whole == new, comment)
            #expect(plan.steps.contains { if case .move = $0 { true } else { false } }, comment)
        case .edited(let edits):
            var followed = old
            let told = followed.apply(edits)
            #expect(followed == new, comment)
            // Who follows by the wire's rules keeps what is selected when a tab goes or comes.
            for tabs in new.preorder where !told.arrived.contains(tabs.id) {
                guard case .tabs(_, let now) = tabs.content, case .tabs(_, let before)? = old[tabs.id]?.content else {
                    continue
                }
                let said = edits.compactMap { edit -> Int? in
                    switch edit {
                    case .arrangeTabs(tabs.id, _, let selected), .select(tabs.id, let selected): selected
                    default: nil
                    }
                }
                #expect((said.last ?? before) == now, comment)
            }
            // No edit names a controller that a later operation of the list removes again.
            #expect(told.arrived.allSatisfy { new[$0] != nil } && told.departed.allSatisfy { old[$0] != nil }, comment)
        }
    }

    @Test(arguments: Seeds.first(40, atNight: 400))
    func `what an operation comes to does not depend on what others do beside what it locks`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        var storyboard = try operations.storyboard()
        for step in 1...200 {
            let first =
                step.isMultiple(of: 2)
                ? operations.list(on: storyboard) : operations.operation(on: storyboard.hierarchy)
            let second =
                step.isMultiple(of: 3)
                ? operations.list(on: storyboard) : operations.operation(on: storyboard.hierarchy)
            guard let plan = try? storyboard.plan(first) else { continue }
            let comment = Comment(
                "seed \(seed), step \(step): \(second) after \(first) on \(storyboard.hierarchy.outline)")
            let beside = try? storyboard.plan(second, reserving: Set(plan.arriving))
            let isFree = areApart(storyboard.paths(of: .operation, first), storyboard.paths(of: .operation, second))
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
            let waiting = (0..<8).map { index in
                index < 4 ? operations.operation(on: storyboard.hierarchy) : operations.list(on: storyboard)
            }
            let before = storyboard
            let operation = operations.operation(on: storyboard.hierarchy)
            guard let plan = try? storyboard.plan(operation) else { continue }
            let change = storyboard.hierarchy.apply(plan.steps)
            // A controller may depart and another one with its id arrive.
            let displaced = Set(change.arrived + change.departed + change.moved)
            for waiter in waiting where displaced.isDisjoint(with: storyboard.names(of: waiter)) {
                #expect(
                    before.paths(of: .operation, waiter) == storyboard.paths(of: .operation, waiter),
                    "seed \(seed), step \(step): \(waiter) after \(operation) on \(before.hierarchy.outline)")
            }
        }
    }

    private func areApart(_ left: [ScopePath], _ right: [ScopePath]) -> Bool {
        left.allSatisfy { one in right.allSatisfy { other in !one.starts(with: other) && !other.starts(with: one) } }
    }
}
