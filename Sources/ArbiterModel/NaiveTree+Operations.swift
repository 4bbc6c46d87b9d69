package import ArbiterCore

// What operations do to a naive tree, what they lock, and whom they name.

extension NaiveTree {
    package func outcome(
        of operation: Operation, segues: [Segue], reserved: Set<ControllerID>, defaultType: TransitionTypeName? = nil
    ) -> NaiveOutcome {
        switch operation {
        case .present(let source, let arrival):
            (source ?? front).map { present(NaiveTree(arrival), from: $0, reserved) } ?? .refused(.unknownController)
        case .dismiss(let controller): dismiss(controller)
        case .push(let navigation, let arrival): push(NaiveTree(arrival), on: navigation, reserved)
        case .pop(let navigation): pop(navigation) { max($0.count - 2, 0) }
        case .popTo(let navigation, let controller): pop(navigation) { $0.firstIndex(of: controller) }
        case .popToRoot(let navigation): pop(navigation) { _ in 0 }
        case .setStack(let navigation, let arrivals): setStack(arrivals.map { NaiveTree($0) }, of: navigation, reserved)
        case .select(let tabs, let tab): select(tab, of: tabs)
        case .showDetail(let split, let arrival): showDetail(NaiveTree(arrival), in: split, reserved)
        case .setColumn(let split, let column, let arrival):
            setColumn(column, of: split, to: arrival.map { NaiveTree($0) }, reserved)
        case .showColumn(let split, let column): showColumn(column, of: split)
        case .collapse(let split, let top): collapse(split, to: top ?? .secondary)
        case .expand(let split): expand(split)
        case .setTabs(let tabs, let arrivals, let selected):
            setTabs(arrivals.map { NaiveTree($0) }, selected: selected, of: tabs, reserved)
        case .insertTab(let tabs, let arrival, let index): insertTab(NaiveTree(arrival), at: index, of: tabs, reserved)
        case .removeTab(let tabs, let controller): removeTab(controller, of: tabs)
        case .setRoot(let arrival): setRoot(NaiveTree(arrival), reserved)
        case .segue(let source, let identifier, let destination):
            follow(identifier, to: destination, from: source, segues, reserved)
        case .list(let operations):
            outcome(ofEach: operations, segues: segues, reserved: reserved, defaultType: defaultType)
        }
    }
}

extension NaiveScene {
    /// The controllers whose subtrees an operation locks.
    func anchors(of operation: Operation) -> [ControllerID] {
        switch operation {
        case .present(let presenter?, let arrival): [self.presenter(of: arrival, from: presenter) ?? presenter]
        case .dismiss(let controller): [layerAnchor(of: controller, isDismissed: true)]
        case .push(let id, _), .select(let id, _), .setColumn(let id, _, _), .showColumn(let id, _),
            .collapse(let id, _),
            .expand(let id), .setTabs(let id, _, _), .insertTab(let id, _, _), .removeTab(let id, _):
            [id]
        case .pop(let id), .popTo(let id, _), .popToRoot(let id), .setStack(let id, _):
            [tree.owner(ofColumnsOn: id) ?? id]
        case .setRoot, .present(nil, _), .list: []
        case .showDetail(let split, let arrival): [detailAnchor(of: arrival, in: split)]
        case .segue(let source, let identifier, let destination):
            segueAnchors(identifier, to: destination, from: source)
        }
    }

    /// The controllers that an operation names, without those that it brings in.
    func existing(namedBy operation: Operation) -> [ControllerID] {
        switch operation {
        case .present(let id?, _), .dismiss(let id), .push(let id, _), .pop(let id), .popToRoot(let id),
            .setStack(let id, _), .showDetail(let id, _), .setColumn(let id, _, _), .showColumn(let id, _),
            .collapse(let id, _), .expand(let id), .setTabs(let id, _, _), .insertTab(let id, _, _),
            .select(let id, .index),
            .select(let id, .offset):
            return [id]
        case .popTo(let container, let id), .select(let container, .controller(let id)),
            .removeTab(let container, let id):
            return [container, id]
        case .segue(let source, let identifier, let given):
            let segue = segues.first { $0.source == source && $0.identifier == identifier }
            let destination = segue?.kind == .unwind ? (given ?? segue?.destination)?.root : nil
            return [source] + (destination.map { [$0] } ?? [])
        case .setRoot, .present(nil, _): return []
        case .list(let operations): return operations.flatMap(existing)
        }
    }
}

extension NaiveTree {
    /// The controllers listed as removed with a controller: all that are presented on it, the top one first, and it.
    func leavers(with id: ControllerID) -> [ControllerID] {
        (nodes[id]?.presented.map(leavers) ?? []) + [id]
    }

