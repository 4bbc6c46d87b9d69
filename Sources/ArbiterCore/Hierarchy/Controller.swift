/// A node of a hierarchy: one view controller.
package struct Controller: Hashable, Sendable {
    package let id: ControllerID
    package internal(set) var content: Content
    /// What it really presents.
    package internal(set) var presented: ControllerID?
    /// How it is presented, where it is.
    package let presentationStyle: PresentationStyle
    /// Whether `currentContext` presentations of what is at it or below are its own to present.
    package let definesPresentationContext: Bool
    /// The type of the transition that brought it in, which a pop or dismiss uses again.
    package internal(set) var introTransitionType: TransitionTypeName?
    /// The container it is in, or the controller that really presents it; `nil` at the top.
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

    /// What a controller of each kind has in it.
    package enum Content: Hashable, Sendable {
        /// Nothing.
        case view
        /// A stack, of which the last is the top; only before its first push is it empty.
        case navigation([ControllerID])
        /// An ordered list, of which one is selected unless it is empty.
        case tabs([ControllerID], selected: Int)
        case split(Columns)
    }

    /// The columns of a split controller.
    package struct Columns: Hashable, Sendable {
        package internal(set) var primary: ControllerID
        package internal(set) var secondary: ControllerID
        package internal(set) var supplementary: ControllerID?
        /// Only the primary is shown.
        package let isCollapsed: Bool

        package init(
            primary: ControllerID, secondary: ControllerID, supplementary: ControllerID? = nil,
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

    /// What is in it, in order: the stack from its root, the tabs, or the columns from the primary to the secondary.
    package var children: [ControllerID] {
        switch content {
        case .view: []
        case .navigation(let stack): stack
        case .tabs(let tabs, _): tabs
        case .split(let columns): columns.all
        }
    }

    /// What is in it, and then what it presents.
    package var below: [ControllerID] {
        presented.map { children + [$0] } ?? children
    }

    /// Those of its children that it shows, as long as it is itself in view.
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
    /// The columns that are there, from the primary to the secondary.
    package var all: [ControllerID] {
        supplementary.map { [primary, $0, secondary] } ?? [primary, secondary]
    }
}

/// The name of what a controller can be.
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

    /// Whether the first one at or above the presenter that defines a presentation context presents, not the layer's
    /// topmost.
    package var seeksContext: Bool {
        switch self {
        case .currentContext, .overCurrentContext: true
        case .fullScreen, .overFullScreen, .pageSheet, .formSheet, .popover: false
        }
    }

    /// Whether what it is presented over is not visible any more.
    package var coversPresenter: Bool {
        switch self {
        case .fullScreen, .currentContext: true
        case .overFullScreen, .pageSheet, .formSheet, .popover, .overCurrentContext: false
        }
    }
}
