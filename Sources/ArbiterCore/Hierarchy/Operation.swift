/// What a transition does to the hierarchy when it completes.
///
/// A controller to insert is given as a hierarchy: the controller with everything in it.
package indirect enum Operation: Hashable, Sendable {
    case present(presenter: ControllerID, controller: Hierarchy)
    case dismiss(ControllerID)
    case push(navigation: ControllerID, controller: Hierarchy)
    case pop(navigation: ControllerID)
    case popTo(navigation: ControllerID, controller: ControllerID)
    case popToRoot(navigation: ControllerID)
    /// Controllers that are already on the stack do not change; the others are inserted.
    case setStack(navigation: ControllerID, controllers: [Hierarchy])
    case select(tabs: ControllerID, Tab)
    case showDetail(split: ControllerID, controller: Hierarchy)
    /// The secondary column moves to the stack of the primary one, if that is a navigation.
    case collapse(split: ControllerID)
    /// The top of the primary column's stack becomes the secondary column, if there is none.
    case expand(split: ControllerID)
    /// Controllers that are tabs already do not change; the others are inserted. Without `selected`, the selected tab
    /// remains selected if it remains; else the index counts, or the first tab is selected.
    case setTabs(tabs: ControllerID, controllers: [Hierarchy], selected: Int?)
    /// The whole tree is replaced.
    case setRoot(Hierarchy)
    /// With a destination, that controller is inserted instead of the declared one.
    case segue(source: ControllerID, SegueIdentifier, destination: Hierarchy? = nil)

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
    case collapse
    case expand
    case setTabs
    case setRoot
    case segue
}

extension Operation {
    package var type: OperationType {
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
        case .collapse: .collapse
        case .expand: .expand
        case .setTabs: .setTabs
        case .setRoot: .setRoot
        case .segue: .segue
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
            .setRoot(let controller):
            .one(controller)
        case .setStack(_, let controllers), .setTabs(_, let controllers, _): .list(controllers)
        case .segue(_, _, let destination): destination.map { .one($0) } ?? .nothing
        case .dismiss, .pop, .popTo, .popToRoot, .select, .collapse, .expand: .nothing
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

    /// The same operation with these arrivals: as many as it has now, or any number if it brings a list.
    func bringing(_ arrivals: [Hierarchy]) -> Operation {
        switch self {
        case .present(let presenter, _): .present(presenter: presenter, controller: arrivals[0])
        case .push(let navigation, _): .push(navigation: navigation, controller: arrivals[0])
        case .setStack(let navigation, _): .setStack(navigation: navigation, controllers: arrivals)
        case .showDetail(let split, _): .showDetail(split: split, controller: arrivals[0])
        case .setTabs(let tabs, _, let selected): .setTabs(tabs: tabs, controllers: arrivals, selected: selected)
        case .setRoot: .setRoot(arrivals[0])
        case .segue(let source, let identifier, _): .segue(source: source, identifier, destination: arrivals.first)
        case .dismiss, .pop, .popTo, .popToRoot, .select, .collapse, .expand: self
        }
    }

    /// The existing controller that it names first, and on whose place its scope depends; `nil` if that is the root.
    package var target: ControllerID? {
        switch self {
        case .present(let controller, _), .dismiss(let controller), .push(let controller, _), .pop(let controller),
            .popTo(let controller, _), .popToRoot(let controller), .setStack(let controller, _),
            .select(let controller, _), .showDetail(let controller, _), .collapse(let controller),
            .expand(let controller), .setTabs(let controller, _, _), .segue(let controller, _, _):
            controller
        case .setRoot: nil
        }
    }
}

extension Operation {
    /// The controllers that it names besides its arrivals.
    var named: [ControllerID] {
        switch self {
        case .popTo(let navigation, let controller): [navigation, controller]
        case .select(let tabs, .controller(let controller)): [tabs, controller]
        case .present, .dismiss, .push, .pop, .popToRoot, .setStack, .select, .showDetail, .collapse, .expand,
            .setTabs, .setRoot, .segue:
            target.map { [$0] } ?? []
        }
    }
}

/// Why the hierarchy does not allow an operation.
package struct OperationRefusal: Error, Hashable, Sendable {
    package let code: Code
    /// UIKit's own words, if it has any.
    package let detail: String

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
        case unknownSegue = "unknown-segue"
        /// The request names a transition type that the scene does not have any more.
        case unknownTransitionType = "unknown-transition-type"
        /// The hierarchy would have too many controllers or too many levels.
        case hierarchyTooLarge = "hierarchy-too-large"
    }
}