    mutating func remove(_ id: ControllerID) {
        if let parent = nodes[id]?.parent {
            if nodes[parent]?.hasSecondary == true, nodes[parent]?.children.last == id {
                nodes[parent]?.hasSecondary = false
            }
            nodes[parent]?.children.removeAll { $0 == id }
            // What leaves the stack is no column any more.
            if let split = nodes[parent]?.parent,
                let column = nodes[split]?.pushed.first(where: { $0.value == id })?.key
            {
                nodes[split]?.pushed[column] = nil
            }
            if nodes[parent]?.presented == id { nodes[parent]?.presented = nil }
        }
        if root == id { root = nil }
        for gone in subtree(id) { nodes.removeValue(forKey: gone) }
    }

    mutating func add(_ arrival: NaiveTree, under parent: ControllerID) {
        nodes.merge(arrival.nodes) { mine, _ in mine }
        if let top = arrival.root { nodes[top]?.parent = parent }
    }

    func isKnown(_ arrival: NaiveTree, _ reserved: Set<ControllerID>) -> Bool {
        arrival.nodes.keys.contains { nodes[$0] != nil || reserved.contains($0) }
    }

    // MARK: - Presentations

    /// The controller that really presents what is to be presented from `source`.
    package func presenter(for style: PresentationStyle?, from source: ControllerID) -> ControllerID? {
        let layer = layer(upFrom: source)
        let context = style?.seeksContext == true ? layer.first { nodes[$0]?.definesContext == true } : nil
        return context ?? layer.last
    }

    func present(
        _ arrival: NaiveTree, from source: ControllerID, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard let top = arrival.root, let presenter = presenter(for: arrival.nodes[top]?.style, from: source) else {
            return .refused(.unknownController)
        }
        if isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
        if nodes[presenter]?.presented != nil { return .refused(.alreadyPresenting) }
        if !visible().contains(source) { return .refused(.notVisible) }
        var change = NaiveChange(tree: self, inserted: [top], isCrossed: true)
        change.tree.add(arrival, under: presenter)
        change.tree.nodes[presenter]?.presented = top
        return .done(change)
    }

    /// The controller that presents what a dismissal removes.
    private func dismisser(for id: ControllerID) -> ControllerID? {
        let layer = layer(upFrom: id)
        return layer.first { nodes[$0]?.presented != nil } ?? layer.last.flatMap(presenter)
    }

    private func dismiss(_ id: ControllerID) -> NaiveOutcome {
        guard nodes[id] != nil else { return .refused(.unknownController) }
        guard let presented = dismisser(for: id).flatMap({ nodes[$0]?.presented }) else { return .nothing }
        var change = NaiveChange(tree: self, leaving: presented, isCrossed: true)
        change.take(presented)
        return .done(change)
    }

    // MARK: - Stacks

    func push(
        _ arrival: NaiveTree, on navigation: ControllerID, _ reserved: Set<ControllerID>,
        kinds: [ControllerKind] = [.view]
    ) -> NaiveOutcome {
        guard let node = nodes[navigation], let top = arrival.root else { return .refused(.unknownController) }
        guard node.kind == .navigation else { return .refused(.wrongKind) }
        guard let kind = arrival.nodes[top]?.kind, kinds.contains(kind) else { return .refused(.cannotPushContainer) }
        if node.children.contains(top) { return .refused(.alreadyOnStack) }
        if isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
        var change = NaiveChange(tree: self, inserted: [top])
        change.tree.add(arrival, under: navigation)
        change.tree.nodes[navigation]?.children.append(top)
        return .done(change)
    }

    private func pop(_ navigation: ControllerID, to index: ([ControllerID]) -> Int?) -> NaiveOutcome {
        guard let node = nodes[navigation] else { return .refused(.unknownController) }
        guard node.kind == .navigation else { return .refused(.wrongKind) }
        guard let index = index(node.children) else { return .refused(.notOnStack) }
        guard index + 1 < node.children.count else { return .nothing }
        var change = NaiveChange(tree: self, leaving: node.children.last)
        for popped in node.children[(index + 1)...].reversed() { change.pop(popped) }
        return .done(change)
    }

    private func setStack(
        _ arrivals: [NaiveTree], of navigation: ControllerID, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard let node = nodes[navigation] else { return .refused(.unknownController) }
        guard node.kind == .navigation else { return .refused(.wrongKind) }
        var change = NaiveChange(tree: self)
        let stack = arrivals.compactMap(\.root)
        guard stack.count == arrivals.count else { return .refused(.unknownController) }
        guard Set(stack).count == stack.count else { return .refused(.alreadyOnStack) }
        // Those that leave make their ids free for those that come.
        for gone in node.children.reversed() where !stack.contains(gone) { change.take(gone) }
        for arrival in arrivals {
            guard let top = arrival.root, !node.children.contains(top) else { continue }
            guard arrival.nodes[top]?.kind == .view else { return .refused(.cannotPushContainer) }
            // Known controllers include those inserted earlier by the same operation.
            if change.tree.isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
            change.tree.add(arrival, under: navigation)
            change.inserted.append(top)
        }
        if stack == node.children { return .nothing }
        guard let last = stack.last else { return .refused(.notOnStack) }
        change.tree.nodes[navigation]?.children = stack
        change.isAnimated = last != node.children.last
        if last != node.children.last, node.children.contains(last) { change.leaving = node.children.last }
        return .done(change)
    }

