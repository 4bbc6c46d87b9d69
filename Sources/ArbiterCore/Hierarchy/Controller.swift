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
        case split(Columns)
    }

    /// The columns of a split controller.
    package struct Columns: Hashable, Sendable {
        package internal(set) var primary: ControllerID
        /// `nil` if it moved to the primary column's stack when the split collapsed, or if there is none yet.
        package internal(set) var secondary: ControllerID?
        package internal(set) var supplementary: ControllerID?
        /// If true, only the primary column is shown.
        package internal(set) var isCollapsed: Bool

        package init(
            primary: ControllerID, secondary: ControllerID?, supplementary: ControllerID? = nil,
            isCollapsed: Bool = false
        ) {
            self.primary = primary
            self.secondary = secondary
            self.supplementary = supplementary
            self.isCollapsed = isCollapsed
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
    /// The existing columns, from the primary to the secondary.
    package var all: [ControllerID] {
        [primary, supplementary, secondary].compactMap(\.self)
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
