// Selecting and arranging tabs, and replacing the whole tree.

extension Planner {
    func select(_ tab: Operation.Tab, of id: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let (tabs, selected) = try tabs(of: id)
        let index = try index(of: tab, in: tabs, selected, of: id)
        guard index != selected else { return nil }
        let isVisible = hierarchy.isVisible(id)
        return OperationPlan(
            steps: [.select(tabs: id, index: index)],
            disappearing: isVisible ? hierarchy.visible(from: tabs[selected]) : [],
            appearing: isVisible ? hierarchy.visible(from: tabs[index]) : [],
            appearanceOrder: .comingFirst, isBackward: index < selected,
            // Earlier rules animated every tab alike.
            selected: rules > .first ? hierarchy[tabs[index]] : nil)
    }

    private func tabs(of id: ControllerID) throws(OperationRefusal) -> (all: [ControllerID], selected: Int) {
        let controller = try controller(id)
        guard case .tabs(let tabs, let selected) = controller.content else {
            throw .wrongKind(controller, needed: .tabs)
        }
        return (tabs, selected)
    }

    private func index(
        of tab: Operation.Tab, in tabs: [ControllerID], _ selected: Int, of id: ControllerID
    ) throws(OperationRefusal) -> Int {
        switch tab {
        case .offset(let offset):
            let (index, isTooFar) = selected.addingReportingOverflow(offset)
            guard !isTooFar, tabs.indices.contains(index) else {
                throw .offsetOutOfRange(offset, from: selected, of: tabs.count, tabs: id)
            }
            return index
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
}

// MARK: - Lists of tabs

extension Planner {
    /// - Returns: `nil` if neither the tabs nor the selected one would change.
    func setTabs(
        _ controllers: [Hierarchy], selected given: Int?, of id: ControllerID
    ) throws(OperationRefusal) -> OperationPlan? {
        _ = try tabs(of: id)
        let order = try distinct(controllers)
        let arrivals = controllers.filter { $0.root.flatMap { hierarchy.container(of: $0) } != id }
        return try arrange(order, bringing: arrivals, selected: given, of: id)
    }

    /// - Returns: the plan.
    /// - Throws: `OperationRefusal`, also if it is a tab already.
    func insertTab(
        _ arrival: Hierarchy, at index: Int?, of id: ControllerID
    ) throws(OperationRefusal) -> OperationPlan? {
        var order = try tabs(of: id).all
        let top = try top(of: arrival)
        guard hierarchy.container(of: top.id) != id else { throw .alreadyATab(top.id, of: id) }
        let index = index ?? order.count
        guard 0...order.count ~= index else { throw .noPlace(index, among: order.count, tabs: id) }
        order.insert(top.id, at: index)
        return try arrange(order, bringing: [arrival], of: id)
    }

    func removeTab(_ controller: ControllerID, of id: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        var order = try tabs(of: id).all
        guard hierarchy.container(of: controller) == id, let index = order.firstIndex(of: controller) else {
            throw .noTab(controller, of: id)
        }
        order.remove(at: index)
        return try arrange(order, of: id)
    }

    /// Gives a tabs controller other tabs.
    ///
    /// - Parameters:
    ///   - order: the new tabs.
    ///   - arrivals: those of them that come in.
    ///   - given: the index of the selected one; without it, the selected one stays selected if it stays.
    ///   - id: the tabs controller.
    /// - Returns: `nil` if neither the tabs nor the selected one would change.
    /// - Throws: `OperationRefusal` if an index is out of range, or what comes in is there already or too much.
    private func arrange(
        _ order: [ControllerID], bringing arrivals: [Hierarchy] = [], selected given: Int? = nil, of id: ControllerID
    ) throws(OperationRefusal) -> OperationPlan? {
        let (old, oldSelected) = try tabs(of: id)
        let oldShown = old.isEmpty ? nil : old[oldSelected]
        let selected = try selection(given, among: order, after: oldShown, at: oldSelected, of: id)
        guard order != old || selected != oldSelected else { return nil }
        let staying = Set(order)
        let gone = old.filter { !staying.contains($0) }
        let freed = freed(by: gone)
        var arriving: Set<ControllerID> = []
        for arrival in arrivals {
            if let known = firstKnown(of: arrival, leaving: freed) { throw .alreadyInHierarchy(known) }
            for inserted in arrival.preorder where !arriving.insert(inserted.id).inserted {
                throw .alreadyInHierarchy(inserted.id)
            }
        }
        try checkSize(of: arrivals, below: id, departing: gone.reduce(0) { $0 + size(of: $1) })
        let shown = order.isEmpty ? nil : order[selected]
        let isMoving = shown != oldShown
        let shows = isMoving && hierarchy.isVisible(id)
        let source = shown.flatMap { shown in arrivals.first { $0.root == shown } } ?? hierarchy
        // Where they are once some have gone and others have come.
        let left = old.filter(staying.contains) + arrivals.compactMap(\.root)
        let arranging: [OperationPlan.Edit] =
            if order != left {
                [.arrangeTabs(tabs: id, children: order, selected: selected)]
            } else if selected != oldSelected || !gone.isEmpty {
                [.select(tabs: id, index: selected)]
            } else {
                []
            }
        return OperationPlan(
            steps: gone.map { .remove($0) } + arrivals.map { .insert($0, at: .tab(ofTabs: id)) } + arranging,
            inserted: arrivals.compactMap(\.root), removed: gone.flatMap(leavers(with:)),
            disappearing: shows ? oldShown.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: shows ? shown.map { source.visible(from: $0) } ?? [] : [],
            appearanceOrder: .comingFirst,
            isBackward: oldShown.flatMap { order.firstIndex(of: $0) }.map { selected < $0 } ?? false,
            isAnimated: isMoving)
    }

    private func distinct(_ controllers: [Hierarchy]) throws(OperationRefusal) -> [ControllerID] {
        var names: Set<ControllerID> = []
        var order: [ControllerID] = []
        for given in controllers {
            let top = try top(of: given)
            guard names.insert(top.id).inserted else { throw .alreadyInHierarchy(top.id) }
            order.append(top.id)
        }
        return order
    }

    /// The index of the tab that is selected among the new ones.
    private func selection(
        _ given: Int?, among order: [ControllerID], after shown: ControllerID?, at index: Int, of tabs: ControllerID
    ) throws(OperationRefusal) -> Int {
        if let given {
            guard order.isEmpty ? given == 0 : order.indices.contains(given) else {
                throw .indexOutOfRange(given, of: order.count, tabs: tabs)
            }
            return given
        }
        if let kept = shown.flatMap({ order.firstIndex(of: $0) }) { return kept }
        return order.indices.contains(index) ? index : 0
    }
}

// MARK: - The whole tree

extension Planner {
    func setRoot(_ arrival: Hierarchy) throws(OperationRefusal) -> OperationPlan {
        let top = try top(of: arrival)
        // Everything leaves, so only ids that granted operations bring in are taken.
        if let reserved = arrival.preorder.first(where: { reserved.contains($0.id) }) {
            throw .alreadyInHierarchy(reserved.id)
        }
        try checkSize(of: [arrival], below: nil, departing: hierarchy.count)
        return OperationPlan(
            steps: (hierarchy.root.map { [.remove($0)] } ?? []) + [.insert(arrival, at: .root)], inserted: [top.id],
            removed: hierarchy.root.map(leavers(with:)) ?? [],
            disappearing: hierarchy.root.map { hierarchy.visible(from: $0) } ?? [],
            appearing: arrival.visible(from: top.id))
    }
}
