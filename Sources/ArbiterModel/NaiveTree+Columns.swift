internal import ArbiterCore

// The columns of splits in a naive tree: each operation moves them one by one.

extension NaiveTree {
    /// The child of a split that is a column; `nil` if it is empty or pushed.
    func child(_ column: SplitColumn, of node: Node) -> ControllerID? {
        switch column {
        case .primary: node.children[0]
        case .secondary: node.hasSecondary ? node.children.last : nil
        case .supplementary: node.children.count > (node.hasSecondary ? 2 : 1) ? node.children[1] : nil
        }
    }

    func column(of child: ControllerID, in node: Node) -> SplitColumn? {
        SplitColumn.allCases.first { self.child($0, of: node) == child }
    }

    /// The split that has a navigation as its primary column, and columns on its stack.
    func owner(ofColumnsOn navigation: ControllerID) -> ControllerID? {
        guard let split = container(of: navigation), let node = nodes[split], node.kind == .split,
            node.children[0] == navigation, !node.pushed.isEmpty
        else { return nil }
        return split
    }

    private mutating func put(_ id: ControllerID, as column: SplitColumn, of split: ControllerID) {
        guard let node = nodes[split] else { return }
        switch column {
        case .primary: nodes[split]?.children.insert(id, at: 0)
        case .supplementary: nodes[split]?.children.insert(id, at: 1)
        case .secondary:
            nodes[split]?.children.insert(id, at: node.children.count)
            nodes[split]?.hasSecondary = true
        }
        nodes[id]?.parent = split
    }

    /// Takes a column away from where it is; the subtree stays known.
    private mutating func lift(_ id: ControllerID) {
        let kept = subtree(id).compactMap { below in nodes[below].map { (below, $0) } }
        remove(id)
        for (below, node) in kept { nodes[below] = node }
    }

    /// Takes a column off the primary's stack.
    mutating func setAside(_ column: SplitColumn, of split: ControllerID) {
        guard let id = nodes[split]?.pushed[column] else { return }
        lift(id)
        put(id, as: column, of: split)
    }

    private mutating func push(_ column: SplitColumn, of split: ControllerID) {
        guard let node = nodes[split], let id = child(column, of: node) else { return }
        lift(id)
        nodes[node.children[0]]?.children.append(id)
        nodes[id]?.parent = node.children[0]
        nodes[split]?.pushed[column] = id
    }

    private func mayStand(_ column: SplitColumn, of node: Node) -> Bool {
        guard let id = child(column, of: node), let kind = nodes[id]?.kind else { return false }
        return kind == .view || kind == .navigation
    }

    private func split(_ id: ControllerID) -> Result<Node, Refusal> {
        guard let node = nodes[id] else { return .failure(Refusal(code: .unknownController)) }
        return node.kind == .split ? .success(node) : .failure(Refusal(code: .wrongKind))
    }

    private struct Refusal: Error { let code: OperationRefusal.Code }

    private func withSplit(
        _ id: ControllerID, having column: SplitColumn = .primary, _ body: (Node) -> NaiveOutcome
    ) -> NaiveOutcome {
        switch split(id) {
        case .failure(let refusal): .refused(refusal.code)
        case .success(let node) where column == .supplementary && !node.isTriple: .refused(.unknownColumn)
        case .success(let node): body(node)
        }
    }
}

// MARK: - Operations

extension NaiveTree {
    func collapse(_ split: ControllerID, to top: SplitColumn) -> NaiveOutcome {
        withSplit(split, having: top) { node in
            guard !node.isCollapsed else { return .nothing }
            var change = NaiveChange(tree: self)
            change.tree.nodes[split]?.isCollapsed = true
            if nodes[node.children[0]]?.kind == .navigation {
                if top != .primary, mayStand(.supplementary, of: node) { change.tree.push(.supplementary, of: split) }
                if top == .secondary, mayStand(.secondary, of: node) { change.tree.push(.secondary, of: split) }
            }
            return .done(change)
        }
    }

    func expand(_ split: ControllerID) -> NaiveOutcome {
        withSplit(split) { node in
            guard node.isCollapsed else { return .nothing }
            var change = NaiveChange(tree: self)
            let primary = node.children[0]
            // From the root up: each controller goes to the column below it, if that is a navigation.
            var column: ControllerID?
            for id in nodes[primary]?.children ?? [] {
                if node.pushed.values.contains(id) {
                    column = nodes[id]?.kind == .navigation ? id : nil
                } else if let column, nodes[id]?.kind == .view {
                    change.tree.lift(id)
                    change.tree.nodes[column]?.children.append(id)
                    change.tree.nodes[id]?.parent = column
                }
            }
            for column in [SplitColumn.supplementary, .secondary] { change.tree.setAside(column, of: split) }
            change.tree.nodes[split]?.isCollapsed = false
            return .done(change)
        }
    }

    func setColumn(
        _ column: SplitColumn, of split: ControllerID, to arrival: NaiveTree?, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        withSplit(split, having: column) { node in
            if arrival != nil, arrival?.root == nil { return .refused(.unknownController) }
            if column == .primary, node.isCollapsed || arrival == nil { return .refused(.columnCollapsed) }
            let pushed = node.pushed[column]
            let old = pushed ?? child(column, of: node)
            if arrival?.root == old { return .nothing }
            return replace(old, isPushed: pushed != nil, at: column, of: split, with: arrival, reserved)
        }
    }

