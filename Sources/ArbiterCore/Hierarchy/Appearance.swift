/// A view's word that it comes or goes: UIKit's `viewWillAppear` and its kin.
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

/// In which order UIKit tells the views that come and the views that go.
package enum AppearanceOrder: Hashable, Sendable {
    /// Those that go first, at the beginning and at the end: pushes, pops, selections.
    case goingFirst
    /// Those that go first at the beginning, those that come first at the end: presentations and dismissals.
    case crossed
}

extension OperationPlan {
    /// What is told when the transition starts to run.
    package var beginning: [AppearanceEvent] {
        disappearing.telling(.willDisappear) + appearing.telling(.willAppear)
    }

    /// What is told when it ends.
    ///
    /// What began is told to the end whatever the outcome: whoever was about to appear disappears again.
    package func ending(isCompleted: Bool) -> [AppearanceEvent] {
        guard isCompleted else {
            return appearing.telling(.willDisappear) + appearing.telling(.didDisappear)
                + disappearing.telling(.willAppear) + disappearing.telling(.didAppear)
        }
        let (going, coming) = (disappearing.telling(.didDisappear), appearing.telling(.didAppear))
        return switch appearanceOrder {
        case .goingFirst: going + coming
        case .crossed: coming + going
        }
    }
}

extension [ControllerID] {
    fileprivate func telling(_ change: AppearanceEvent.Change) -> [AppearanceEvent] {
        map { AppearanceEvent($0, change) }
    }
}
