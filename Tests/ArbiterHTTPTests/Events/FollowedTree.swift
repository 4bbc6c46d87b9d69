import Testing

@testable import ArbiterHTTP

/// A hierarchy as a client keeps it that applies the `changes` of `hierarchy.changed`, and never asks for the tree.
///
/// Written from the description of the events alone.
struct FollowedTree {
    private var root: String?
    private var nodes: [String: Node] = [:]

    private struct Node {
        /// The members that say nothing about other controllers.
        var members: [String: JSON]
        var children: [String] = []
        var columns: [String: String] = [:]
        var presented: String?
        /// The container or the presenter.
        var parent: String?
    }

    private static let columns = ["primary", "secondary", "supplementary"]

    /// The tree as `GET` shows it.
    var json: JSON? { root.map(json) }

    /// The controllers of a kind, or all of them, in the order of their names.
    func controllers(_ kind: String? = nil) -> [String] {
        nodes.filter { kind == nil || $0.value.members["kind"]?.text == kind }.map(\.key).sorted()
    }

    private func json(of id: String) -> JSON {
        guard let node = nodes[id] else { return .null }
        var members = node.members
        if node.members["kind"] == "navigation" || node.members["kind"] == "tabs" {
            members["children"] = .array(node.children.map(json))
        }
        for (column, child) in node.columns { members[column] = json(of: child) }
        if let presented = node.presented { members["presented"] = json(of: presented) }
        return .object(members)
    }

    mutating func apply(_ change: JSON) throws {
        let id = change["id"]?.text
        switch try #require(change["type"]?.text) {
        case "replace":
            (root, nodes) = (nil, [:])
            if let tree = change["root"] { root = try add(tree, under: nil) }
        case "insert":
            let place = try #require(change["place"])
            try attach(try add(try #require(change["controller"]), under: nil), at: place)
        case "remove":
            let id = try #require(id)
            detach(id)
            remove(id)
        case "move":
            let id = try #require(id)
            detach(id)
            try attach(id, at: try #require(change["place"]))
        case "select": nodes[try #require(id)]?.members["selected"] = change["selected"]
        case "arrange":
            let id = try #require(id)
            nodes[id]?.children = try #require(change["children"]).elements.compactMap(\.text)
            if let selected = change["selected"] { nodes[id]?.members["selected"] = selected }
        case "collapse", "expand":
            let id = try #require(id)
            nodes[id]?.members["collapsed"] = .bool(change["type"] == "collapse")
            nodes[id]?.members["pushed"] = change["pushed"]
        case let other: Issue.record("\(other) is no change")
        }
    }

    /// Adds a node with everything in it.
    private mutating func add(_ tree: JSON, under parent: String?) throws -> String {
        guard case .object(var members) = tree else { throw Unreadable() }
        let id = try #require(members["id"]?.text)
        var node = Node(members: [:], parent: parent)
        node.children = try (members.removeValue(forKey: "children")?.elements ?? []).map { try add($0, under: id) }
        for column in Self.columns {
            if let child = members.removeValue(forKey: column) { node.columns[column] = try add(child, under: id) }
        }
        node.presented = try members.removeValue(forKey: "presented").map { try add($0, under: id) }
        node.members = members
        nodes[id] = node
        return id
    }

    private mutating func attach(_ id: String, at place: JSON) throws {
        let parent = place["parent"]?.text
        nodes[id]?.parent = parent
        switch try #require(place["type"]?.text) {
        case "root": root = id
        case "top", "tab": nodes[try #require(parent)]?.children.append(id)
        case "presented": nodes[try #require(parent)]?.presented = id
        case let column: nodes[try #require(parent)]?.columns[column] = id
        }
    }

    private mutating func detach(_ id: String) {
        guard let parent = nodes[id]?.parent, var node = nodes[parent] else {
            root = nil
            return
        }
        node.children.removeAll { $0 == id }
        node.columns = node.columns.filter { $0.value != id }
        if node.presented == id { node.presented = nil }
        nodes[parent] = node
    }

    private mutating func remove(_ id: String) {
        guard let node = nodes.removeValue(forKey: id) else { return }
        for below in node.children + Array(node.columns.values) + [node.presented].compactMap(\.self) { remove(below) }
    }

    private struct Unreadable: Error {}
}
