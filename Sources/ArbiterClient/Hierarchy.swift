/// The controllers of a scene at one moment.
public struct Hierarchy: Hashable, Sendable {
    /// Grows by one with every change.
    public private(set) var revision: Int
    /// The root; `nil` if the scene has no controllers, or is deleted.
    public private(set) var root: HierarchyNode?
    /// Whether its events arrived then, so that nothing newer was known.
    ///
    /// While the daemon is gone, or something keeps the events back, the hierarchy may be an old one.
    public internal(set) var isCurrent = false

    /// Nothing, as a scene that is not there.
    static let empty = Hierarchy(revision: 0, root: nil)

    private init(revision: Int, root: HierarchyNode?) {
        self.revision = revision
        self.root = root
    }

    /// The hierarchy of a scene as `GET /scenes/{scene}` answers it.
    package init(scene: JSONValue) {
        revision = scene["revision"]?.number.map { Int($0) } ?? 0
        root = scene["hierarchy"].flatMap { HierarchyNode($0) }
    }

    /// The controller with this id; `nil` if there is none.
    public subscript(id: String) -> HierarchyNode? { root?.node(id) }

    /// A change that this client cannot apply: the daemon is newer, or the hierarchy is not the one that was changed.
    struct NotApplicable: Error {}

    /// Applies the changes of a `hierarchy.changed`.
    ///
    /// - Throws: `NotApplicable`; then this hierarchy is of no use any more.
    mutating func apply(changed event: JSONValue) throws(NotApplicable) {
        guard let next = event["revision"]?.number, let changes = event["changes"]?.array,
            // Otherwise a change is missing in between.
            Int(next) == revision + 1 || changes.first?["type"] == "replace"
        else { throw NotApplicable() }
        for change in changes { try apply(change) }
        revision = Int(next)
    }

    private mutating func apply(_ change: JSONValue) throws(NotApplicable) {
        let id = change["id"]?.string ?? ""
        switch change["type"]?.string {
        case "replace": root = change["root"].flatMap { HierarchyNode($0) }
        case "insert": try put(change["controller"].flatMap { HierarchyNode($0) }, change["place"])
        case "remove": _ = try take(id)
        case "move": try put(try take(id), change["place"])
        case "select":
            let selected = change["selected"]
            try self.change(id) { $0.members["selected"] = selected }
        case "arrange":
            let order = change["children"]?.array?.compactMap(\.string) ?? []
            guard let node = self[id], Set(order) == Set(node.children.map(\.id)), order.count == node.children.count
            else { throw NotApplicable() }
            let children = Dictionary(uniqueKeysWithValues: node.children.map { ($0.id, $0) })
            let selected = change["selected"]
            try self.change(id) {
                $0.children = order.compactMap { children[$0] }
                if let selected { $0.members["selected"] = selected }
            }
        case "collapse", "expand":
            let (isCollapsed, pushed) = (change["type"] == "collapse", change["pushed"])
            try self.change(id) {
                $0.members["collapsed"] = .bool(isCollapsed)
                $0.members["pushed"] = pushed
            }
        default: throw NotApplicable()
        }
    }

    private mutating func change(
        _ id: String, _ body: (inout HierarchyNode) -> Void
    ) throws(NotApplicable) {
        guard root?.change(id, body) == true else { throw NotApplicable() }
    }

    private mutating func take(_ id: String) throws(NotApplicable) -> HierarchyNode {
        if let whole = root, whole.id == id {
            root = nil
            return whole
        }
        guard let node = root?.take(id) else { throw NotApplicable() }
        return node
    }

    /// Puts a node where there is room, if none of its controllers is there already.
    private mutating func put(_ node: HierarchyNode?, _ place: JSONValue?) throws(NotApplicable) {
        guard let node, let type = place?["type"]?.string else { throw NotApplicable() }
        let all = node.ids + (root?.ids ?? [])
        guard Set(all).count == all.count else { throw NotApplicable() }
        let id = place?["parent"]?.string ?? ""
        let parent = self[id]
        switch type {
        case "root" where root == nil: root = node
        case "top" where parent?.kind == "navigation", "tab" where parent?.kind == "tabs":
            try change(id) { $0.children.append(node) }
        case "presented" where parent?.presented == nil: try change(id) { $0.presented = node }
        case let column
        where HierarchyNode.columnNames.contains(column) && parent?.kind == "split" && parent?.columns[column] == nil:
            try change(id) { $0.columns[column] = node }
        default: throw NotApplicable()
        }
    }
}
