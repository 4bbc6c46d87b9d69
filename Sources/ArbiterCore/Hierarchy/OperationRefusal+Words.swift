// Refusals in UIKit's own words, with ids in place of the objects that it prints; where it has none, in our words.

extension OperationRefusal {
    static func unknownController(_ id: ControllerID) -> OperationRefusal {
        OperationRefusal(code: .unknownController, detail: "There is no controller <\(id)>.")
    }

    static let nobodyInFront = OperationRefusal(
        code: .unknownController, detail: "There is no controller in front: the hierarchy is empty.")

    static let nothingToBringIn = OperationRefusal(
        code: .unknownController, detail: "There is no controller to bring in.")

    static func wrongKind(_ controller: Controller, needed: ControllerKind) -> OperationRefusal {
        OperationRefusal(
            code: .wrongKind,
            detail:
                "<\(controller.id)> is a \(controller.kind.rawValue) controller, not a \(needed.rawValue) controller.")
    }

    static func alreadyPresenting(_ presented: ControllerID, _ attempt: PresentationAttempt) -> OperationRefusal {
        OperationRefusal(
            code: .alreadyPresenting, detail: "\(attempt) which is already presenting <\(presented)>.")
    }

    static func notVisible(_ attempt: PresentationAttempt) -> OperationRefusal {
        OperationRefusal(code: .notVisible, detail: "\(attempt) whose view is not in the window hierarchy!")
    }

    static func activeController(_ id: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .alreadyInHierarchy, detail: "Application tried to present modally an active controller <\(id)>.")
    }

    static func alreadyInHierarchy(_ id: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .alreadyInHierarchy, detail: "<\(id)> is in the hierarchy already, and cannot come in again.")
    }

    static func alreadyOnStack(_ id: ControllerID, of navigation: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .alreadyOnStack,
            detail: "<\(navigation)> is pushing the same view controller instance <\(id)> more than once "
                + "which is not supported and is most likely an error in the application.")
    }

    static func cannotPush(_ controller: Controller, on navigation: ControllerID) -> OperationRefusal {
        let detail =
            switch controller.kind {
            case .view, .navigation: "Pushing a navigation controller is not supported"
            case .tabs: "Pushing a tab bar controller is not supported"
            case .split: "Split View Controllers cannot be pushed to a Navigation Controller"
            }
        return OperationRefusal(
            code: .cannotPushContainer, detail: "\(detail): <\(controller.id)> on <\(navigation)>.")
    }

    static let notOnStack = OperationRefusal(
        code: .notOnStack, detail: "Tried to pop to a view controller that doesn't exist.")

    static func neverEmpty(_ navigation: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .notOnStack,
            detail: "<\(navigation)> has a root, and is never without one: its stack cannot be empty.")
    }

    static func indexOutOfRange(_ index: Int, of count: Int, tabs: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .indexOutOfRange,
            detail: "Index \(index) is none of the tabs of <\(tabs)>, which has \(count), counted from 0.")
    }

    static func offsetOutOfRange(
        _ offset: Int, from selected: Int, of count: Int, tabs: ControllerID
    ) -> OperationRefusal {
        OperationRefusal(
            code: .indexOutOfRange,
            detail:
                "From tab \(selected), counted from 0, \(offset) leads past the end of <\(tabs)>, which has \(count).")
    }

    static func notAChild(_ id: ControllerID, of tabs: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .notAChild,
            detail: "Attempting to select a view controller that isn't a child! <\(id)> is no tab of <\(tabs)>.")
    }

    static func unknownColumn(_ column: SplitColumn, of split: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .unknownColumn, detail: "<\(split)> is a split of two columns, and has no \(column.rawValue) one.")
    }

    static func columnCollapsed(_ split: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .columnCollapsed,
            detail: "<\(split)> is collapsed into its primary column, which cannot be replaced then.")
    }

    static func primaryNeverEmpty(_ split: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .columnCollapsed, detail: "<\(split)> is never without its primary column.")
    }

    static func noStack(_ controller: ControllerID, primary: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .cannotPushContainer,
            detail: "<\(controller)> cannot be shown: the primary column <\(primary)> is no navigation controller.")
    }

    static func noTab(_ id: ControllerID, of tabs: ControllerID) -> OperationRefusal {
        OperationRefusal(code: .notAChild, detail: "<\(id)> is no tab of <\(tabs)>.")
    }

    static func alreadyATab(_ id: ControllerID, of tabs: ControllerID) -> OperationRefusal {
        OperationRefusal(code: .alreadyAChild, detail: "<\(id)> is a tab of <\(tabs)> already.")
    }

    static func noPlace(_ index: Int, among count: Int, tabs: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .indexOutOfRange,
            detail: "Index \(index) is no place among the tabs of <\(tabs)>, which has \(count), counted from 0.")
    }

    static func unknownSegue(_ identifier: SegueIdentifier, of source: ControllerID) -> OperationRefusal {
        OperationRefusal(
            code: .unknownSegue, detail: "Receiver (<\(source)>) has no segue with identifier '\(identifier)'")
    }

    static func tooMany(_ count: Int) -> OperationRefusal {
        OperationRefusal(
            code: .hierarchyTooLarge,
            detail: "The hierarchy would have \(count) controllers, of which \(Limits.controllers) are allowed.")
    }

    static func tooDeep(_ depth: Int) -> OperationRefusal {
        OperationRefusal(
            code: .hierarchyTooLarge,
            detail: "The hierarchy would be \(depth) levels deep, of which \(Limits.hierarchyDepth) are allowed.")
    }
}

/// The words with which UIKit begins every refusal of a presentation.
struct PresentationAttempt: CustomStringConvertible {
    let controller: ControllerID
    /// The controller that would present it.
    let presenter: ControllerID
    /// The controller that was asked to present it.
    let source: ControllerID

    var description: String { "Attempt to present <\(controller)> on <\(presenter)> (from <\(source)>)" }
}
