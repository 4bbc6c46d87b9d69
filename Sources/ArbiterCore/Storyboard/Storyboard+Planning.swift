// Plans operations, and applies the plans.

extension Storyboard {
    /// The effect of the operation on the current hierarchy, which is not changed.
    ///
    /// - Parameters:
    ///   - operation: The requested operation.
    ///   - reserved: The `arriving` of the plans that are granted and not ended; their ids may not be used again, and
    ///     they count towards the size of the hierarchy.
    ///   - rules: those of the grant.
    /// - Returns: `nil` if the operation would change nothing.
    /// - Throws: `OperationRefusal` if UIKit would not perform it.
    func plan(
        _ operation: Operation, reserving reserved: Set<ControllerID> = [], under rules: Rules = .newest
    ) throws(OperationRefusal) -> OperationPlan? {
        if case .list(let operations) = operation { return try plan(each: operations, reserving: reserved) }
        return try planOfOne(operation, reserving: reserved, under: rules)?.by(default: defaults.type)
    }

    private func planOfOne(
        _ operation: Operation, reserving reserved: Set<ControllerID>, under rules: Rules
    ) throws(OperationRefusal) -> OperationPlan? {
        let planner = Planner(hierarchy: hierarchy, reserved: reserved, rules: rules)
        guard let course = try course(of: operation, under: rules) else { return try planner.plan(operation) }
        switch course {
        case .operation(let operation): return try planner.plan(operation)
        case .replaceColumn(let column, let split, let arrival, _):
            return try planner.replaceColumn(column, of: split, with: arrival)
        case .unwind(let destination): return try planner.unwind(to: destination)
        }
    }
}

extension Planner {
    fileprivate func plan(_ operation: Operation) throws(OperationRefusal) -> OperationPlan? {
        switch operation {
        case .present(let presenter, let controller): try present(controller, from: presenter)
        case .dismiss(let controller): try dismiss(controller)
        case .push(let navigation, let controller): try push(controller, on: navigation)
        case .pop(let navigation): try pop(navigation)
        case .popTo(let navigation, let controller): try popTo(controller, on: navigation)
        case .popToRoot(let navigation): try popToRoot(navigation)
        case .setStack(let navigation, let controllers): try setStack(controllers, of: navigation)
        case .select(let tabs, let tab): try select(tab, of: tabs)
        case .showDetail(let split, let controller):
            rules == .first ? try firstShowDetail(controller, in: split) : try showDetail(controller, in: split)
        case .setColumn(let split, let column, let controller): try setColumn(column, of: split, to: controller)
        case .showColumn(let split, let column): try showColumn(column, of: split)
        case .collapse(let split, let top): rules == .first ? try firstCollapse(split) : try collapse(split, to: top)
        case .expand(let split): rules == .first ? try firstExpand(split) : try expand(split)
        case .setTabs(let tabs, let controllers, let selected): try setTabs(controllers, selected: selected, of: tabs)
        case .insertTab(let tabs, let controller, let index): try insertTab(controller, at: index, of: tabs)
        case .removeTab(let tabs, let controller): try removeTab(controller, of: tabs)
        case .setRoot(let controller): try setRoot(controller)
        case .segue, .list: preconditionFailure("\(operation) was not resolved to an operation")
        }
    }
}

// MARK: - Which subtrees an operation locks

extension Storyboard {
    /// The existing controllers whose subtrees an operation, which is no list, locks with the scope `operation`.
    ///
    /// They do not change as long as the controllers that the operation names keep their places.
    func anchors(of operation: Operation) -> [ControllerID] {
        let anchors: [ControllerID?] =
            switch operation {
            case .present(let presenter?, let controller): [presentationAnchor(of: controller, from: presenter)]
            case .dismiss(let controller): [dismissalAnchor(of: controller)]
            case .push, .select, .setColumn, .showColumn, .collapse, .expand, .setTabs, .insertTab, .removeTab:
                [operation.target.flatMap { hierarchy[$0]?.id }]
            // What leaves the stack may be a column, which the split gets back.
            case .pop(let navigation), .popTo(let navigation, _), .popToRoot(let navigation),
                .setStack(let navigation, _):
                [hierarchy.splitWithColumns(on: navigation)?.id ?? hierarchy[navigation]?.id]
            // These lock the whole scene.
            case .setRoot, .present(nil, _), .list: []
            case .showDetail(let split, let controller): [detailAnchor(of: controller, in: split)]
            case .segue(let source, _, _): segueAnchors(of: operation, from: source)
            }
        return anchors.compactMap(\.self)
    }

    private func presentationAnchor(of controller: Hierarchy, from presenter: ControllerID) -> ControllerID? {
        let style = controller.root.flatMap { controller[$0] }?.presentationStyle
        return hierarchy.presenter(for: style ?? .fullScreen, from: presenter)?.id
    }

    /// The presenter may be any controller of the layer or the one above it; each is at or below this anchor.
    private func dismissalAnchor(of controller: ControllerID) -> ControllerID? {
        guard let topmost = hierarchy.layer(upFrom: controller).last else { return nil }
        return hierarchy.presenter(of: topmost.id) ?? topmost.id
    }

    private func detailAnchor(of controller: Hierarchy, in split: ControllerID) -> ControllerID? {
        // The split is locked below its anchor, so the condition gives the same result at the grant.
        guard case .split(let columns)? = hierarchy[split]?.content, columns.isCollapsed,
            hierarchy[columns.primary]?.kind != .navigation
        else { return hierarchy[split]?.id }
        return presentationAnchor(of: controller, from: split)
    }

    private func segueAnchors(of operation: Operation, from source: ControllerID) -> [ControllerID] {
        // Under all rules these are the same.
        guard let course = try? course(of: operation, under: .newest) else { return [] }
        switch course {
        // A segue never stands for another segue, so this does not recurse further.
        case .operation(let operation): return anchors(of: operation)
        case .replaceColumn(_, let split, _, _): return [split]
        case .unwind(let destination): return unwindingAnchors(of: destination, from: source)
        }
    }

    private func unwindingAnchors(of destination: ControllerID, from source: ControllerID) -> [ControllerID] {
        guard let topmost = hierarchy.layer(upFrom: destination).last?.id else { return [] }
        // A source outside that subtree is locked too, so that it exists until the segue has been performed.
        let isBelow = hierarchy.path(to: source)?.contains(topmost) ?? false
        return isBelow ? [topmost] : [topmost, source]
    }
}
