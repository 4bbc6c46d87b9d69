/// A node of a hierarchy: one view controller.
package struct Controller: Hashable, Sendable {
    package let id: ControllerID
    package internal(set) var content: Content
    /// The controller that this one presents.
    package internal(set) var presented: ControllerID?
    /// How this controller is presented, if it is.
    package let presentationStyle: PresentationStyle
    /// Whether a `currentContext` presentation that starts at this controller or below is presented by it.
    package let definesPresentationContext: Bool
    /// The type of the transition that brought it in, which a pop or dismiss uses again.
    package internal(set) var introTransitionType: TransitionTypeName?
    /// The container that holds it, or the controller that presents it; `nil` for the root.
    package internal(set) var parent: ControllerID?

    package init(
        id: ControllerID,
        content: Content = .view,
        presented: ControllerID? = nil,
        presentationStyle: PresentationStyle = .fullScreen,
        definesPresentationContext: Bool = false,
        introTransitionType: TransitionTypeName? = nil
    ) {
        self.id = id
        self.content = content
        self.presented = presented
        self.presentationStyle = presentationStyle
        self.definesPresentationContext = definesPresentationContext
        self.introTransitionType = introTransitionType
    }

    /// The kind of a controller, with its children.
    package enum Content: Hashable, Sendable {
        case view
        /// A stack, from its root to its top; it is empty only before the first push.
        case navigation([ControllerID])
        /// An ordered list with one selected child; if it is empty, `selected` is 0.
        case tabs([ControllerID], selected: Int)
        /// In a box of its own, so that other controllers are smaller.
        indirect case split(Columns)
    }

    /// The columns of a split controller; those that are empty are `nil`, and so are those that stand on the primary's stack.
    package struct Columns: Hashable, Sendable {
        package internal(set) var primary: ControllerID
        package internal(set) var secondary: ControllerID?
        package internal(set) var supplementary: ControllerID?
        /// If true, only the primary column is shown; the others are set aside, or stand on its stack.
        package internal(set) var isCollapsed: Bool
        package let style: SplitStyle
        /// The columns that stand on the primary's stack, if the split is collapsed.
        package internal(set) var pushed: PushedColumns

        /// Columns; without a style, the split has those that it needs.
        package init(
            primary: ControllerID, secondary: ControllerID?, supplementary: ControllerID? = nil,
            isCollapsed: Bool = false, style: SplitStyle? = nil, pushed: PushedColumns = PushedColumns()
        ) {
            self.primary = primary
            self.secondary = secondary
            self.supplementary = supplementary
            self.isCollapsed = isCollapsed
            self.pushed = pushed
            let isTriple = supplementary != nil || pushed.supplementary != nil
            self.style = style ?? (isTriple ? .tripleColumn : .doubleColumn)
        }
    }
}

/// A column of a split controller, in the order of the columns.
package enum SplitColumn: String, Hashable, Sendable, CaseIterable {
    case primary
    case supplementary
    case secondary
}

extension SplitColumn: Comparable {
    /// Those that stand on the stack of the primary one, or are set aside, while the split is collapsed.
    static let beside = allCases.dropFirst()

    private var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (left: SplitColumn, right: SplitColumn) -> Bool { left.index < right.index }
}

/// How many columns a split controller has: UIKit's `UISplitViewController.Style`.
package enum SplitStyle: String, Hashable, Sendable, CaseIterable {
    case doubleColumn
    case tripleColumn
}

/// The columns of a collapsed split that stand on the stack of its primary column.
package struct PushedColumns: Hashable, Sendable {
    package var supplementary: ControllerID?
    package var secondary: ControllerID?

    package init(supplementary: ControllerID? = nil, secondary: ControllerID? = nil) {
        self.supplementary = supplementary
        self.secondary = secondary
    }

    package var isEmpty: Bool { supplementary == nil && secondary == nil }

    /// The ids, in the order of the columns.
    package var all: [ControllerID] { [supplementary, secondary].compactMap(\.self) }

    /// The column that a controller of the stack is.
    package func column(of controller: ControllerID) -> SplitColumn? {
        if controller == secondary { return .secondary }
        return controller == supplementary ? .supplementary : nil
    }

    package subscript(column: SplitColumn) -> ControllerID? {
        get {
            switch column {
            case .primary: nil
            case .supplementary: supplementary
            case .secondary: secondary
            }
        }
        set {
            switch column {
            case .primary: preconditionFailure("the primary column stands on no stack of its own")
            case .supplementary: supplementary = newValue
            case .secondary: secondary = newValue
            }
        }
    }
}