/// The effect of an operation on the current hierarchy.
package struct OperationPlan: Hashable, Sendable {
    /// The changes, in the order in which they are applied.
    package let steps: [Edit]
    /// The controller that presents, or presented before a dismissal.
    package let presenter: ControllerID?
    /// The inserted controllers, in the order requested, without those below them.
    package let inserted: [ControllerID]
    /// The removed controllers, in the order popped or dismissed, without those inside them.
    package let removed: [ControllerID]
    /// The controllers whose views disappear, each container before its content.
    package let disappearing: [ControllerID]
    /// The controllers whose views appear, each container before its content.
    package let appearing: [ControllerID]
    /// The order of the appearance events, which depends on what UIKit takes the operation for.
    package let appearanceOrder: AppearanceOrder
    /// True for a pop, a dismissal or the selection of a lower tab.
    package let isBackward: Bool
    /// The removed controller whose `introTransitionType` the transition uses again.
    package let leaving: ControllerID?
    /// Whether there is something to animate: not if a stack or a list of tabs changes where nobody sees it.
    let isAnimated: Bool

    init(
        steps: [Edit], presenter: ControllerID? = nil, inserted: [ControllerID] = [], removed: [ControllerID] = [],
        disappearing: [ControllerID] = [], appearing: [ControllerID] = [],
        appearanceOrder: AppearanceOrder = .goingFirst, isBackward: Bool = false, leaving: ControllerID? = nil,
        isAnimated: Bool = true
    ) {
        self.steps = steps
        self.presenter = presenter
        self.inserted = inserted
        self.removed = removed
        self.disappearing = disappearing
        self.appearing = appearing
        self.appearanceOrder = appearanceOrder
        self.isBackward = isBackward
        self.leaving = leaving
        self.isAnimated = isAnimated
    }

    /// Every inserted controller, including those below the ones in `inserted`.
    package var arriving: [ControllerID] {
        steps.flatMap { step in
            guard case .insert(let arrival, _) = step else { return [ControllerID]() }
            return arrival.preorder.map(\.id)
        }
    }

    /// The `introTransitionType` of the inserted controllers; if there are several, that of the topmost.
    var typeOfArrival: TransitionTypeName? {
        for case .insert(let arrival, _) in steps.reversed() {
            return arrival.root.flatMap { arrival[$0]?.introTransitionType }
        }
        return nil
    }

    /// A single change of the tree.
    package enum Edit: Hashable, Sendable {
        case insert(Hierarchy, at: Place)
        /// Removes it with everything below it. A primary column that is removed is replaced by the next edit.
        case remove(ControllerID)
        /// Moves it with everything below it.
        case move(ControllerID, to: Place)
        case select(tabs: ControllerID, index: Int)
        /// Sets the order of the controllers on a stack.
        case arrange(navigation: ControllerID, stack: [ControllerID])
        /// Sets the order of the tabs, and which one is selected.
        case arrangeTabs(tabs: ControllerID, children: [ControllerID], selected: Int)
        case collapse(split: ControllerID, Bool)
    }

    /// Where a controller is inserted, or moved to.
    package enum Place: Hashable, Sendable {
        case root
        case top(ofNavigation: ControllerID)
        /// The last tab.
        case tab(ofTabs: ControllerID)
        case presented(by: ControllerID)
        case primary(ofSplit: ControllerID)
        case secondary(ofSplit: ControllerID)
    }
}

/// The result of applying a plan.
package struct HierarchyChange: Hashable, Sendable {
    /// Every inserted controller, each before those below it.
    package let arrived: [ControllerID]
    /// Every removed controller, each before those below it.
    package let departed: [ControllerID]
    /// The controllers that remain, but may have other places now.
    package let moved: [ControllerID]
}
