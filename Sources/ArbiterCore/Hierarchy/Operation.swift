/// What a transition does to the hierarchy when it completes.
///
/// A controller that comes in is given as a hierarchy of its own: the node and whatever is in it.
package indirect enum Operation: Hashable, Sendable {
    case present(presenter: ControllerID, controller: Hierarchy)
    case dismiss(ControllerID)
    case push(navigation: ControllerID, controller: Hierarchy)
    case pop(navigation: ControllerID)
    case popTo(navigation: ControllerID, controller: ControllerID)
    case popToRoot(navigation: ControllerID)
    /// Those that are on the stack stay as they are; the others come in.
    case setStack(navigation: ControllerID, controllers: [Hierarchy])
    case select(tabs: ControllerID, Tab)
    case showDetail(split: ControllerID, controller: Hierarchy)
    case segue(source: ControllerID, SegueIdentifier)

    /// One of the children of a `tabs` controller.
    package enum Tab: Hashable, Sendable {
        /// Counted from 0.
        case index(Int)
        case controller(ControllerID)
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
        case .segue: .segue
        }
    }
}

extension Operation {
    /// Whoever is to come in, as it was given; what a segue brings in is the storyboard's.
    package var arrivals: [Hierarchy] {
        switch self {
        case .present(_, let controller), .push(_, let controller), .showDetail(_, let controller): [controller]
        case .setStack(_, let controllers): controllers
        case .dismiss, .pop, .popTo, .popToRoot, .select, .segue: []
        }
    }
}

/// Why the hierarchy does not allow an operation.
package struct OperationRefusal: Error, Hashable, Sendable {
    package let code: Code
    /// UIKit's own words, where it has any.
    package let detail: String

    package enum Code: String, Hashable, Sendable, CaseIterable {
        case unknownController = "unknown-controller"
        /// The controller is not of the kind that the operation is for.
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
        /// The hierarchy would have more controllers, or a longer way down, than it may.
        case hierarchyTooLarge = "hierarchy-too-large"
    }
}

/// What an operation comes to in the hierarchy of a moment.
package struct OperationPlan: Hashable, Sendable {
    /// What is done, in this order.
    let steps: [Edit]
    /// The controller that really presents, or presented until now.
    package let presenter: ControllerID?
    /// What comes in, as it was given: what is in it comes along, and is not listed.
    package let inserted: [ControllerID]
    /// What goes, in the order popped or dismissed: what is in it goes along, and is not listed.
    package let removed: [ControllerID]
    /// The controllers whose views disappear, each container before what is in it.
    package let disappearing: [ControllerID]
    /// The controllers whose views appear, each container before what is in it.
    package let appearing: [ControllerID]
    /// What it does in UIKit's eyes, on which the order of appearance depends.
    package let appearanceOrder: AppearanceOrder
    /// Whether it goes back: a pop, a dismissal or a lower tab.
    package let isBackward: Bool
    /// Whoever goes by it, and was brought in by a transition whose type is to be used again.
    package let leaving: ControllerID?

    init(
        steps: [Edit], presenter: ControllerID? = nil, inserted: [ControllerID] = [], removed: [ControllerID] = [],
        disappearing: [ControllerID] = [], appearing: [ControllerID] = [],
        appearanceOrder: AppearanceOrder = .goingFirst, isBackward: Bool = false, leaving: ControllerID? = nil
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
    }

    /// Whose `introTransitionType` is that of the transition, once it is done.
    package var introduced: [ControllerID] { inserted }

    /// Everyone who comes in, whatever is in those that are listed included.
    package var arriving: [ControllerID] {
        steps.flatMap { step in
            guard case .insert(let arrival, _) = step else { return [ControllerID]() }
            return arrival.preorder.map(\.id)
        }
    }

    /// The type of transition that whoever comes in brings along; of several it is the topmost who says.
    var typeOfArrival: TransitionTypeName? {
        for case .insert(let arrival, _) in steps.reversed() {
            return arrival.root.flatMap { arrival[$0]?.introTransitionType }
        }
        return nil
    }

    /// One change of the tree.
    enum Edit: Hashable, Sendable {
        case insert(Hierarchy, at: Place)
        /// With everything in it and everything it presents; it is on top of its stack, presented, or was a column.
        case remove(ControllerID)
        case select(tabs: ControllerID, index: Int)
        /// The whole stack in its new order, once what comes is in and before what goes is out: that is on top.
        case arrange(navigation: ControllerID, stack: [ControllerID])
    }

    /// Where a controller comes in.
    enum Place: Hashable, Sendable {
        case top(ofNavigation: ControllerID)
        case presented(by: ControllerID)
        case primary(ofSplit: ControllerID)
        case secondary(ofSplit: ControllerID)
    }
}

/// What applying a plan did to the hierarchy.
package struct HierarchyChange: Hashable, Sendable {
    /// Every controller that has come in, each before what is below it.
    package let arrived: [ControllerID]
    /// Every controller that has gone, each before what was below it.
    package let departed: [ControllerID]
}
