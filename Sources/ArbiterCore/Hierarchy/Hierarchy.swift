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
    /// - Parameters:
    ///   - root: Whoever is topmost.
    ///   - controllers: All of them, in any order; who is whose parent is found here.
    /// - Throws: `HierarchyFault` if they make no tree, if one is in a container that cannot hold it, or if they are too
    ///   many or too deep.
    package init(root: ControllerID, controllers: [Controller]) throws(HierarchyFault) {
        self.init()
    }

    package var count: Int { controllers.count }
    package var isEmpty: Bool { controllers.isEmpty }

    package subscript(id: ControllerID) -> Controller? { controllers[id] }
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
