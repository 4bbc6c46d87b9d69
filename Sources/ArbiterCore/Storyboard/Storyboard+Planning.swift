// Plans operations, and applies the plans.

extension Storyboard {
    /// The effect of the operation on the current hierarchy, which is not changed.
    ///
    /// - Parameters:
    ///   - operation: The requested operation.
    ///   - reserved: The `arriving` of the plans that are granted and not ended; their ids may not be used again, and
    ///     they count towards the size of the hierarchy.
    /// - Returns: `nil` if the operation would change nothing.
    /// - Throws: `OperationRefusal` if UIKit would not perform it.
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

    /// Applies a plan that was made for the current hierarchy.
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
        case .segue(let source, _): preconditionFailure("the segue from \(source) was not resolved to an operation")
        }
    }
}
