@testable import ArbiterCore

// Hierarchies in one line, to read and to write:
//
//     home                 a view
//     nav[home detail]     a navigation and its stack, the top last
//     tabs{first *second}  tabs, the selected one starred
//     split(one|two)       a split: primary, (supplementary,) secondary
//     split(one|two)^      the same, collapsed
//     split(nav[one two])^ a split without a secondary column
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
        let children = controller.children.map { outline(of: $0) }
        var text = "\(id)\(controller.definesPresentationContext ? "!" : "")"
        switch controller.content {
        case .view: break
        case .navigation: text += "[\(children.joined(separator: " "))]"
        case .tabs(_, let selected):
            let marked = children.enumerated().map { $0 == selected ? "*\($1)" : $1 }
            text += "{\(marked.joined(separator: " "))}"
        case .split(let columns):
            let columnsText = children.joined(separator: "|")
            text += columns.isCollapsed ? "(\(columnsText))^" : "(\(columnsText))"
        }
        guard let presented = controller.presented.flatMap({ self[$0] }) else { return text }
        return text + presented.presentationStyle.arrow + outline(of: presented.id)
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
            members.append(readController(style: .fullScreen))
        }
        return (members, starred)
    }

    private mutating func readColumns() -> Controller.Columns {
        var columns: [ControllerID] = []
        repeat { columns.append(readController(style: .fullScreen)) } while skip("|")
        precondition(skip(")") && (1...3).contains(columns.count), "\(columns) are no columns")
        return Controller.Columns(
            primary: columns[0], secondary: columns.count == 1 ? nil : columns[columns.count - 1],
            supplementary: columns.count == 3 ? columns[1] : nil, isCollapsed: skip("^"))
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.hasPrefix(text) else { return false }
        rest.removeFirst(text.count)
        return true
    }
}
