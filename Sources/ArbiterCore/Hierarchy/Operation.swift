/// What a transition does to the hierarchy when it completes.
///
/// A controller to insert is given as a hierarchy: the controller with everything in it.
package indirect enum Operation: Hashable, Sendable {
    /// Without a presenter, the controller in front is asked to.
    case present(presenter: ControllerID?, controller: Hierarchy)
    case dismiss(ControllerID)
    case push(navigation: ControllerID, controller: Hierarchy)
    case pop(navigation: ControllerID)
    case popTo(navigation: ControllerID, controller: ControllerID)
    case popToRoot(navigation: ControllerID)
    /// Controllers that are already on the stack do not change; the others are inserted.
    case setStack(navigation: ControllerID, controllers: [Hierarchy])
    case select(tabs: ControllerID, Tab)
    case showDetail(split: ControllerID, controller: Hierarchy)
    /// Without a controller, the column becomes empty.
    case setColumn(split: ControllerID, SplitColumn, controller: Hierarchy?)
    case showColumn(split: ControllerID, SplitColumn)
    /// The columns up to `topColumn`, or all of them, move to the stack of the primary one, if that is a navigation; the others are set
    /// aside.
    case collapse(split: ControllerID, topColumn: SplitColumn? = nil)
    /// The columns go back to their places.
    case expand(split: ControllerID)
    /// Controllers that are tabs already do not change; the others are inserted. Without `selected`, the selected tab
    /// remains selected if it remains; else the index counts, or the first tab is selected.
    case setTabs(tabs: ControllerID, controllers: [Hierarchy], selected: Int?)
    /// Without an index, it becomes the last tab.
    case insertTab(tabs: ControllerID, controller: Hierarchy, index: Int? = nil)
    case removeTab(tabs: ControllerID, controller: ControllerID)
    /// The whole tree is replaced.
    case setRoot(Hierarchy)
    /// With a destination, that controller is inserted instead of the declared one.
    case segue(source: ControllerID, SegueIdentifier, destination: Hierarchy? = nil)
    /// Several, carried out together: each on the hierarchy that those before it leave. None of them is a list.
    case list([Operation])

    /// One of the children of a `tabs` controller.
    package enum Tab: Hashable, Sendable {
        /// Counted from 0.
        case index(Int)
        case controller(ControllerID)
        /// Counted from the selected tab.
        case offset(Int)
    }
}

/// The name of an operation.
package enum OperationType: String, Hashable, Sendable, CaseIterable {
    case present
    case dismiss
    case push
    case pop
    case popTo
    case popToRoot
    case setStack
    case select
    case showDetail
    case setColumn
    case showColumn
    case collapse
    case expand
    case setTabs
    case insertTab
    case removeTab
    case setRoot
    case segue
}

extension Operation {
    /// `nil` for a list.
    package var type: OperationType? {
        switch self {
        case .present: .present
        case .dismiss: .dismiss
        case .push: .push
        case .pop: .pop
        case .popTo: .popTo
        case .popToRoot: .popToRoot
        case .setStack: .setStack
        case .select: .select
        case .showDetail: .showDetail
        case .setColumn: .setColumn
        case .showColumn: .showColumn
        case .collapse: .collapse
        case .expand: .expand
        case .setTabs: .setTabs
        case .insertTab: .insertTab
        case .removeTab: .removeTab
        case .setRoot: .setRoot
        case .segue: .segue
        case .list: nil
        }
    }
}

extension Operation {
    /// The operations of a list, or the operation itself.
    package var parts: [Operation] {
        if case .list(let operations) = self { operations } else { [self] }
    }

    /// Whether it, or an operation of the list, touches the whole scene, whatever the tree is.
    var touchesScene: Bool {
        switch self {
        case .setRoot, .present(nil, _): true
        case .list(let operations): operations.contains(where: \.touchesScene)
        default: false
        }
    }

    /// The oldest rules that know it.
    var neededRules: Rules {
        switch self {
        case .list, .present(nil, _), .setColumn, .showColumn, .collapse(_, .some), .insertTab, .removeTab: .second
        default: arrivals.lazy.map(\.neededRules).max() ?? .first
        }
    }
}

extension Operation {
    private enum Bringing {
        case nothing
        case one(Hierarchy)
        case list([Hierarchy])
    }

    private var bringing: Bringing {
        switch self {
        case .present(_, let controller), .push(_, let controller), .showDetail(_, let controller),
            .setRoot(let controller), .setColumn(_, _, let controller?), .insertTab(_, let controller, _):
            .one(controller)
        case .setStack(_, let controllers), .setTabs(_, let controllers, _): .list(controllers)
        case .segue(_, _, let destination): destination.map { .one($0) } ?? .nothing
        case .list(let operations): .list(operations.flatMap(\.arrivals))
        case .dismiss, .pop, .popTo, .popToRoot, .select, .setColumn, .showColumn, .collapse, .expand, .removeTab:
            .nothing
        }
    }

