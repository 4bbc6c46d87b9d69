/// The effect of an operation on the current hierarchy.
package struct OperationPlan: Hashable, Sendable {
    /// The changes, in the order in which they are applied.
    package private(set) var steps: [Edit]
    /// The controller that presents, or presented before a dismissal.
    package let presenter: ControllerID?
    /// The inserted controllers, in the order requested, without those that came with them.
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
    /// The transition type of what comes in, or the one by which what leaves came in, or else the scene's default; the request may name
    /// another one.
    package private(set) var type: TransitionTypeName?
    /// Whether there is something to animate: not if a stack or a list of tabs changes where nobody sees it.
    let isAnimated: Bool
    /// Whether it is that of a list, of which only the net change is told.
    let isNet: Bool

    /// The transition uses the `introTransitionType` of `leaving`, a removed controller, again; without one, that of a `selected`
    /// tab or of the topmost arrival counts.
    init(
        steps: [Edit], presenter: ControllerID? = nil, inserted: [ControllerID] = [], removed: [ControllerID] = [],
        disappearing: [ControllerID] = [], appearing: [ControllerID] = [],
        appearanceOrder: AppearanceOrder = .goingFirst, isBackward: Bool = false, leaving: Controller? = nil,
        selected: Controller? = nil, isAnimated: Bool = true
    ) {
        self.steps = steps
        self.presenter = presenter
        self.inserted = inserted
        self.removed = removed
        self.disappearing = disappearing
        self.appearing = appearing
        self.appearanceOrder = appearanceOrder
        self.isBackward = isBackward
        self.isAnimated = isAnimated
        type = leaving.map(\.introTransitionType) ?? selected?.introTransitionType ?? Self.typeOfArrival(steps)
        isNet = false
    }

    /// The plan of operations that are carried out one after the other.
    ///
    /// - Parameters:
    ///   - parts: the plans of those that change something, one at least.
    ///   - net: what they change in the whole.
    init(_ parts: [OperationPlan], _ net: NetChange) {
        guard let last = parts.last else { preconditionFailure("a list that changes nothing has no plan") }
        steps = parts.flatMap(\.steps)
        presenter = last.presenter
        inserted = net.inserted(of: parts)
        removed = net.removed(of: parts)
        (disappearing, appearing) = net.seen
        appearanceOrder = .goingFirst
        isBackward = last.isBackward
        type = last.type
        isAnimated = parts.contains(where: \.isAnimated)
        isNet = true
    }

    /// The same plan; a transition type applies if it has none.
    func by(default type: TransitionTypeName?) -> OperationPlan {
        guard let type, self.type == nil else { return self }
        var plan = self
        plan.type = type
        return plan
    }

    /// The same plan; what it inserts comes in by its type, if there is something to animate.
    var introducingArrivals: OperationPlan {
        guard isAnimated else { return self }
        var plan = self
        plan.steps = introducing(by: type)
        return plan
    }

    /// Its steps; the inserted controllers come in by a transition type.
    func introducing(by type: TransitionTypeName?) -> [Edit] {
        steps.map { $0.introducing(inserted, by: type) }
    }

    /// Every inserted controller, including those below the ones in `inserted`.
    package var arriving: [ControllerID] {
        steps.flatMap { step in
            guard case .insert(let arrival, _) = step else { return [ControllerID]() }
            return arrival.preorder.map(\.id)
        }
    }

    /// The `introTransitionType` of the inserted controllers; if there are several, that of the topmost.
    private static func typeOfArrival(_ steps: [Edit]) -> TransitionTypeName? {
        for case .insert(let arrival, _) in steps.reversed() {
            return arrival.root.flatMap { arrival[$0]?.introTransitionType }
        }
        return nil
    }

    /// A single change of the tree.
    package enum Edit: Hashable, Sendable {
        case insert(Hierarchy, at: Place)
        /// Removes it with everything below it. A primary column that is removed is replaced by a later edit.
        case remove(ControllerID)
        /// Moves it with everything below it.
        case move(ControllerID, to: Place)
        case select(tabs: ControllerID, index: Int)
        /// Sets the order of the controllers on a stack.
        case arrange(navigation: ControllerID, stack: [ControllerID])
        /// Sets the order of the tabs, and which one is selected.
        case arrangeTabs(tabs: ControllerID, children: [ControllerID], selected: Int)
        /// Sets whether a split is collapsed, and which columns stand on its primary's stack.
        case arrangeColumns(split: ControllerID, isCollapsed: Bool, pushed: PushedColumns = PushedColumns())
    }

    /// Where a controller is inserted, or moved to.
    package enum Place: Hashable, Sendable {
        case root
        case top(ofNavigation: ControllerID)
        /// The last tab.
        case tab(ofTabs: ControllerID)
        case presented(by: ControllerID)
        case column(SplitColumn, ofSplit: ControllerID)
    }
}

/// The result of applying a plan.
package struct HierarchyChange: Hashable, Sendable {
    /// Every inserted controller, each before those below it.
    package var arrived: [ControllerID] = []
    /// Every removed controller, each before those below it.
    package var departed: [ControllerID] = []
    /// The controllers that remain, but may have other places now.
    package var moved: [ControllerID] = []

    mutating func add(_ later: HierarchyChange) {
        arrived += later.arrived
        departed += later.departed
        moved += later.moved
    }
}

extension OperationPlan.Edit {
    /// The same edit; the controllers among its arrivals come in by this transition type.
    fileprivate func introducing(
        _ controllers: [ControllerID], by type: TransitionTypeName?
    ) -> OperationPlan.Edit {
        guard case .insert(var arrival, let place) = self else { return self }
        for controller in controllers { arrival.introduce(controller, by: type) }
        return .insert(arrival, at: place)
    }
}
