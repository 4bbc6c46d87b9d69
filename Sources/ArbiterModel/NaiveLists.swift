package import ArbiterCore

// Several operations in one transition.

extension NaiveTree {
    /// Carries operations out one after the other, and compares the last tree with the first.
    func outcome(ofEach operations: [Operation], segues: [Segue], reserved: Set<ControllerID>) -> NaiveOutcome {
        var whole = NaiveChange(tree: self)
        var (inserted, removed): ([ControllerID], [ControllerID]) = ([], [])
        var isAnimated = false
        for (index, operation) in operations.enumerated() {
            switch whole.tree.outcome(of: operation, segues: segues, reserved: reserved) {
            case .refused(let code, _): return .refused(code, index: index)
            case .nothing: continue
            case .done(let change):
                whole.typeOfLast = change.type(before: whole.tree)
                whole.tree = change.tree
                // Of a controller that came in between, another one with its id may be gone.
                whole.gone.formUnion(change.gone.intersection(nodes.keys))
                inserted += change.inserted
                removed += change.removed
                isAnimated = isAnimated || change.isAnimated
            }
        }
        guard whole.tree != self || !whole.renewed.isEmpty else { return .nothing }
        whole.isList = true
        whole.isAnimated = isAnimated
        let new = whole.tree.nodes.keys.filter { nodes[$0] == nil || whole.gone.contains($0) }
        for id in inserted where new.contains(id) {
            // What came, went and came again is listed where it came last.
            whole.inserted.removeAll { $0 == id }
            whole.inserted.append(id)
        }
        for id in removed where whole.gone.contains(id) && !whole.removed.contains(id) { whole.removed.append(id) }
        return .done(whole)
    }

    /// Whether everything new, and everything gone, is at or below what a change of this tree lists.
    package func isListed(by change: NaiveChange) -> Bool {
        let new = change.tree.nodes.keys.filter { nodes[$0] == nil || change.gone.contains($0) }
        return new.allSatisfy { !change.inserted.isDisjoint(with: change.tree.lineage(of: $0)) }
            && change.gone.allSatisfy { !change.removed.isDisjoint(with: lineage(of: $0)) }
    }
}

extension NaiveScene {
    /// The controllers whose subtrees operations lock that are carried out one after the other; `nil` for the whole scene.
    func anchors(ofEach operations: [Operation]) -> [ControllerID]? {
        var scene = self
        var anchors: [ControllerID] = []
        var brought: Set<ControllerID> = []
        var hasMoved = false
        for operation in operations {
            let deed = operation.type == .segue ? scene.deed(of: operation) : Deed(operation)
            guard let deed, let target = operation.target, scene.tree.nodes[target] != nil else { return nil }
            anchors += scene.anchors(of: operation).filter { !brought.contains($0) }
            if deed.mayMove { hasMoved = true }
            guard scene.sketch(deed, hasMoved: hasMoved) else { return nil }
            brought.formUnion(self.brought(by: operation))
        }
        return anchors
    }

    /// What an operation does to the places of controllers.
    private enum Deed {
        case present(Hierarchy, from: ControllerID)
        /// Where some may be already.
        case arrange([Hierarchy], in: ControllerID)
        case add(Hierarchy, to: ControllerID)
        case showDetail(Hierarchy, in: ControllerID)
        case replacePrimary(ControllerID, Hierarchy)
        case collapse(ControllerID, Bool)
        case nothing

        init?(_ operation: Operation) {
            switch operation {
            case .present(let source, let arrival): self = .present(arrival, from: source)
            case .push(let container, let arrival): self = .add(arrival, to: container)
            case .setStack(let container, let arrivals), .setTabs(let container, let arrivals, _):
                self = .arrange(arrivals, in: container)
            case .showDetail(let split, let arrival): self = .showDetail(arrival, in: split)
            case .collapse(let split): self = .collapse(split, true)
            case .expand(let split): self = .collapse(split, false)
            case .dismiss, .pop, .popTo, .popToRoot, .select: self = .nothing
            case .setRoot, .segue, .list: return nil
            }
        }

        var mayMove: Bool { if case .collapse = self { true } else { false } }
    }

    private func deed(of operation: Operation) -> Deed? {
        guard case .segue(let source, let identifier, let given) = operation,
            let segue = segues.first(where: { $0.source == source && $0.identifier == identifier })
        else { return nil }
        let arrival = given ?? segue.destination
        if segue.kind == .unwind { return arrival.root.flatMap { tree.nodes[$0] } == nil ? nil : .nothing }
        guard let container = tree.container(for: segue) else { return .present(arrival, from: source) }
        guard tree.nodes[container]?.kind == .split else { return .add(arrival, to: container) }
        let isDetail = segue.kind == .showDetail || tree.nodes[container]?.isCollapsed == true
        return isDetail ? .showDetail(arrival, in: container) : .replacePrimary(container, arrival)
    }

    /// Puts what a deed brings in where it will be.
    ///
    /// - Returns: whether that can be told.
    private mutating func sketch(_ deed: Deed, hasMoved: Bool) -> Bool {
        switch deed {
        case .nothing: break
        case .present(let arrival, let source):
            let seeksContext = arrival.root.flatMap { arrival[$0] }?.presentationStyle.seeksContext ?? false
            guard !(hasMoved && seeksContext), let presenter = presenter(of: arrival, from: source) else {
                return false
            }
            guard tree.put(arrival, below: presenter) else { return false }
            tree.nodes[presenter]?.presented = arrival.root
        case .add(let arrival, let container): return tree.put(arrival, below: container)
        case .arrange(let arrivals, let container):
            for arrival in arrivals {
                let isThere = arrival.root.flatMap(tree.container) == container
                if isThere, arrival.count > 1 { return false }
                guard tree.put(arrival, below: container) else { return false }
            }
        case .showDetail(let arrival, let split):
            let node = tree.nodes[split]
            guard let primary = node?.children.first, node?.kind == .split, node?.isCollapsed == true else {
                return sketch(.add(arrival, to: split), hasMoved: hasMoved)
            }
            let isStack = tree.nodes[primary]?.kind == .navigation
            return sketch(
                isStack ? .add(arrival, to: primary) : .present(arrival, from: split), hasMoved: hasMoved)
        case .replacePrimary(let split, let arrival):
            guard tree.put(arrival, below: split) else { return false }
            if let top = arrival.root { tree.nodes[split]?.children[0] = top }
        case .collapse(let split, let isCollapsed): tree.nodes[split]?.isCollapsed = isCollapsed
        }
        return true
    }
}

extension NaiveTree {
    /// Makes controllers known below another one, whatever has been there; but not below one of themselves.
    fileprivate mutating func put(_ arrival: Hierarchy, below parent: ControllerID) -> Bool {
        let arriving = NaiveTree(arrival)
        guard let top = arriving.root, arriving.nodes.keys.allSatisfy({ !lineage(of: parent).contains($0) }) else {
            return false
        }
        nodes.merge(arriving.nodes) { _, new in new }
        nodes[top]?.parent = parent
        if nodes[parent]?.presented == top { nodes[parent]?.presented = nil }
        return true
    }
}

extension [ControllerID] {
    fileprivate func isDisjoint(with other: [ControllerID]) -> Bool { !contains(where: other.contains) }
}

extension NaiveChange {
    /// The transition type of the controller that leaves, or else of the last one inserted.
    package func type(before: NaiveTree) -> TransitionTypeName? {
        if isList { return typeOfLast }
        if let leaving { return before.nodes[leaving]?.type }
        return inserted.last.flatMap { tree.nodes[$0]?.type }
    }
}
