/// A controller of a scene, with everything below it.
public struct HierarchyNode: Hashable, Sendable, Identifiable {
    /// The id of the controller, unique in its scene.
    public let id: String
    /// `view`, `navigation`, `tabs` or `split`.
    public let kind: String
    /// The stack of a navigation from its root, or the tabs.
    public internal(set) var children: [HierarchyNode]
    /// The `primary`, `secondary` and `supplementary` column of a split.
    public internal(set) var columns: [String: HierarchyNode]
    /// What it presents.
    public var presented: HierarchyNode? {
        get { modal.first }
        set { modal = newValue.map { [$0] } ?? [] }
    }
    /// Its other members, as the wire has them, for example `presentationStyle`.
    public internal(set) var members: [String: JSONValue]
    // A structure cannot contain itself, but an array of it.
    private var modal: [HierarchyNode]

    /// The index of the selected tab, from 0; `nil` if it has no tabs.
    public var selected: Int? { members["selected"]?.number.map { Int($0) } }

    /// Whether a split shows only its primary column.
    public var isCollapsed: Bool { members["collapsed"]?.bool ?? false }

    /// The ids of the columns of a collapsed split that are on the stack of its primary column, by the names of the columns.
    public var pushed: [String: String] { members["pushed"]?.object?.compactMapValues(\.string) ?? [:] }

    /// A controller as the wire has it; `nil` if it is none.
    public init?(_ document: JSONValue) {
        guard var members = document.object, let id = members.removeValue(forKey: "id")?.string else { return nil }
        self.id = id
        kind = members.removeValue(forKey: "kind")?.string ?? "view"
        children = (members.removeValue(forKey: "children")?.array ?? []).compactMap { HierarchyNode($0) }
        columns = [:]
        for column in Self.columnNames {
            if let node = members.removeValue(forKey: column) { columns[column] = HierarchyNode(node) }
        }
        modal = members.removeValue(forKey: "presented").flatMap { HierarchyNode($0) }.map { [$0] } ?? []
        self.members = members
    }

    static let columnNames = ["primary", "supplementary", "secondary"]

    /// The controller as the wire has it.
    public var document: JSONValue {
        var members = members
        (members["id"], members["kind"]) = (.string(id), .string(kind))
        if ["navigation", "tabs"].contains(kind) { members["children"] = .array(children.map(\.document)) }
        for (column, node) in columns { members[column] = node.document }
        members["presented"] = presented?.document
        return .object(members)
    }

    /// The nodes directly below it: its children or columns, and what it presents.
    public var below: [HierarchyNode] {
        children + Self.columnNames.compactMap { columns[$0] } + modal
    }

    /// Its id, and those of all below it.
    var ids: [String] { [id] + below.flatMap(\.ids) }

    /// The node with this id, here or below.
    public func node(_ id: String) -> HierarchyNode? {
        if self.id == id { return self }
        for node in below {
            if let found = node.node(id) { return found }
        }
        return nil
    }

    /// Changes the node with this id, here or below.
    ///
    /// - Returns: whether there is one.
    mutating func change(_ id: String, _ body: (inout HierarchyNode) -> Void) -> Bool {
        if self.id == id {
            body(&self)
            return true
        }
        for index in children.indices where children[index].change(id, body) { return true }
        for column in Self.columnNames where columns[column]?.change(id, body) == true { return true }
        for index in modal.indices where modal[index].change(id, body) { return true }
        return false
    }

    /// Takes out the node with this id, which is below.
    mutating func take(_ id: String) -> HierarchyNode? {
        if let index = children.firstIndex(where: { $0.id == id }) { return children.remove(at: index) }
        if let column = columns.first(where: { $0.value.id == id })?.key { return columns.removeValue(forKey: column) }
        if let node = presented, node.id == id {
            presented = nil
            return node
        }
        for index in children.indices {
            if let node = children[index].take(id) { return node }
        }
        for column in Self.columnNames {
            if let node = columns[column]?.take(id) { return node }
        }
        return modal.isEmpty ? nil : modal[0].take(id)
    }
}