    /// The hierarchies to insert, as requested; none for a segue without a destination of its own.
    package var arrivals: [Hierarchy] {
        switch bringing {
        case .nothing: []
        case .one(let controller): [controller]
        case .list(let controllers): controllers
        }
    }

    /// Whether it inserts a list, which may have any length.
    var bringsList: Bool {
        switch bringing {
        case .list: true
        case .nothing, .one: false
        }
    }

    /// The same operation, which is no list, with these arrivals: as many as it has now, or any number if it brings a list.
    func bringing(_ arrivals: [Hierarchy]) -> Operation {
        switch self {
        case .present(let presenter, _): .present(presenter: presenter, controller: arrivals[0])
        case .push(let navigation, _): .push(navigation: navigation, controller: arrivals[0])
        case .setStack(let navigation, _): .setStack(navigation: navigation, controllers: arrivals)
        case .showDetail(let split, _): .showDetail(split: split, controller: arrivals[0])
        case .setColumn(let split, let column, _):
            .setColumn(split: split, column, controller: arrivals.first)
        case .setTabs(let tabs, _, let selected): .setTabs(tabs: tabs, controllers: arrivals, selected: selected)
        case .insertTab(let tabs, _, let index): .insertTab(tabs: tabs, controller: arrivals[0], index: index)
        case .setRoot: .setRoot(arrivals[0])
        case .segue(let source, let identifier, _): .segue(source: source, identifier, destination: arrivals.first)
        case .dismiss, .pop, .popTo, .popToRoot, .select, .showColumn, .collapse, .expand, .removeTab: self
        case .list: preconditionFailure("each operation of a list has its own arrivals")
        }
    }

    /// The existing controller that it names first, and on whose place its scope depends; `nil` if it locks the whole scene, and for a
    /// list.
    package var target: ControllerID? {
        switch self {
        case .present(let presenter, _): presenter
        case .dismiss(let controller), .push(let controller, _), .pop(let controller),
            .popTo(let controller, _), .popToRoot(let controller), .setStack(let controller, _),
            .select(let controller, _), .showDetail(let controller, _), .setColumn(let controller, _, _),
            .showColumn(let controller, _), .collapse(let controller, _), .expand(let controller),
            .setTabs(let controller, _, _), .insertTab(let controller, _, _), .removeTab(let controller, _),
            .segue(let controller, _, _):
            controller
        case .setRoot, .list: nil
        }
    }
}

extension Operation {
    /// The controllers that it names besides its arrivals.
    var named: [ControllerID] {
        switch self {
        case .popTo(let navigation, let controller): [navigation, controller]
        case .select(let tabs, .controller(let controller)), .removeTab(let tabs, let controller): [tabs, controller]
        case .present, .dismiss, .push, .pop, .popToRoot, .setStack, .select, .showDetail, .setColumn, .showColumn,
            .collapse, .expand, .setTabs, .insertTab, .setRoot, .segue:
            target.map { [$0] } ?? []
        case .list(let operations): operations.flatMap(\.named)
        }
    }
}

/// Why the hierarchy does not allow an operation.
package struct OperationRefusal: Error, Hashable, Sendable {
    package let code: Code
    /// UIKit's own words, if it has any.
    package let detail: String
    /// The index of the operation that is refused in its list, counted from 0; `nil` outside a list.
    package var index: Int?

    package enum Code: String, Hashable, Sendable, CaseIterable {
        case unknownController = "unknown-controller"
        /// The operation needs a controller of another kind.
        case wrongKind = "wrong-kind"
        case alreadyPresenting = "already-presenting"
        case notVisible = "not-visible"
        case alreadyInHierarchy = "already-in-hierarchy"
        case alreadyOnStack = "already-on-stack"
        case cannotPushContainer = "cannot-push-container"
        case notOnStack = "not-on-stack"
        case indexOutOfRange = "index-out-of-range"
        case notAChild = "not-a-child"
        case alreadyAChild = "already-a-child"
        /// The split's style does not have the column.
        case unknownColumn = "unknown-column"
        /// The primary column of a collapsed split cannot be replaced.
        case columnCollapsed = "column-collapsed"
        case unknownSegue = "unknown-segue"
        /// The request names a transition type that the scene does not have any more.
        case unknownTransitionType = "unknown-transition-type"
        /// The hierarchy would have too many controllers or too many levels.
        case hierarchyTooLarge = "hierarchy-too-large"
    }
}