    /// What a `show` does in a split that is not collapsed.
    func replaceColumn(
        _ column: SplitColumn, of split: ControllerID, with arrival: NaiveTree, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        withSplit(split) { node in
            guard arrival.root != nil else { return .refused(.unknownController) }
            return replace(
                child(column, of: node), isPushed: false, at: column, of: split, with: arrival, reserved)
        }
    }

    private func replace(
        _ old: ControllerID?, isPushed: Bool, at column: SplitColumn, of split: ControllerID, with arrival: NaiveTree?,
        _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard let node = nodes[split] else { return .nothing }
        let (primary, stack) = (node.children[0], nodes[node.children[0]]?.children ?? [])
        var change = NaiveChange(tree: self)
        if isPushed, let top = arrival?.root, ![.view, .navigation].contains(arrival?.nodes[top]?.kind) {
            return .refused(.cannotPushContainer)
        }
        if let old { change.take(old) }
        if let arrival, let top = arrival.root {
            if change.tree.isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
            change.inserted = [top]
            if isPushed {
                change.tree.add(arrival, under: primary)
                change.tree.nodes[primary]?.children = stack.map { $0 == old ? top : $0 }
                change.tree.nodes[split]?.pushed[column] = top
            } else {
                change.tree.add(arrival, under: split)
                change.tree.put(top, as: column, of: split)
            }
        } else if isPushed {
            change.leaving = old
        }
        change.isAnimated = isPushed ? stack.last == old : !node.isCollapsed || column == .primary
        return .done(change)
    }

    func showColumn(_ column: SplitColumn, of split: ControllerID) -> NaiveOutcome {
        withSplit(split, having: column) { node in
            let aside = child(column, of: node)
            guard node.isCollapsed, aside != nil || node.pushed[column] != nil else { return .nothing }
            let stack = nodes[node.children[0]]?.children ?? []
            guard nodes[node.children[0]]?.kind == .navigation else {
                return column == .primary ? .nothing : .refused(.cannotPushContainer)
            }
            let first = stack.firstIndex { node.pushed.values.contains($0) }
            let below = column == .primary ? first.map { $0 - 1 } : stack.firstIndex { $0 == node.pushed[column] }
            var change = NaiveChange(tree: self)
            if let below {
                guard below >= 0, below + 1 < stack.count else { return .nothing }
                change.leaving = stack.last
                for id in stack[(below + 1)...].reversed() { change.pop(id) }
            } else if column != .primary {
                guard mayStand(column, of: node) else { return .refused(.cannotPushContainer) }
                if column == .supplementary, let later = stack.firstIndex(where: { $0 == node.pushed[.secondary] }) {
                    for id in stack[later...].reversed() { change.pop(id) }
                }
                if column == .secondary, mayStand(.supplementary, of: node) {
                    change.tree.push(.supplementary, of: split)
                }
                change.tree.push(column, of: split)
            }
            return change.tree == self ? .nothing : .done(change)
        }
    }

    func showDetail(
        _ arrival: NaiveTree, in split: ControllerID, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        withSplit(split) { node in
            guard let top = arrival.root else { return .refused(.unknownController) }
            let primary = node.children[0]
            guard node.isCollapsed else {
                return replace(
                    child(.secondary, of: node), isPushed: false, at: .secondary, of: split, with: arrival, reserved)
            }
            guard let stack = nodes[primary], stack.kind == .navigation else {
                return present(arrival, from: split, reserved)
            }
            guard let kind = arrival.nodes[top]?.kind, [.view, .navigation].contains(kind) else {
                return .refused(.cannotPushContainer)
            }
            var change = NaiveChange(tree: self, inserted: [top])
            if let old = node.pushed[.secondary], let index = stack.children.firstIndex(of: old) {
                for id in stack.children[(index + 1)...].reversed() { change.pop(id) }
                change.take(old)
            } else if let aside = child(.secondary, of: node) {
                change.take(aside)
            }
            if change.tree.nodes[primary]?.children.contains(top) ?? false { return .refused(.alreadyOnStack) }
            if change.tree.isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
            change.tree.add(arrival, under: primary)
            change.tree.nodes[primary]?.children.append(top)
            change.tree.nodes[split]?.pushed[.secondary] = top
            return .done(change)
        }
    }
}

extension NaiveChange {
    /// Removes the columns that were on the stack of a split that is still collapsed, and now are set aside.
    mutating func loseColumns(pushedIn before: NaiveTree) {
        for (split, node) in before.nodes where tree.nodes[split]?.isCollapsed ?? false {
            for id in node.pushed.values where tree.container(of: id) == split { take(id) }
        }
    }

    /// Takes a controller off a stack: a column of a collapsed split goes back to it, and another one is removed.
    mutating func pop(_ id: ControllerID) {
        guard let navigation = tree.container(of: id), let split = tree.owner(ofColumnsOn: navigation),
            let column = tree.nodes[split]?.pushed.first(where: { $0.value == id })?.key
        else { return take(id) }
        tree.setAside(column, of: split)
    }
}