extension Controller {
    package var kind: ControllerKind {
        switch content {
        case .view: .view
        case .navigation: .navigation
        case .tabs: .tabs
        case .split: .split
        }
    }

    /// The children in order: the stack from its root, the tabs, or the columns from the primary to the secondary.
    package var children: [ControllerID] {
        switch content {
        case .view: []
        case .navigation(let stack): stack
        case .tabs(let tabs, _): tabs
        case .split(let columns): columns.all
        }
    }

    /// The children, and then the presented controller.
    package var below: [ControllerID] {
        presented.map { children + [$0] } ?? children
    }

    /// The children that it shows while it is visible itself.
    package var shown: [ControllerID] {
        switch content {
        case .view: []
        case .navigation(let stack): stack.suffix(1)
        case .tabs(let tabs, let selected): tabs.isEmpty ? [] : [tabs[selected]]
        case .split(let columns): columns.isCollapsed ? [columns.primary] : columns.all
        }
    }

    func shows(_ child: ControllerID) -> Bool {
        switch content {
        case .view: false
        case .navigation(let stack): stack.last == child
        case .tabs(let tabs, let selected): !tabs.isEmpty && tabs[selected] == child
        case .split(let columns): child == columns.primary || !columns.isCollapsed
        }
    }
}

extension Controller.Columns {
    /// The children of the split, from the primary to the secondary.
    package var all: [ControllerID] {
        [primary, supplementary, secondary].compactMap(\.self)
    }

    /// The child of the split that is a column; `nil` if the column is empty or pushed.
    package subscript(column: SplitColumn) -> ControllerID? {
        switch column {
        case .primary: primary
        case .supplementary: supplementary
        case .secondary: secondary
        }
    }

    /// The controller that is a column, wherever it is; `nil` if the column is empty.
    func occupant(of column: SplitColumn) -> ControllerID? { self[column] ?? pushed[column] }

    /// The column that a child of the split is.
    package func column(of child: ControllerID) -> SplitColumn? {
        SplitColumn.allCases.first { self[$0] == child }
    }

    /// Whether its style has a column, which may be empty.
    func has(_ column: SplitColumn) -> Bool { column != .supplementary || style == .tripleColumn }

    /// The oldest rules that know it: the first ones have no style, and do not know which columns are pushed.
    var neededRules: Rules {
        (style == .tripleColumn) == (supplementary != nil) && pushed.isEmpty ? .first : .second
    }
}

/// The kinds of controllers.
package enum ControllerKind: String, Hashable, Sendable, CaseIterable {
    case view
    case navigation
    case tabs
    case split
}

/// How a controller is presented: UIKit's `UIModalPresentationStyle`.
package enum PresentationStyle: String, Hashable, Sendable, CaseIterable {
    case fullScreen
    case overFullScreen
    case pageSheet
    case formSheet
    case popover
    case currentContext
    case overCurrentContext

    /// True for a presentation by the first controller, from the presenter upwards, that defines a presentation
    /// context; otherwise the topmost controller of the layer presents.
    package var seeksContext: Bool {
        switch self {
        case .currentContext, .overCurrentContext: true
        case .fullScreen, .overFullScreen, .pageSheet, .formSheet, .popover: false
        }
    }

    /// Whether the presented controller hides the one that presents it.
    package var coversPresenter: Bool {
        switch self {
        case .fullScreen, .currentContext: true
        case .overFullScreen, .pageSheet, .formSheet, .popover, .overCurrentContext: false
        }
    }
}
