package import ArbiterCore

// Several operations in one transition.

extension NaiveTree {
    /// Carries operations out one after the other, and compares the last tree with the first.
    func outcome(
        ofEach operations: [Operation], segues: [Segue], reserved: Set<ControllerID>, defaultType: TransitionTypeName?
    ) -> NaiveOutcome {
        var whole = NaiveChange(tree: self)
        var (inserted, removed): ([ControllerID], [ControllerID]) = ([], [])
        var isAnimated = false
        for (index, operation) in operations.enumerated() {
            switch whole.tree.outcome(of: operation, segues: segues, reserved: reserved) {
            case .refused(let code, _): return .refused(code, index: index)
            case .nothing: continue
            case .done(let change):
                whole.typeOfLast = change.type(before: whole.tree) ?? defaultType
                whole.arrived.formUnion(change.tree.nodes.keys.filter { whole.tree.nodes[$0] == nil })
                whole.tree = change.tree
                if change.isAnimated {
                    for id in change.inserted { whole.tree.nodes[id]?.type = whole.typeOfLast }
                }
                // Of a controller that came in between, another one with its id may be gone.
                whole.gone.formUnion(change.gone.intersection(nodes.keys))
                whole.departed += change.departed
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
        // A column may have moved to the stack that is removed.
        let tops = whole.departed.filter { id in nodes[id]?.parent.map { !whole.gone.contains($0) } ?? true }
        for id in removed + tops where whole.gone.contains(id) && !whole.removed.contains(id) {
            whole.removed.append(id)
        }
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
        var isContextUnsure = false
        for operation in operations {
            guard let target = operation.target, scene.tree.nodes[target] != nil else { return nil }
            anchors += scene.anchors(of: operation).filter { !brought.contains($0) }
            switch operation {
            case .present(let source?, let arrival):
                let seeksContext = arrival.root.flatMap { arrival[$0] }?.presentationStyle.seeksContext ?? false
                guard !(isContextUnsure && seeksContext), let presenter = scene.presenter(of: arrival, from: source),
                    scene.tree.put(arrival, below: presenter)
                else { return nil }
                scene.tree.nodes[presenter]?.presented = arrival.root
            case .push(let container, let arrival), .insertTab(let container, let arrival, _):
                guard scene.tree.put(arrival, below: container) else { return nil }
            case .setStack(let container, let arrivals), .setTabs(let container, let arrivals, _):
                for arrival in arrivals {
                    if arrival.root.flatMap(scene.tree.container) == container {
                        isContextUnsure = true
                        if arrival.count > 1 { return nil }
                    } else if !scene.tree.put(arrival, below: container) {
                        return nil
                    }
                }
            case .dismiss, .pop, .popTo, .popToRoot, .select, .removeTab: break
            case .setRoot, .present, .showDetail, .setColumn, .showColumn, .collapse, .expand, .segue, .list: return nil
            }
            brought.formUnion(self.brought(by: operation))
        }
        return anchors
    }

    /// Describes a controller that a change of the tree changes outside of what is locked; `nil` if there is none.
    func strayed(_ change: NaiveChange, from locked: [ControllerID]?) -> String? {
        guard let locked else { return nil }
        let changed = Set(tree.nodes.keys).union(change.tree.nodes.keys).filter {
            tree.nodes[$0] != change.tree.nodes[$0]
        }
        for id in changed where !(tree.lineage(of: id) + change.tree.lineage(of: id)).contains(where: locked.contains) {
            return "\(id) is changed, and \(locked) are locked"
        }
        return nil
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
    /// The transition type of the controller that leaves or is selected, or else of the last one inserted.
    package func type(before: NaiveTree) -> TransitionTypeName? {
        if isList { return typeOfLast }
        if let leaving { return before.nodes[leaving]?.type }
        if let selected { return tree.nodes[selected]?.type }
        return inserted.last.flatMap { tree.nodes[$0]?.type }
    }
}
