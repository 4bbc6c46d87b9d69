// Applies plans to the tree. Stacks may be long, so they are changed in place.

extension Hierarchy {
    /// Sets the type of the transition that inserted a controller; does nothing if the controller does not exist.
    package mutating func introduce(_ controller: ControllerID, by type: TransitionTypeName?) {
        controllers[controller]?.introTransitionType = type
    }

    /// Applies a plan that was made for this hierarchy.
    mutating func apply(_ plan: OperationPlan) -> HierarchyChange {
        var arrived: [ControllerID] = []
        var departed: [ControllerID] = []
        for step in plan.steps {
            switch step {
            case .insert(let arrival, let place): insert(arrival, at: place, noting: &arrived)
            case .remove(let controller): remove(controller, noting: &departed)
            case .select(let tabs, let index): controllers[tabs]?.content.select(index)
            case .arrange(let navigation, let stack): controllers[navigation]?.content = .navigation(stack)
            }
        }
        return HierarchyChange(arrived: arrived, departed: departed)
    }

    private mutating func insert(
        _ arrival: Hierarchy, at place: OperationPlan.Place, noting arrived: inout [ControllerID]
    ) {
        guard let top = arrival.root else { preconditionFailure("the hierarchy inserted at \(place) has no root") }
        for controller in arrival.preorder {
            guard controllers.updateValue(controller, forKey: controller.id) == nil else {
                preconditionFailure("\(controller.id) is inserted at \(place), but exists already")
            }
            arrived.append(controller.id)
        }
        controllers[top]?.parent = place.parent
        switch place {
        case .top(let navigation): controllers[navigation]?.content.push(top)
        case .presented(let presenter): controllers[presenter]?.presented = top
        case .primary(let split): controllers[split]?.content.replaceColumn(\.primary, with: top)
        case .secondary(let split): controllers[split]?.content.replaceColumn(\.secondary, with: top)
        }
    }

    private mutating func remove(_ controller: ControllerID, noting departed: inout [ControllerID]) {
        if let parent = controllers[controller]?.parent {
            if controllers[parent]?.presented == controller {
                controllers[parent]?.presented = nil
            } else {
                // A removed column was replaced by the step before, and tabs are never removed.
                controllers[parent]?.content.pop(controller)
            }
        }
        var leaving = [controller]
        while let gone = leaving.popLast().flatMap({ controllers.removeValue(forKey: $0) }) {
            departed.append(gone.id)
            leaving.append(contentsOf: gone.below.reversed())
        }
    }
}

extension OperationPlan.Place {
    /// The container or presenter of the inserted controller.
    fileprivate var parent: ControllerID {
        switch self {
        case .top(let parent), .presented(let parent), .primary(let parent), .secondary(let parent): parent
        }
    }
}

extension Controller.Content {
    fileprivate mutating func push(_ controller: ControllerID) {
        guard case .navigation(var stack) = self else { return }
        // Drops this reference to the array, so that `append` does not copy it.
        self = .view
        stack.append(controller)
        self = .navigation(stack)
    }

    fileprivate mutating func pop(_ controller: ControllerID) {
        guard case .navigation(var stack) = self, stack.last == controller else { return }
        self = .view
        stack.removeLast()
        self = .navigation(stack)
    }

    fileprivate mutating func select(_ index: Int) {
        guard case .tabs(let tabs, _) = self else { return }
        self = .tabs(tabs, selected: index)
    }

    fileprivate mutating func replaceColumn(
        _ column: WritableKeyPath<Controller.Columns, ControllerID>, with controller: ControllerID
    ) {
        guard case .split(var columns) = self else { return }
        columns[keyPath: column] = controller
        self = .split(columns)
    }
}
