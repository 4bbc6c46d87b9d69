// The columns of splits.

extension Planner {
    /// - Returns: `nil` if the column has that controller already, or is empty already.
    func setColumn(
        _ column: SplitColumn, of split: ControllerID, to arrival: Hierarchy?
    ) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split, with: column)
        let top = try arrival.map(top(of:))
        if column == .primary, columns.isCollapsed { throw .columnCollapsed(split) }
        if column == .primary, top == nil { throw .primaryNeverEmpty(split) }
        let old = columns.occupant(of: column)
        guard top?.id != old else { return nil }
        guard columns.pushed[column] == nil else {
            return try setPushed(column, of: split, columns, to: arrival)
        }
        return try replace(old, of: split, with: arrival, at: .column(column, ofSplit: split))
    }

    /// The effect of `show` in a split that is not collapsed: unlike `setColumn`, it brings a new instance also with the same id.
    func replaceColumn(
        _ column: SplitColumn, of split: ControllerID, with arrival: Hierarchy
    ) throws(OperationRefusal) -> OperationPlan {
        try replace(columns(of: split)[column], of: split, with: arrival, at: .column(column, ofSplit: split))
    }

    /// The effect of `showDetail` in a split that is not collapsed, and of `setColumn` on a column that is not on the stack.
    func replace(
        _ old: ControllerID?, of split: ControllerID, with arrival: Hierarchy?, at place: OperationPlan.Place
    ) throws(OperationRefusal) -> OperationPlan {
        let top = try arrival.map(top(of:))
        try checkIn(arrival, below: split, insteadOf: old.map { [$0] } ?? [])
        let shows = hierarchy[split]?.shows(at: place) ?? false
        let isVisible = shows && hierarchy.isVisible(split)
        return OperationPlan(
            steps: (old.map { [.remove($0)] } ?? []) + (arrival.map { [.insert($0, at: place)] } ?? []),
            inserted: top.map { [$0.id] } ?? [], removed: old.map(leavers(with:)) ?? [],
            disappearing: isVisible ? old.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: isVisible ? arrival?.visible ?? [] : [], isAnimated: shows)
    }

    /// Checks the ids, and the size, of what comes in for others.
    private func checkIn(
        _ arrival: Hierarchy?, below parent: ControllerID, insteadOf leaving: [ControllerID]
    ) throws(OperationRefusal) {
        guard let arrival else { return }
        let freed = freed(by: leaving)
        if let known = firstKnown(of: arrival, leaving: freed) { throw .alreadyInHierarchy(known) }
        try checkSize(of: [arrival], below: parent, departing: freed.count)
    }

    /// Replaces a column where it stands on the primary's stack; what stands above it stays.
    private func setPushed(
        _ column: SplitColumn, of split: ControllerID, _ columns: Controller.Columns, to arrival: Hierarchy?
    ) throws(OperationRefusal) -> OperationPlan {
        let navigation = columns.primary
        var stack = try stack(of: navigation)
        guard let old = columns.pushed[column], let index = stack.lastIndex(of: old) else {
            preconditionFailure("the column \(column) of \(split) is not on the stack of \(navigation)")
        }
        let isTop = index == stack.count - 1
        if let arrival {
            let top = try top(of: arrival)
            guard top.kind == .view || top.kind == .navigation else { throw .cannotPush(top, on: navigation) }
            try checkIn(arrival, below: navigation, insteadOf: [old])
            stack[index] = top.id
        } else {
            stack.remove(at: index)
        }
        var pushed = columns.pushed
        pushed[column] = arrival?.root
        let isVisible = isTop && hierarchy.isVisible(navigation)
        let shown = arrival?.visible ?? stack.last.map { hierarchy.visible(from: $0) }
        return OperationPlan(
            steps: [.remove(old)] + (arrival.map { [.insert($0, at: .top(ofNavigation: navigation))] } ?? [])
                + (arrival == nil || isTop ? [] : [.arrange(navigation: navigation, stack: stack)])
                + [.arrangeColumns(split: split, isCollapsed: true, pushed: pushed)],
            inserted: arrival?.root.map { [$0] } ?? [], removed: leavers(with: old),
            disappearing: isVisible ? hierarchy.visible(from: old) : [], appearing: isVisible ? shown ?? [] : [],
            isBackward: arrival == nil, leaving: arrival == nil ? hierarchy[old] : nil, isAnimated: isTop)
    }

    func showDetail(_ arrival: Hierarchy, in split: ControllerID) throws(OperationRefusal) -> OperationPlan {
        let columns = try columns(of: split)
        guard columns.isCollapsed else {
            return try replace(columns.secondary, of: split, with: arrival, at: .column(.secondary, ofSplit: split))
        }
        guard case .navigation(let stack)? = hierarchy[columns.primary]?.content else {
            return try present(arrival, from: split)
        }
        let navigation = columns.primary
        let top = try top(of: arrival)
        let old = columns.occupant(of: .secondary)
        let index = columns.pushed.secondary.flatMap { stack.lastIndex(of: $0) } ?? stack.endIndex
        let above = stack.dropFirst(index + 1).reversed()
        var pop = popping(above, of: navigation)
        let gone = above.filter { columns.pushed.column(of: $0) == nil } + (old.map { [$0] } ?? [])
        try checkPush(of: arrival, top: top, on: navigation, asDetail: true, leaving: freed(by: gone))
        try checkSize(of: [arrival], below: navigation, departing: gone.reduce(0) { $0 + size(of: $1) })
        pop.pushed.secondary = top.id
        let isVisible = hierarchy.isVisible(navigation)
        return OperationPlan(
            steps: pop.steps + (old.map { [.remove($0)] } ?? [])
                + [
                    .insert(arrival, at: .top(ofNavigation: navigation)),
                    .arrangeColumns(split: split, isCollapsed: true, pushed: pop.pushed),
                ], inserted: [top.id], removed: gone.flatMap(leavers(with:)),
            disappearing: isVisible ? stack.last.map { hierarchy.visible(from: $0) } ?? [] : [],
            appearing: isVisible ? arrival.visible : [])
    }

    /// - Returns: `nil` if the column is empty, or shown already.
    func showColumn(_ column: SplitColumn, of split: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split, with: column)
        guard columns.isCollapsed, columns.occupant(of: column) != nil else {
            return nil
        }
        guard case .navigation(let stack)? = hierarchy[columns.primary]?.content else {
            guard column != .primary, let aside = columns[column] else { return nil }
            throw .noStack(aside, primary: columns.primary)
        }
        let pushed = columns.pushed
        if let id = pushed[column], let index = stack.lastIndex(of: id) {
            return try showColumn(of: split, columns, popping: stack[(index + 1)...])
        }
        let first = stack.firstIndex { pushed.column(of: $0) != nil }
        guard column != .primary else {
            guard let first, first > 0 else { return nil }
            return try showColumn(of: split, columns, popping: stack[first...])
        }
        let later = stack.firstIndex { pushed.column(of: $0).map { $0 > column } ?? false } ?? stack.endIndex
        return try showColumn(of: split, columns, popping: stack[later...], pushingUpTo: column)
    }

    /// Pops the top of the primary's stack, and pushes the columns up to one that are set aside.
    private func showColumn(
        of split: ControllerID, _ columns: Controller.Columns, popping top: ArraySlice<ControllerID>,
        pushingUpTo last: SplitColumn? = nil
    ) throws(OperationRefusal) -> OperationPlan? {
        guard !top.isEmpty || last != nil else { return nil }
        var pop = popping(top.reversed(), of: columns.primary)
        var steps = pop.steps
        for column in SplitColumn.beside where last.map({ column <= $0 }) ?? false {
            guard let id = columns[column] else { continue }
            do throws(OperationRefusal) {
                try checkStacking(of: id, on: columns.primary)
            } catch {
                // Its depth is a matter of where it would stand.
                guard column != last else { throw OperationRefusal(code: .cannotPushContainer, detail: error.detail) }
                continue
            }
            steps.append(.move(id, to: .top(ofNavigation: columns.primary)))
            pop.pushed[column] = id
        }
        return change(
            split, by: steps + [.arrangeColumns(split: split, isCollapsed: true, pushed: pop.pushed)],
            removing: pop.removed, leaving: last == nil ? top.last.flatMap { hierarchy[$0] } : nil)
    }

    /// - Throws: why a column cannot stand on the primary's stack, if it cannot.
    func checkStacking(of column: ControllerID, on navigation: ControllerID) throws(OperationRefusal) {
        let controller = try controller(column)
        guard controller.kind == .view || controller.kind == .navigation else {
            throw .cannotPush(controller, on: navigation)
        }
        let depth = hierarchy.depth(of: navigation) + hierarchy.height(from: column)
        guard depth <= Limits.hierarchyDepth else { throw .tooDeep(depth) }
    }

    private func columns(
        of split: ControllerID, with column: SplitColumn
    ) throws(OperationRefusal) -> Controller.Columns {
        let columns = try columns(of: split)
        guard columns.has(column) else { throw .unknownColumn(column, of: split) }
        return columns
    }
}

