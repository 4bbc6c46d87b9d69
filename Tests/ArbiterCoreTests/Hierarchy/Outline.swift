@testable import ArbiterCore

// Hierarchies in one line, to read and to write:
//
//     home                 a view
//     nav[home detail]     a navigation and its stack, the top last
//     tabs{first *second}  tabs, the selected one starred
//     split(one|two)       a split: primary, (supplementary,) secondary
//     split(one|two)^      the same, collapsed
//     split(nav[one two])^ a split without a secondary column
//     split(one||two)      a split of three columns without a supplementary one
//     split(nav[&s +two])^ a collapsed split with both columns pushed: the supplementary one, and the secondary one
//     home>login           home presents login with `fullScreen`
//     home~>sheet          with `pageSheet`, which leaves home in view
//     home@>inner          with `currentContext`
//     home~@>inner         with `overCurrentContext`
//     home!                home defines a presentation context
//     ~>sheet              a controller to present with `pageSheet`

/// A controller id that is known to be valid.
func id(_ text: String) -> ControllerID {
    guard let id = ControllerID(text) else { preconditionFailure("\"\(text)\" is no controller id") }
    return id
}

func ids(_ text: String) -> [ControllerID] {
    text.split(separator: " ").map { id(String($0)) }
}

extension Hierarchy {
    /// - Throws: `HierarchyFault` if the outline is not a valid hierarchy.
    static func outlined(_ outline: String) throws(HierarchyFault) -> Hierarchy {
        guard !outline.isEmpty else { return Hierarchy() }
        var reader = OutlineReader(outline)
        let root = reader.readTop()
        return try Hierarchy(root: root, controllers: reader.controllers)
    }

    var outline: String {
        root.map { outline(of: $0) } ?? ""
    }

    private func outline(of id: ControllerID) -> String {
        guard let controller = self[id] else { return "?\(id)?" }
        let children = controller.children.map { (mark(of: $0, on: controller) ?? "") + outline(of: $0) }
        var text = "\(id)\(controller.definesPresentationContext ? "!" : "")"
        switch controller.content {
        case .view: break
        case .navigation: text += "[\(children.joined(separator: " "))]"
        case .tabs(_, let selected):
            let marked = children.enumerated().map { $0 == selected ? "*\($1)" : $1 }
            text += "{\(marked.joined(separator: " "))}"
        case .split(let columns):
            let hasThree =
                columns.style == .tripleColumn
                && (columns.supplementary != nil || columns.pushed.supplementary == nil || columns.secondary != nil)
            let others =
                (hasThree ? [columns.supplementary] : [])
                + (hasThree || columns.secondary != nil ? [columns.secondary] : [])
            text += "(\(children[0])" + others.map { "|" + ($0.map { outline(of: $0) } ?? "") }.joined() + ")"
            if columns.isCollapsed { text += "^" }
        }
        guard let presented = controller.presented.flatMap({ self[$0] }) else { return text }
        return text + presented.presentationStyle.arrow + outline(of: presented.id)
    }
}

extension Hierarchy {
    /// Which column a controller on a stack is.
    private func mark(of child: ControllerID, on navigation: Controller) -> String? {
        switch splitWithColumns(on: navigation.id)?.columns.pushed.column(of: child) {
        case .supplementary: "&"
        case .secondary: "+"
        case .primary, nil: nil
        }
    }
}

extension PresentationStyle {
    fileprivate var arrow: String {
        switch self {
        case .fullScreen: ">"
        case .currentContext: "@>"
        case .overCurrentContext: "~@>"
        case .overFullScreen, .pageSheet, .formSheet, .popover: "~>"
        }
    }
}

/// Reads an outline; a malformed one is a mistake in the test.
private struct OutlineReader {
    private(set) var controllers: [Controller] = []
    private var rest: Substring
    /// The columns on the stack that was read last.
    private var pushed = PushedColumns()

    init(_ outline: String) {
        rest = outline[...]
    }

    mutating func readTop() -> ControllerID {
        let top = readController(style: readArrow() ?? .fullScreen)
        precondition(rest.isEmpty, "\(rest) is left")
        return top
    }

    private mutating func readController(style: PresentationStyle) -> ControllerID {
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }
        rest.removeFirst(name.count)
        let controller = id(String(name))
        let isContext = skip("!")
        let content = readContent()
        let presented = readArrow().map { readController(style: $0) }
        controllers.append(
            Controller(
                id: controller, content: content, presented: presented, presentationStyle: style,
                definesPresentationContext: isContext))
        return controller
    }

    private mutating func readArrow() -> PresentationStyle? {
        if skip("~@>") { return .overCurrentContext }
        if skip("~>") { return .pageSheet }
        if skip("@>") { return .currentContext }
        return skip(">") ? .fullScreen : nil
    }

    private mutating func readContent() -> Controller.Content {
        if skip("[") { return .navigation(readList(until: "]").members) }
        if skip("{") {
            let (tabs, selected) = readList(until: "}")
            return .tabs(tabs, selected: selected)
        }
        return skip("(") ? .split(readColumns()) : .view
    }

    private mutating func readList(until end: String) -> (members: [ControllerID], starred: Int) {
        var members: [ControllerID] = []
        var starred = 0
        while !skip(end) {
            _ = skip(" ")
            if skip("*") { starred = members.count }
            let column: SplitColumn? = skip("&") ? .supplementary : skip("+") ? .secondary : nil
            members.append(readController(style: .fullScreen))
            if let column { pushed[column] = members.last }
        }
        return (members, starred)
    }

    private mutating func readColumns() -> Controller.Columns {
        let primary = readController(style: .fullScreen)
        let pushed = pushed
        self.pushed = PushedColumns()
        var others: [ControllerID?] = []
        while skip("|") {
            others.append(rest.hasPrefix("|") || rest.hasPrefix(")") ? nil : readController(style: .fullScreen))
        }
        precondition(skip(")") && others.count <= 2, "\(others) are no columns")
        return Controller.Columns(
            primary: primary, secondary: others.last ?? nil, supplementary: others.count == 2 ? others[0] : nil,
            isCollapsed: skip("^"), style: others.count == 2 ? .tripleColumn : nil, pushed: pushed)
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.hasPrefix(text) else { return false }
        rest.removeFirst(text.count)
        return true
    }
}
