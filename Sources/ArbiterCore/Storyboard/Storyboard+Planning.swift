// What operations come to, and what they do.

extension Storyboard {
    /// What the operation comes to in the hierarchy as it is.
    ///
    /// - Parameters:
    ///   - operation: What is asked for.
    ///   - reserved: The `arriving` of the plans that are granted and not done: what is planned beside them must neither
    ///     use their names again nor take their room.
    /// - Returns: `nil` where it would do nothing.
    /// - Throws: `OperationRefusal` where UIKit would not do it.
    func plan(
        _ operation: Operation, reserving reserved: Set<ControllerID> = []
    ) throws(OperationRefusal) -> OperationPlan? {
        let planner = Planner(hierarchy: hierarchy, reserved: reserved)
        guard case .segue(let source, let identifier) = operation else { return try planner.plan(operation) }
        let controller = try planner.controller(source)
        guard let segue = segue(identifier, from: controller.id) else {
            throw .unknownSegue(identifier, of: controller.id)
        }
        switch try course(of: segue) {
        case .operation(let operation): return try planner.plan(operation)
        case .replacePrimary(let split, let arrival): return try planner.replacePrimary(of: split, with: arrival)
        case .unwind(let destination): return try planner.unwind(to: destination)
        }
    }

    /// Does what was planned for the hierarchy as it is.
    @discardableResult
    mutating func apply(_ plan: OperationPlan) -> HierarchyChange {
        hierarchy.apply(plan)
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
        case .showDetail(let split, let controller): try showDetail(controller, in: split)
        case .segue(let source, _): preconditionFailure("a segue from \(source) is no operation of its own")
        }
    }
}