extension Controller {
    /// Whether it shows what is at a place of it while it is visible itself.
    fileprivate func shows(at place: OperationPlan.Place) -> Bool {
        guard case .split(let columns) = content, case .column(let column, _) = place else { return true }
        return column == .primary || !columns.isCollapsed
    }
}

// MARK: - What leaves the stack of a primary column

extension Planner {
    /// What is popped from a stack: columns of a split are set aside, and everything else is removed.
    struct Popping {
        fileprivate(set) var steps: [OperationPlan.Edit] = []
        fileprivate(set) var removed: [ControllerID] = []
        /// The columns that are left on the stack.
        fileprivate(set) var pushed = PushedColumns()
        /// The split whose columns are set aside; `nil` if none are.
        fileprivate var split: ControllerID?

        /// Its steps, and the one that says which columns are left.
        var allSteps: [OperationPlan.Edit] {
            steps + (split.map { [.arrangeColumns(split: $0, isCollapsed: true, pushed: pushed)] } ?? [])
        }
    }

    /// What becomes of the controllers that leave a stack, the top one first.
    func popping(_ popped: some Sequence<ControllerID>, of navigation: ControllerID) -> Popping {
        var popping = Popping()
        let split = hierarchy.splitWithColumns(on: navigation)
        if let split { popping.pushed = split.columns.pushed }
        for id in popped {
            if let split, let column = popping.pushed.column(of: id) {
                popping.steps.append(.move(id, to: .column(column, ofSplit: split.id)))
                popping.pushed[column] = nil
                popping.split = split.id
            } else {
                popping.steps.append(.remove(id))
                popping.removed += leavers(with: id)
            }
        }
        return popping
    }

