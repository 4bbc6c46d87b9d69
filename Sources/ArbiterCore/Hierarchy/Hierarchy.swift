/// The controllers of a scene, or those that come in together: a tree by containment and presentation.
package struct Hierarchy: Hashable, Sendable {
    /// The topmost controller; `nil` where there is none at all.
    package internal(set) var root: ControllerID?
    var controllers: [ControllerID: Controller]

    /// A hierarchy without a controller.
    package init() {
        root = nil
        controllers = [:]
    }

    /// Puts controllers together by what they say of their children and of what they present.
    ///
    /// Whoever is declared as presented is presented by the controller that says so: nobody is looked for further up.
    ///
    /// - Parameters:
    ///   - root: Whoever is topmost.
    ///   - controllers: All of them, in any order; who is whose parent is found here.
    /// - Throws: `HierarchyFault` if they make no tree, if one is in a container that cannot hold it, or if they are too
    ///   many or too deep.
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
    }

    private mutating func place(_ controller: Controller, as mention: Mention) throws(HierarchyFault) {
        guard mention.depth <= Limits.hierarchyDepth else { throw .tooDeep(limit: Limits.hierarchyDepth) }
        if case .tabs(let tabs, let selected) = controller.content {
            guard tabs.isEmpty ? selected == 0 : tabs.indices.contains(selected) else {
                throw .indexOutOfRange(tabs: controller.id, selected: selected)
            }
        }
        if let parent = mention.parent.flatMap({ controllers[$0] }), parent.kind == .navigation,
            parent.presented != controller.id, controller.kind != .view
        {
            throw .cannotPushContainer(controller.id, navigation: parent.id)
        }
        var controller = controller
        controller.parent = mention.parent
        controllers[controller.id] = controller
    }

    /// A controller as the one above it names it.
    private struct Mention {
        let id: ControllerID
        let parent: ControllerID?
        /// How many are on the way down to it, it included.
        let depth: Int
    }

    package var count: Int { controllers.count }
    package var isEmpty: Bool { controllers.isEmpty }

    package subscript(id: ControllerID) -> Controller? { controllers[id] }

    /// The types by which its controllers came in, in no order.
    var introTransitionTypes: some Sequence<TransitionTypeName> {
        controllers.values.lazy.compactMap(\.introTransitionType)
    }
}

/// Why controllers make no hierarchy.
package enum HierarchyFault: Error, Hashable, Sendable {
    case tooManyControllers(limit: Int)
    case tooDeep(limit: Int)
    /// Two controllers have this id, or it has two parents.
    case duplicate(ControllerID)
    /// It is named as a child, as presented or as the root, but is not there.
    case missing(ControllerID)
    /// No way leads down to it: it stands apart, or in a ring.
    case unreachable(ControllerID)
    /// A navigation, tabs or split controller cannot be in a navigation's stack.
    case cannotPushContainer(ControllerID, navigation: ControllerID)
    /// The selected one is none of the tabs.
    case indexOutOfRange(tabs: ControllerID, selected: Int)
}
