// Operations on navigation stacks.

extension Planner {
    /// - Parameters:
    ///   - arrival: the controller to push.
    ///   - navigation: whose stack it is pushed onto.
    ///   - isDetail: whether it is the detail of a collapsed split; UIKit pushes a navigation only then.
    /// - Returns: the plan.
    /// - Throws: `OperationRefusal` if it cannot be pushed.
    func push(
        _ arrival: Hierarchy, on navigation: ControllerID, asDetail isDetail: Bool = false
    ) throws(OperationRefusal) -> OperationPlan {
        let stack = try stack(of: navigation)
        let top = try top(of: arrival)
        try checkPush(of: arrival, top: top, on: navigation, asDetail: isDetail)
        try checkSize(of: [arrival], below: navigation)
        let isVisible = hierarchy.isVisible(navigation)
        return OperationPlan(
            steps: [.insert(arrival, at: .top(ofNavigation: navigation))], inserted: [top.id],
            disappearing: isVisible ? stack.last.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: isVisible ? arrival.visible(from: top.id) : [])
    }

    func checkPush(
        of arrival: Hierarchy, top: Controller, on navigation: ControllerID, asDetail isDetail: Bool = false,
        leaving: Set<ControllerID> = []
    ) throws(OperationRefusal) {
        let mayStack = top.kind == .view || isDetail && top.kind == .navigation
        guard mayStack else { throw .cannotPush(top, on: navigation) }
        guard hierarchy.container(of: top.id) != navigation || leaving.contains(top.id) else {
            throw .alreadyOnStack(top.id, of: navigation)
        }
        if let known = firstKnown(of: arrival, leaving: leaving) { throw .alreadyInHierarchy(known) }
    }

    func pop(_ navigation: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let stack = try stack(of: navigation)
        return pop(stack, of: navigation, to: stack.count - 2)
    }

    func popToRoot(_ navigation: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let stack = try stack(of: navigation)
        return pop(stack, of: navigation, to: 0)
    }

    func popTo(_ controller: ControllerID, on navigation: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let stack = try stack(of: navigation)
        guard hierarchy.container(of: controller) == navigation, let index = stack.lastIndex(of: controller) else {
            throw .notOnStack
        }
        return pop(stack, of: navigation, to: index)
    }

    /// - Returns: `nil` if the index is outside the stack, or if no controller is above it.
    private func pop(_ stack: [ControllerID], of navigation: ControllerID, to index: Int) -> OperationPlan? {
        guard index >= 0, index + 1 < stack.count else { return nil }
        let popped = stack[(index + 1)...].reversed()
        let isVisible = hierarchy.isVisible(navigation)
        let popping = popping(popped, of: navigation)
        return OperationPlan(
            steps: popping.allSteps, removed: popping.removed,
            disappearing: isVisible ? popped.first.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: isVisible ? hierarchy.visible(from: stack[index]) : [],
            isBackward: true, leaving: popped.first.flatMap { hierarchy[$0] })
    }
}

// MARK: - A whole stack

extension Planner {
    /// - Returns: `nil` if the stack would not change.
    func setStack(
        _ controllers: [Hierarchy], of navigation: ControllerID
    ) throws(OperationRefusal) -> OperationPlan? {
        let old = try stack(of: navigation)
        let lineup = try lineup(controllers, of: navigation, old)
        guard let last = lineup.stack.last, let lastGiven = controllers.last else {
            // UIKit accepts an empty stack, but here a navigation controller keeps at least its root.
            guard old.isEmpty else { throw .neverEmpty(navigation) }
            return nil
        }
        guard lineup.stack != old else { return nil }
        let popped = lineup.popped
        let departing = popped.reduce(0) { $0 + size(of: $1) }
        try checkSize(of: lineup.arrivals, below: navigation, departing: departing)
        let isPush = hierarchy.container(of: last) != navigation
        let isMoving = last != old.last
        let shows = isMoving && hierarchy.isVisible(navigation)
        let source = isPush ? lastGiven : hierarchy
        // Removals come first, because they may free ids for the insertions.
        return OperationPlan(
            steps: popped.map { .remove($0) } + lineup.arrivals.map { .insert($0, at: .top(ofNavigation: navigation)) }
                + [.arrange(navigation: navigation, stack: lineup.stack)]
                + columnsLeft(without: popped, on: navigation),
            inserted: lineup.arrivals.compactMap(\.root), removed: popped.flatMap(leavers(with:)),
            disappearing: shows ? old.last.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: shows ? source.visible(from: last) : [],
            isBackward: isMoving && !isPush, leaving: isMoving && !isPush ? old.last.flatMap { hierarchy[$0] } : nil,
            isAnimated: isMoving)
    }

    /// The requested stack.
    private struct Lineup {
        var stack: [ControllerID] = []
        /// The ids in `stack`, for lookup.
        var names: Set<ControllerID> = []
        /// The controllers to remove, the top one first.
        var popped: [ControllerID] = []
        /// The hierarchies whose root is not on the stack yet.
        var arrivals: [Hierarchy] = []
    }

    private func lineup(
        _ controllers: [Hierarchy], of navigation: ControllerID, _ old: [ControllerID]
    ) throws(OperationRefusal) -> Lineup {
        var lineup = Lineup()
        for given in controllers {
            let top = try top(of: given)
            guard lineup.names.insert(top.id).inserted else { throw .alreadyOnStack(top.id, of: navigation) }
            lineup.stack.append(top.id)
        }
        lineup.popped = old.filter { !lineup.names.contains($0) }.reversed()
        let freed = freed(by: lineup.popped)
        var arriving: Set<ControllerID> = []
        for given in controllers {
            let top = try top(of: given)
            // A controller that is on the stack already does not change, even if the request lists other children for
            // it.
            guard hierarchy.container(of: top.id) != navigation else { continue }
            try checkPush(of: given, top: top, on: navigation, leaving: freed)
            for controller in given.preorder where !arriving.insert(controller.id).inserted {
                throw .alreadyInHierarchy(controller.id)
            }
            lineup.arrivals.append(given)
        }
        return lineup
    }
}
