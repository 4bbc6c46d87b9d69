// The columns of splits under the first rules, which do not remember which columns a collapse has pushed.

extension Planner {
    func firstShowDetail(_ arrival: Hierarchy, in split: ControllerID) throws(OperationRefusal) -> OperationPlan {
        let columns = try columns(of: split)
        guard columns.isCollapsed, hierarchy[columns.primary]?.kind == .navigation else {
            return try showDetail(arrival, in: split)
        }
        return try push(arrival, on: columns.primary, asDetail: true)
    }

    /// The secondary column moves to the stack of the primary one, if that is a navigation.
    ///
    /// - Returns: `nil` if it is collapsed already.
    func firstCollapse(_ split: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split)
        guard !columns.isCollapsed else { return nil }
        let collapse = OperationPlan.Edit.arrangeColumns(split: split, isCollapsed: true)
        guard let secondary = columns.secondary.flatMap({ hierarchy[$0] }), let primary = hierarchy[columns.primary],
            primary.kind == .navigation
        else { return change(split, by: [collapse]) }
        try checkStacking(of: secondary.id, on: primary.id)
        return change(split, by: [.move(secondary.id, to: .top(ofNavigation: primary.id)), collapse])
    }

    /// The top of the primary column's stack becomes the secondary column, if there is none.
    ///
    /// - Returns: `nil` if it is expanded already.
    func firstExpand(_ split: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split)
        guard columns.isCollapsed else { return nil }
        let expand = OperationPlan.Edit.arrangeColumns(split: split, isCollapsed: false)
        guard columns.secondary == nil, case .navigation(let stack)? = hierarchy[columns.primary]?.content,
            stack.count > 1, let top = stack.last
        else { return change(split, by: [expand]) }
        return change(split, by: [.move(top, to: .column(.secondary, ofSplit: split)), expand])
    }
}
