// Selecting tabs and replacing columns.

extension Planner {
    func select(_ tab: Operation.Tab, of id: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let controller = try controller(id)
        guard case .tabs(let tabs, let selected) = controller.content else {
            throw .wrongKind(controller, needed: .tabs)
        }
        let index = try index(of: tab, in: tabs, of: id)
        guard index != selected else { return nil }
        let isVisible = hierarchy.isVisible(id)
        return OperationPlan(
            steps: [.select(tabs: id, index: index)],
            disappearing: isVisible ? hierarchy.visible(from: tabs[selected]) : [],
            appearing: isVisible ? hierarchy.visible(from: tabs[index]) : [],
            isBackward: index < selected)
    }

    private func index(
        of tab: Operation.Tab, in tabs: [ControllerID], of id: ControllerID
    ) throws(OperationRefusal) -> Int {
        switch tab {
        case .index(let index):
            guard tabs.indices.contains(index) else { throw .indexOutOfRange(index, of: tabs.count, tabs: id) }
            return index
        case .controller(let controller):
            guard hierarchy.container(of: controller) == id, let index = tabs.firstIndex(of: controller) else {
                throw .notAChild(controller, of: id)
            }
            return index
        }
    }

    func showDetail(_ arrival: Hierarchy, in split: ControllerID) throws(OperationRefusal) -> OperationPlan {
        let columns = try columns(of: split)
        guard columns.isCollapsed else {
            return try replace(columns.secondary, of: split, with: arrival, at: .secondary(ofSplit: split))
        }
        guard hierarchy[columns.primary]?.kind == .navigation else { return try present(arrival, from: split) }
        return try push(arrival, on: columns.primary)
    }

    /// The effect of `show` in a split that is not collapsed.
    func replacePrimary(of split: ControllerID, with arrival: Hierarchy) throws(OperationRefusal) -> OperationPlan {
        let columns = try columns(of: split)
        return try replace(columns.primary, of: split, with: arrival, at: .primary(ofSplit: split))
    }

    private func replace(
        _ old: ControllerID, of split: ControllerID, with arrival: Hierarchy, at place: OperationPlan.Place
    ) throws(OperationRefusal) -> OperationPlan {
        let top = try top(of: arrival)
        if let known = firstKnown(of: arrival) { throw .alreadyInHierarchy(known) }
        try checkSize(of: [arrival], below: split, departing: size(of: old))
        let isVisible = hierarchy.isVisible(split)
        return OperationPlan(
            steps: [.insert(arrival, at: place), .remove(old)], inserted: [top.id], removed: leavers(with: old),
            disappearing: isVisible ? hierarchy.visible(from: old) : [],
            appearing: isVisible ? arrival.visible(from: top.id) : [])
    }
}
