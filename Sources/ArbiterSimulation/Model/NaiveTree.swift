internal import ArbiterCore

/// A scene's controllers, kept as plainly as they can be, to be held against the real hierarchy.
struct NaiveTree: Hashable {
    struct Node: Hashable {
        let kind: ControllerKind
        /// The stack from its root, the tabs, or the columns from the primary to the secondary.
        var children: [ControllerID]
        /// Which of the tabs is selected; 0 for other kinds.
        var selected = 0
        let isCollapsed: Bool
        var presented: ControllerID?
        var parent: ControllerID?
        let style: PresentationStyle
        let definesContext: Bool
        var type: TransitionTypeName?
    }

    let root: ControllerID?
    var nodes: [ControllerID: Node] = [:]

    /// Who is whose parent is found here, whatever the controllers say of it.
    init(_ hierarchy: Hierarchy) {
        root = hierarchy.root
        for controller in hierarchy.preorder { nodes[controller.id] = Node(controller, parent: nil) }
        for (id, node) in nodes {
            for child in node.below { nodes[child]?.parent = id }
        }
    }

    /// What of a real hierarchy is another than here, in words; `nil` if nothing is.
    func difference(from hierarchy: Hierarchy) -> String? {
        guard hierarchy.root == root else { return "another root" }
        for (id, node) in nodes {
            guard let controller = hierarchy[id] else { return "\(id) is missing" }
            guard Node(controller, parent: controller.parent) == node else { return "\(id) is \(controller)" }
        }
        guard hierarchy.count == nodes.count else { return "\(hierarchy.count) controllers, not \(nodes.count)" }
        return nil
    }

    // MARK: - Ways

    /// A controller and everything above it; nothing if it is not there.
    func lineage(of id: ControllerID) -> [ControllerID] {
        guard let node = nodes[id] else { return [] }
        return [id] + (node.parent.map(lineage) ?? [])
    }

    /// Whether one is the other, or above it or below it.
    func areRelated(_ one: ControllerID, _ other: ControllerID) -> Bool {
        one == other || lineage(of: one).contains(other) || lineage(of: other).contains(one)
    }

    func presenter(of id: ControllerID) -> ControllerID? {
        nodes[id]?.parent.flatMap { nodes[$0]?.presented == id ? $0 : nil }
    }

    func container(of id: ControllerID) -> ControllerID? {
        nodes[id]?.parent.flatMap { nodes[$0]?.presented == id ? nil : $0 }
    }

    /// A controller and the containers above it, as far as one presentation put them up.
    func layer(upFrom id: ControllerID) -> [ControllerID] {
        guard nodes[id] != nil else { return [] }
        return [id] + (container(of: id).map(layer) ?? [])
    }

    func subtree(_ id: ControllerID) -> [ControllerID] {
        [id] + (nodes[id]?.below ?? []).flatMap(subtree)
    }

    // MARK: - What is seen

    /// Those in view, each container before what it shows, and that before what is presented.
    func visible() -> [ControllerID] { root.map(visible) ?? [] }

    private func visible(from id: ControllerID) -> [ControllerID] {
        guard let node = nodes[id] else { return [] }
        let isCovered = node.presented.flatMap { nodes[$0]?.style.coversPresenter } ?? false
        let own = isCovered ? [] : [id] + node.shown.flatMap(visible)
        return own + (node.presented.map(visible) ?? [])
    }
}

extension NaiveTree.Node {
    init(_ controller: Controller, parent: ControllerID?) {
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
        }
    }

    var below: [ControllerID] { children + (presented.map { [$0] } ?? []) }

    var shown: [ControllerID] {
        switch kind {
        case .view: []
        case .navigation: children.suffix(1)
        case .tabs: children.isEmpty ? [] : [children[selected]]
        case .split: isCollapsed ? Array(children.prefix(1)) : children
        }
    }
}
