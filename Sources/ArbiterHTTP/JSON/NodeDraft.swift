internal import ArbiterCore

/// A node whose members are being read, in any order.
struct NodeDraft {
    private var id: ControllerID?
    private var kind = ControllerKind.view
    private var children: [ControllerID] = []
    private var selected = 0
    private var primary: ControllerID?
    private var secondary: ControllerID?
    private var supplementary: ControllerID?
    private var isCollapsed = false
    /// Read as text, because other kinds do not have it.
    private var style: String?
    private var pushed = PushedColumns()
    private var presented: ControllerID?
    private var presentationStyle = PresentationStyle.fullScreen
    /// If the member is missing, UIKit's default for the kind applies.
    private var definesPresentationContext: Bool?
    private var introTransitionType: TransitionTypeName?

    /// The names of the members that have been read.
    private var seen = MemberNames()
    /// The member that will hold the node which is being read within this one.
    private var place: Place?

    /// The members that contain nodes.
    private enum Place: String {
        case children
        case primary
        case secondary
        case supplementary
        case presented
    }

    /// Reads up to the next node within this one, which the caller reads.
    ///
    /// - Returns: the field of that node; `nil` at the end of this node.
    mutating func readOn(from reader: inout JSONReader) throws(Problem) -> String? {
        while true {
            if place == .children {
                if let element = try reader.nextElement(children.count) { return element }
                reader.leave()
                place = nil
            }
            guard let field = try reader.nextMember(&seen) else { return nil }
            switch field {
            case "id": id = try reader.name(field)
            case "kind": kind = try reader.word(field)
            case "selected": selected = try reader.integer(field, in: 0 ... .max)
            case "collapsed": isCollapsed = try reader.boolean(field)
            case "style": style = try reader.string(field)
            case "pushed": pushed = try reader.pushedColumns(field)
            case "presentationStyle": presentationStyle = try reader.word(field)
            case "definesPresentationContext": definesPresentationContext = try reader.boolean(field)
            case "introTransitionType": introTransitionType = try reader.name(field)
            default:
                place = Place(rawValue: field)
                guard let place else { throw reader.unknown(field) }
                guard place == .children else { return field }
                try reader.openArray(field)
            }
        }
    }

    /// Stores a node that has been read completely in the member that contains it.
    mutating func take(_ finished: ControllerID) {
        switch place {
        case .children: children.append(finished)
        case .primary: primary = finished
        case .secondary: secondary = finished
        case .supplementary: supplementary = finished
        case .presented: presented = finished
        case nil: preconditionFailure("the node \(finished) was read, but no member expects it")
        }
    }

    /// The controller with the members that have been read.
    ///
    /// - Throws: a problem if a member is missing, or if this kind of controller does not have it.
    func controller(_ reader: JSONReader) throws(Problem) -> Controller {
        guard let id else { throw reader.missing("id") }
        for field in seen where !kind.fields.contains(field) {
            let name = reader.name(of: field)
            throw Problem(
                .unknownField, "There is no field \(quoted(name)) in a controller of kind \(kind.rawValue).",
                field: name)
        }
        return Controller(
            id: id, content: try content(reader), presented: presented, presentationStyle: presentationStyle,
            definesPresentationContext: definesPresentationContext ?? kind.definesPresentationContext,
            introTransitionType: introTransitionType)
    }

    private func content(_ reader: JSONReader) throws(Problem) -> Controller.Content {
        switch kind {
        case .view: return .view
        case .navigation: return .navigation(children)
        case .tabs:
            guard selected < max(children.count, 1) else {
                throw reader.invalid("selected", "must be less than the number of children, which is \(children.count)")
            }
            return .tabs(children, selected: selected)
        case .split:
            guard let primary else { throw reader.missing("primary") }
            let style: SplitStyle? =
                if let style { try SplitStyle(style, field: reader.name(of: "style")) } else { nil }
            return .split(
                Controller.Columns(
                    primary: primary, secondary: secondary, supplementary: supplementary, isCollapsed: isCollapsed,
                    style: style, pushed: pushed))
        }
    }
}

extension JSONReader {
    /// Reads the columns of a split that stand on its primary's stack: `{"supplementary": "list", "secondary": "mail"}`.
    fileprivate mutating func pushedColumns(_ field: String) throws(Problem) -> PushedColumns {
        try openObject(field)
        var pushed = PushedColumns()
        var seen = MemberNames()
        while let member = try nextMember(&seen) {
            switch member {
            case "supplementary": pushed.supplementary = try name(member)
            case "secondary": pushed.secondary = try name(member)
            default: throw unknown(member)
            }
        }
        leave()
        return pushed
    }
}

extension ControllerKind {
    /// Whether a controller of this kind defines a presentation context if its node does not say so.
    ///
    /// In UIKit a navigation controller does, see `definesPresentationContext`.
    var definesPresentationContext: Bool { self == .navigation }

    /// The members that a node of this kind may have.
    fileprivate var fields: Set<String> {
        switch self {
        case .view: Self.commonFields
        case .navigation: Self.navigationFields
        case .tabs: Self.tabsFields
        case .split: Self.splitFields
        }
    }

    private static let commonFields: Set = [
        "id", "kind", "presented", "presentationStyle", "definesPresentationContext", "introTransitionType",
    ]
    private static let navigationFields = commonFields.union(["children"])
    private static let tabsFields = commonFields.union(["children", "selected"])
    private static let splitFields = commonFields.union([
        "primary", "secondary", "supplementary", "style", "collapsed", "pushed",
    ])
}
