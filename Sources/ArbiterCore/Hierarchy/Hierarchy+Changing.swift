// Applies plans to the tree. Stacks may be long, so they are changed in place.

extension Hierarchy {
    /// Sets the type of the transition that inserted a controller; does nothing if the controller does not exist.
    package mutating func introduce(_ controller: ControllerID, by type: TransitionTypeName?) {
        controllers[controller]?.introTransitionType = type
    }

    /// Applies the steps of a plan, or some of them that leave a valid tree.
    @discardableResult
    package mutating func apply(_ steps: [OperationPlan.Edit]) -> HierarchyChange {
        var change = HierarchyChange()
        for step in steps {
            switch step {
            case .insert(let arrival, let place): insert(arrival, at: place, noting: &change.arrived)
            case .remove(let controller): remove(controller, noting: &change.departed)
            case .move(let controller, let place):
                move(controller, to: place)
                change.moved += preorder(from: controller).map(\.id)
            case .select(let tabs, let index): controllers[tabs]?.content.select(index)
            case .arrange(let navigation, let stack): controllers[navigation]?.content = .navigation(stack)
            case .arrangeTabs(let tabs, let children, let selected):
                controllers[tabs]?.content = .tabs(children, selected: selected)
            case .arrangeColumns(let split, let isCollapsed, let pushed):
                change.moved += arrangeColumns(of: split, isCollapsed: isCollapsed, pushed: pushed)
            }
        }
        return change
    }

    /// - Returns: the controllers that have other places now, or on which other places depend.
    private mutating func arrangeColumns(
        of split: ControllerID, isCollapsed: Bool, pushed: PushedColumns
    ) -> [ControllerID] {
        guard case .split(var columns)? = controllers[split]?.content else { return [] }
        defer { controllers[split]?.content = .split(columns) }
        columns.pushed = pushed
        // What pops from the primary's stack locks depends on whether columns stand on it.
        guard columns.isCollapsed != isCollapsed else { return [columns.primary] }
        columns.isCollapsed = isCollapsed
        return preorder(from: split).map(\.id)
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
        attach(top, at: place)
    }

    private mutating func attach(_ controller: ControllerID, at place: OperationPlan.Place) {
        controllers[controller]?.parent = place.parent
        switch place {
        case .root: root = controller
        case .top(let navigation): controllers[navigation]?.content.push(controller)
        case .tab(let tabs): controllers[tabs]?.content.push(controller)
        case .presented(let presenter): controllers[presenter]?.presented = controller
        case .column(let column, let split): controllers[split]?.content.set(column, to: controller)
        }
    }

    private mutating func detach(_ controller: ControllerID) {
        guard let parent = controllers[controller]?.parent else {
            root = nil
            return
        }
        if controllers[parent]?.presented == controller {
            controllers[parent]?.presented = nil
        } else {
            controllers[parent]?.content.drop(controller)
        }
    }

    private mutating func move(_ controller: ControllerID, to place: OperationPlan.Place) {
        detach(controller)
        attach(controller, at: place)
    }

    private mutating func remove(_ controller: ControllerID, noting departed: inout [ControllerID]) {
        detach(controller)
        var leaving = [controller]
        while let gone = leaving.popLast().flatMap({ controllers.removeValue(forKey: $0) }) {
            departed.append(gone.id)
            leaving.append(contentsOf: gone.below.reversed())
        }
    }
}

extension OperationPlan.Place {
    /// The container or presenter of a controller at this place; `nil` for the root.
    package var parent: ControllerID? {
        switch self {
        case .root: nil
        case .top(let parent), .tab(let parent), .presented(let parent), .column(_, let parent): parent
        }
    }
}

extension Controller.Content {
    /// Adds a child at the end.
    fileprivate mutating func push(_ controller: ControllerID) {
        switch self {
        case .view, .split: break
        case .navigation(var stack):
            // Drops this reference to the array, so that `append` does not copy it.
            self = .view
            stack.append(controller)
            self = .navigation(stack)
        case .tabs(var tabs, let selected):
            self = .view
            tabs.append(controller)
            self = .tabs(tabs, selected: selected)
        }
    }

    /// Removes a child; a primary column remains until another one replaces it.
    fileprivate mutating func drop(_ controller: ControllerID) {
        switch self {
        case .view: break
        case .navigation(var stack):
            guard let index = stack.lastIndex(of: controller) else { return }
            self = .view
            stack.remove(at: index)
            self = .navigation(stack)
        case .tabs(var tabs, let selected):
            guard let index = tabs.firstIndex(of: controller) else { return }
            tabs.remove(at: index)
            self = .tabs(tabs, selected: max(0, index < selected ? selected - 1 : min(selected, tabs.count - 1)))
        case .split(var columns):
            if columns.secondary == controller { columns.secondary = nil }
            if columns.supplementary == controller { columns.supplementary = nil }
            self = .split(columns)
        }
    }

    fileprivate mutating func select(_ index: Int) {
        guard case .tabs(let tabs, _) = self else { return }
        self = .tabs(tabs, selected: index)
    }

    fileprivate mutating func set(_ column: SplitColumn, to controller: ControllerID) {
        guard case .split(var columns) = self else { return }
        switch column {
        case .primary: columns.primary = controller
        case .supplementary: columns.supplementary = controller
        case .secondary: columns.secondary = controller
        }
        self = .split(columns)
    }
}
