/// Tells a view that it appears or disappears, like UIKit's `viewWillAppear`.
package struct AppearanceEvent: Hashable, Sendable {
    package let controller: ControllerID
    package let change: Change

    package init(_ controller: ControllerID, _ change: Change) {
        self.controller = controller
        self.change = change
    }

    package enum Change: String, Hashable, Sendable, CaseIterable {
        case willAppear
        case didAppear
        case willDisappear
        case didDisappear
    }
}

/// The order in which UIKit notifies the views that appear and those that disappear.
package enum AppearanceOrder: Hashable, Sendable {
    /// Disappearing views first, at the start and at the end: stacks, columns, the root.
    case goingFirst
    /// Appearing views first at the start, disappearing views first at the end: tabs.
    case comingFirst
    /// Disappearing views first at the start, appearing views first at the end: presentations and dismissals.
    case crossed
}

extension OperationPlan {
    /// The events when the transition starts to run.
    package var beginning: [AppearanceEvent] {
        let (going, coming) = (disappearing.telling(.willDisappear), appearing.telling(.willAppear))
        return switch appearanceOrder {
        case .goingFirst, .crossed: going + coming
        case .comingFirst: coming + going
        }
    }

    /// The events when the transition ends.
    ///
    /// If the transition is not completed, every change that began is reversed: views that were about to appear disappear
    /// again, and views that were about to disappear appear again.
    package func ending(isCompleted: Bool) -> [AppearanceEvent] {
        guard isCompleted else {
            return appearing.telling(.willDisappear) + appearing.telling(.didDisappear)
                + disappearing.telling(.willAppear) + disappearing.telling(.didAppear)
        }
        let (going, coming) = (disappearing.telling(.didDisappear), appearing.telling(.didAppear))
        return switch appearanceOrder {
        case .goingFirst, .comingFirst: going + coming
        case .crossed: coming + going
        }
    }
}

extension [ControllerID] {
    fileprivate func telling(_ change: AppearanceEvent.Change) -> [AppearanceEvent] {
        map { AppearanceEvent($0, change) }
    }
}
