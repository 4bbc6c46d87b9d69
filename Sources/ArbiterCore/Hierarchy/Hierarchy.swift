/// The controllers of a scene, or those that an operation inserts: a tree by containment and presentation.
package struct Hierarchy: Hashable, Sendable {
    /// The topmost controller; `nil` if the hierarchy is empty.
    package internal(set) var root: ControllerID?
    var controllers: [ControllerID: Controller]

    /// An empty hierarchy.
    package init() {
        root = nil
        controllers = [:]
    }

    /// Builds the tree from the references of controllers to their children and to what they present.
    ///
    /// A presented controller is presented by the one that refers to it; the rules that choose a presenter do not
    /// apply.
    ///
    /// - Parameters:
    ///   - root: The topmost controller.
    ///   - controllers: All controllers, in any order; their parents are set here.
    /// - Throws: `HierarchyFault` if they form no tree, if a container cannot hold one of its children, or if they are
    ///   too many or too deep.
    package init(root: ControllerID, controllers: [Controller]) throws(HierarchyFault) {
        guard controllers.count <= Limits.controllers else { throw .tooManyControllers(limit: Limits.controllers) }
        var unplaced: [ControllerID: Controller] = [:]
        unplaced.reserveCapacity(controllers.count)
        for controller in controllers where unplaced.updateValue(controller, forKey: controller.id) != nil {
            throw .duplicate(controller.id)
        }
        self.root = root
        self.controllers = [:]
        self.controllers.reserveCapacity(controllers.count)
        var mentions = [Mention(id: root, parent: nil, depth: 1)]
        while let mention = mentions.popLast() {
            guard let controller = unplaced.removeValue(forKey: mention.id) else {
                throw self.controllers[mention.id] == nil ? .missing(mention.id) : .duplicate(mention.id)
            }
            try place(controller, as: mention)
            for id in controller.below.reversed() {
                mentions.append(Mention(id: id, parent: controller.id, depth: mention.depth + 1))
            }
        }
        if !unplaced.isEmpty, let controller = controllers.first(where: { unplaced[$0.id] != nil }) {
            throw .unreachable(controller.id)
        }
        for controller in controllers {
            if case .split(let columns) = controller.content { try check(columns, of: controller.id) }
        }
    }

    private func check(_ columns: Controller.Columns, of split: ControllerID) throws(HierarchyFault) {
        let pushed = columns.pushed
        if columns.style == .doubleColumn, columns.supplementary != nil || pushed.supplementary != nil {
            throw .noSupplementary(split: split)
        }
        for column in SplitColumn.beside {
            guard let id = pushed[column] else { continue }
            guard columns.isCollapsed, columns[column] == nil, pushed.supplementary != pushed.secondary,
                container(of: id) == columns.primary, controllers[columns.primary]?.kind == .navigation
            else { throw .notPushed(id, split: split) }
        }
    }

    private mutating func place(_ controller: Controller, as mention: Mention) throws(HierarchyFault) {
        guard mention.depth <= Limits.hierarchyDepth else { throw .tooDeep(limit: Limits.hierarchyDepth) }
        if case .tabs(let tabs, let selected) = controller.content {
            guard tabs.isEmpty ? selected == 0 : tabs.indices.contains(selected) else {
                throw .indexOutOfRange(tabs: controller.id, selected: selected)
            }
        }
        if let parent = mention.parent.flatMap({ controllers[$0] }), parent.kind == .navigation,
            parent.presented != controller.id, !mayStack(controller.kind, on: parent)
        {
            throw .cannotPushContainer(controller.id, navigation: parent.id)
        }
        var controller = controller
        controller.parent = mention.parent
        controllers[controller.id] = controller
    }

    /// Whether a controller may be on a navigation's stack: a view always, a navigation only on that of a primary column,
    /// where the detail of a collapsed split is.
    private func mayStack(_ kind: ControllerKind, on navigation: Controller) -> Bool {
        kind == .view || kind == .navigation && isPrimaryColumn(navigation)
    }

    /// Whether a controller is the primary column of a split.
    func isPrimaryColumn(_ controller: Controller) -> Bool {
        guard case .split(let columns)? = controller.parent.flatMap({ controllers[$0] })?.content else { return false }
        return columns.primary == controller.id
    }

    /// A reference to a controller from the one above it.
    private struct Mention {
        let id: ControllerID
        let parent: ControllerID?
        /// The level of the referenced controller; the root is at level 1.
        let depth: Int
    }

    package var count: Int { controllers.count }
    package var isEmpty: Bool { controllers.isEmpty }

    package subscript(id: ControllerID) -> Controller? { controllers[id] }

    /// The oldest rules that know it.
    var neededRules: Rules {
        for controller in controllers.values {
            if case .split(let columns) = controller.content, columns.neededRules > .first { return .second }
        }
        return .first
    }

    /// The types of the transitions that inserted its controllers, in no order.
    var introTransitionTypes: some Sequence<TransitionTypeName> {
        controllers.values.lazy.compactMap(\.introTransitionType)
    }
}

/// Why controllers form no hierarchy.
package enum HierarchyFault: Error, Hashable, Sendable {
    case tooManyControllers(limit: Int)
    case tooDeep(limit: Int)
    /// Two controllers have this id, or it has two parents.
    case duplicate(ControllerID)
    /// It is referenced as a child, as presented or as the root, but does not exist.
    case missing(ControllerID)
    /// It cannot be reached from the root: nothing refers to it, or only a cycle does.
    case unreachable(ControllerID)
    /// A navigation, tabs or split controller cannot be in a navigation's stack, but for a navigation in a primary column.
    case cannotPushContainer(ControllerID, navigation: ControllerID)
    /// The selected index is outside the list of tabs.
    case indexOutOfRange(tabs: ControllerID, selected: Int)
    /// A split of two columns has a supplementary one.
    case noSupplementary(split: ControllerID)
    /// It is no column on the stack of the primary of a collapsed split.
    case notPushed(ControllerID, split: ControllerID)
}