    // MARK: - Tabs and columns

    private func select(_ tab: Operation.Tab, of tabs: ControllerID) -> NaiveOutcome {
        guard let node = nodes[tabs] else { return .refused(.unknownController) }
        guard node.kind == .tabs else { return .refused(.wrongKind) }
        var change = NaiveChange(tree: self, comesFirst: true)
        switch tab {
        case .index(let index):
            guard node.children.indices.contains(index) else { return .refused(.indexOutOfRange) }
            change.tree.nodes[tabs]?.selected = index
        case .offset(let offset):
            let all = node.children.indices
            guard offset >= -all.count, offset <= all.count, all.contains(node.selected + offset) else {
                return .refused(.indexOutOfRange)
            }
            change.tree.nodes[tabs]?.selected += offset
        case .controller(let child):
            guard let index = node.children.firstIndex(of: child) else { return .refused(.notAChild) }
            change.tree.nodes[tabs]?.selected = index
        }
        guard change.tree != self else { return .nothing }
        change.selected = change.tree.nodes[tabs].map { $0.children[$0.selected] }
        return .done(change)
    }

    private func setTabs(
        _ arrivals: [NaiveTree], selected: Int?, of tabs: ControllerID, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard let node = nodes[tabs] else { return .refused(.unknownController) }
        guard node.kind == .tabs else { return .refused(.wrongKind) }
        let order = arrivals.compactMap(\.root)
        guard order.count == arrivals.count else { return .refused(.unknownController) }
        guard Set(order).count == order.count else { return .refused(.alreadyInHierarchy) }
        if let selected, !(order.isEmpty ? selected == 0 : order.indices.contains(selected)) {
            return .refused(.indexOutOfRange)
        }
        let shown = node.children.isEmpty ? nil : node.children[node.selected]
        let kept = shown.flatMap { order.firstIndex(of: $0) }
        let same = node.selected < order.count ? node.selected : 0
        var change = NaiveChange(tree: self, comesFirst: true)
        for gone in node.children where !order.contains(gone) { change.take(gone) }
        for arrival in arrivals {
            guard let top = arrival.root, !node.children.contains(top) else { continue }
            if change.tree.isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
            change.tree.add(arrival, under: tabs)
            change.inserted.append(top)
        }
        change.tree.nodes[tabs]?.children = order
        change.tree.nodes[tabs]?.selected = selected ?? kept ?? same
        guard change.tree != self else { return .nothing }
        let now = order.isEmpty ? nil : order[change.tree.nodes[tabs]?.selected ?? 0]
        change.isAnimated = now != shown
        return .done(change)
    }

    private func insertTab(
        _ arrival: NaiveTree, at index: Int?, of tabs: ControllerID, _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard let node = nodes[tabs] else { return .refused(.unknownController) }
        guard node.kind == .tabs else { return .refused(.wrongKind) }
        guard let top = arrival.root else { return .refused(.unknownController) }
        if node.children.contains(top) { return .refused(.alreadyAChild) }
        let index = index ?? node.children.count
        guard index >= 0, index <= node.children.count else { return .refused(.indexOutOfRange) }
        if isKnown(arrival, reserved) { return .refused(.alreadyInHierarchy) }
        var change = NaiveChange(tree: self, inserted: [top], comesFirst: true)
        change.tree.add(arrival, under: tabs)
        change.tree.nodes[tabs]?.children.insert(top, at: index)
        if index <= node.selected, !node.children.isEmpty { change.tree.nodes[tabs]?.selected += 1 }
        change.isAnimated = node.children.isEmpty
        return .done(change)
    }

    private func removeTab(_ controller: ControllerID, of tabs: ControllerID) -> NaiveOutcome {
        guard let node = nodes[tabs] else { return .refused(.unknownController) }
        guard node.kind == .tabs else { return .refused(.wrongKind) }
        guard let index = node.children.firstIndex(of: controller) else { return .refused(.notAChild) }
        var change = NaiveChange(tree: self, comesFirst: true)
        change.take(controller)
        if index < node.selected { change.tree.nodes[tabs]?.selected -= 1 }
        if index == node.selected, index == node.children.count - 1 { change.tree.nodes[tabs]?.selected = 0 }
        change.isAnimated = index == node.selected
        return .done(change)
    }

    private func setRoot(_ arrival: NaiveTree, _ reserved: Set<ControllerID>) -> NaiveOutcome {
        guard let top = arrival.root else { return .refused(.unknownController) }
        guard arrival.nodes.keys.allSatisfy({ !reserved.contains($0) }) else { return .refused(.alreadyInHierarchy) }
        var change = NaiveChange(tree: self, inserted: [top])
        if let root { change.take(root) }
        change.tree.nodes = arrival.nodes
        change.tree.root = top
        return .done(change)
    }
}
