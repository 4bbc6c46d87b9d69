package import ArbiterCore

/// A scene's controllers in the plainest form, to be compared with the real hierarchy.
package struct NaiveTree: Hashable {
    package struct Node: Hashable {
        package let kind: ControllerKind
        /// The stack from its root, the tabs, or the columns from the primary to the secondary.
        package var children: [ControllerID]
        /// The index of the selected tab; 0 for other kinds.
        package var selected = 0
        package var isCollapsed: Bool
        /// Whether a split has a secondary column, which then is the last child.
        package var hasSecondary = false
        /// Whether a split may have a supplementary column.
        package var isTriple = false
        /// The columns of a collapsed split that are on its primary's stack.
        package var pushed: [SplitColumn: ControllerID] = [:]
        package var presented: ControllerID?
        var parent: ControllerID?
        package let style: PresentationStyle
        let definesContext: Bool
        package var type: TransitionTypeName?
    }

    package var root: ControllerID?
    package var nodes: [ControllerID: Node] = [:]

    /// Copies a hierarchy; parents are computed here, because those that the controllers name may be wrong.
    package init(_ hierarchy: Hierarchy) {
        root = hierarchy.root
        for controller in hierarchy.preorder { nodes[controller.id] = Node(controller, parent: nil) }
        for (id, node) in nodes {
            for child in node.below { nodes[child]?.parent = id }
        }
    }

    /// Describes the first difference from a real hierarchy; `nil` if there is none.
    package func difference(from hierarchy: Hierarchy) -> String? {
        guard hierarchy.root == root else { return "another root" }
        for (id, node) in nodes {
            guard let controller = hierarchy[id] else { return "\(id) is missing" }
            guard Node(controller, parent: controller.parent) == node else { return "\(id) is \(controller)" }
        }
        guard hierarchy.count == nodes.count else { return "\(hierarchy.count) controllers, not \(nodes.count)" }
        return nil
    }

    // MARK: - Relations

    /// A controller and everything above it; empty if it does not exist.
    package func lineage(of id: ControllerID) -> [ControllerID] {
        guard let node = nodes[id] else { return [] }
        return [id] + (node.parent.map(lineage) ?? [])
    }

    /// Whether the controllers are the same or one is above the other.
    func areRelated(_ one: ControllerID, _ other: ControllerID) -> Bool {
        one == other || lineage(of: one).contains(other) || lineage(of: other).contains(one)
    }

    package func presenter(of id: ControllerID) -> ControllerID? {
        nodes[id]?.parent.flatMap { nodes[$0]?.presented == id ? $0 : nil }
    }

    package func container(of id: ControllerID) -> ControllerID? {
        nodes[id]?.parent.flatMap { nodes[$0]?.presented == id ? nil : $0 }
    }

    /// A controller and the containers above it, up to the one that is presented or the root.
    func layer(upFrom id: ControllerID) -> [ControllerID] {
        guard nodes[id] != nil else { return [] }
        return [id] + (container(of: id).map(layer) ?? [])
    }

    func subtree(_ id: ControllerID) -> [ControllerID] {
        [id] + (nodes[id]?.below ?? []).flatMap(subtree)
    }

    /// The controller in front: the topmost one of the layer over which no other one is seen.
    var front: ControllerID? {
        func over(_ id: ControllerID) -> ControllerID? {
            guard let node = nodes[id] else { return nil }
            return node.presented ?? node.shown.lazy.compactMap(over).first
        }
        func last(_ id: ControllerID) -> ControllerID { over(id).map(last) ?? id }
        return root.map(last)
    }

    // MARK: - Visibility

    /// The visible controllers: each container before what it shows, and that before what it presents.
    package func visible() -> [ControllerID] { root.map(visible) ?? [] }

    /// The views that disappear and those that appear by a change of this tree.
    package func seen(in change: NaiveChange) -> (going: [ControllerID], coming: [ControllerID]) {
        let (old, new, renewed) = (visible(), change.tree.visible(), change.renewed)
        return (
            old.filter { !new.contains($0) || renewed.contains($0) },
            new.filter { !old.contains($0) || renewed.contains($0) }
        )
    }

    private func visible(from id: ControllerID) -> [ControllerID] {
        guard let node = nodes[id] else { return [] }
        let isCovered = node.presented.flatMap { nodes[$0]?.style.coversPresenter } ?? false
        let own = isCovered ? [] : [id] + node.shown.flatMap(visible)
        return own + (node.presented.map(visible) ?? [])
    }
}

extension NaiveTree.Node {
    package init(_ controller: Controller, parent: ControllerID?) {
        kind = controller.kind
        children = controller.children
        presented = controller.presented
        style = controller.presentationStyle
        definesContext = controller.definesPresentationContext
        type = controller.introTransitionType
        self.parent = parent
        switch controller.content {
        case .view, .navigation:
            isCollapsed = false
        case .tabs(_, let index):
            isCollapsed = false
            selected = index
        case .split(let columns):
            isCollapsed = columns.isCollapsed
            hasSecondary = columns.secondary != nil
            isTriple = columns.style == .tripleColumn
            for column in SplitColumn.allCases { pushed[column] = columns.pushed[column] }
        }
    }

    var below: [ControllerID] { children + (presented.map { [$0] } ?? []) }

    package var shown: [ControllerID] {
        switch kind {
        case .view: []
        case .navigation: children.suffix(1)
        case .tabs: children.isEmpty ? [] : [children[selected]]
        case .split: isCollapsed ? Array(children.prefix(1)) : children
        }
    }
}
