package import ArbiterCore

/// The result of an operation on a naive tree.
package enum NaiveOutcome {
    /// With the index in a list.
    case refused(OperationRefusal.Code, index: Int? = nil)
    case nothing
    case done(NaiveChange)
}

/// The change that an operation makes.
package struct NaiveChange {
    /// The tree after the change.
    package var tree: NaiveTree
    package var inserted: [ControllerID] = []
    package var removed: [ControllerID] = []
    /// The controller that leaves and whose transition type is used.
    package var leaving: ControllerID?
    /// The tab that a selection shows.
    var selected: ControllerID?
    /// Whether appearing views get their events before disappearing ones at the end.
    var isCrossed = false
    /// Whether appearing views get their events before disappearing ones at the beginning.
    var comesFirst = false
    /// Whether there is something to animate.
    package var isAnimated = true

    /// The transition type of the last operation of a list.
    var typeOfLast: TransitionTypeName?
    var isList = false
    /// What the operations of a list insert, also if a later one removes it.
    var arrived: Set<ControllerID> = []

    /// Everything that is removed, as it goes.
    var departed: [ControllerID] = []
    /// The same, in no order.
    var gone: Set<ControllerID> = []
    /// The ids of controllers that are removed and whose place another controller takes.
    package var renewed: Set<ControllerID> { gone.filter { tree.nodes[$0] != nil } }

    /// Removes a controller and lists what is removed with it.
    package mutating func take(_ id: ControllerID) {
        removed += tree.leavers(with: id)
        departed += tree.subtree(id)
        gone.formUnion(tree.subtree(id))
        tree.remove(id)
    }
}