    /// The step that says which columns are left on a stack, if some are among those that are removed from it.
    func columnsLeft(without removed: [ControllerID], on navigation: ControllerID) -> [OperationPlan.Edit] {
        guard let split = hierarchy.splitWithColumns(on: navigation) else { return [] }
        var pushed = split.columns.pushed
        for column in removed.compactMap(pushed.column) { pushed[column] = nil }
        guard pushed != split.columns.pushed else { return [] }
        return [.arrangeColumns(split: split.id, isCollapsed: true, pushed: pushed)]
    }
}

extension Hierarchy {
    /// The collapsed split of which columns stand on the stack of a navigation.
    func splitWithColumns(on navigation: ControllerID) -> (id: ControllerID, columns: Controller.Columns)? {
        guard let split = container(of: navigation), case .split(let columns)? = controllers[split]?.content,
            columns.primary == navigation, !columns.pushed.isEmpty
        else { return nil }
        return (split, columns)
    }
}

// MARK: - Splits that collapse and expand

extension Planner {
    /// - Returns: `nil` if it is collapsed already.
    func collapse(_ split: ControllerID, to top: SplitColumn?) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split, with: top ?? .secondary)
        guard !columns.isCollapsed else { return nil }
        var steps: [OperationPlan.Edit] = []
        var pushed = PushedColumns()
        if hierarchy[columns.primary]?.kind == .navigation {
            for column in SplitColumn.beside where column <= top ?? .secondary {
                guard let id = columns[column], (try? checkStacking(of: id, on: columns.primary)) != nil else {
                    continue
                }
                steps.append(.move(id, to: .top(ofNavigation: columns.primary)))
                pushed[column] = id
            }
        }
        return change(split, by: steps + [.arrangeColumns(split: split, isCollapsed: true, pushed: pushed)])
    }

    /// - Returns: `nil` if it is expanded already.
    func expand(_ split: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let columns = try columns(of: split)
        guard columns.isCollapsed else { return nil }
        var steps: [OperationPlan.Edit] = []
        // What stands above a column, the top one first.
        var above: [ControllerID] = []
        for id in columns.pushed.isEmpty ? [] : try stack(of: columns.primary).reversed() {
            guard let column = columns.pushed.column(of: id) else {
                above.append(id)
                continue
            }
            if case .navigation(let own)? = hierarchy[id]?.content {
                let joining = above.filter { hierarchy[$0]?.kind == .view }
                steps += joining.map { .move($0, to: .top(ofNavigation: id)) }
                if joining.count > 1 { steps.append(.arrange(navigation: id, stack: own + joining.reversed())) }
            }
            steps.append(.move(id, to: .column(column, ofSplit: split)))
            above = []
        }
        return change(split, by: steps + [.arrangeColumns(split: split, isCollapsed: false)])
    }

    /// A plan whose views follow from the tree before and after; unlike other plans, it costs a copy of the tree.
    ///
    /// - Parameters:
    ///   - split: the split below which everything changes.
    ///   - steps: the changes.
    ///   - removed: the controllers that they remove.
    ///   - leaving: the one at the top of those that are popped, if nothing else comes.
    /// - Returns: the plan.
    func change(
        _ split: ControllerID, by steps: [OperationPlan.Edit], removing removed: [ControllerID] = [],
        leaving: Controller? = nil
    ) -> OperationPlan {
        var (before, after): ([ControllerID], [ControllerID]) = ([], [])
        if hierarchy.isPlaced(split) {
            var changed = hierarchy
            changed.apply(steps)
            (before, after) = (hierarchy.visible(from: split), changed.visible(from: split))
        }
        let (visibleBefore, visibleAfter) = (Set(before), Set(after))
        return OperationPlan(
            steps: steps, removed: removed, disappearing: before.filter { !visibleAfter.contains($0) },
            appearing: after.filter { !visibleBefore.contains($0) }, isBackward: leaving != nil, leaving: leaving)
    }
}
