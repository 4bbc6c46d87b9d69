import Foundation
import Testing

@testable import ArbiterClient

/// The hierarchy that a client keeps by the changes of `hierarchy.changed`.
struct HierarchyTests {
    private let first = Hierarchy(scene: [
        "revision": 4,
        "hierarchy": [
            "id": "tabs", "kind": "tabs", "selected": 0,
            "children": [
                ["id": "nav", "kind": "navigation", "children": [["id": "list", "kind": "view"]]],
                ["id": "split", "kind": "split", "primary": ["id": "menu", "kind": "view"]],
            ],
        ],
    ])

    private func applying(_ changes: JSONValue...) throws -> Hierarchy {
        var hierarchy = first
        try hierarchy.apply(changed: ["revision": 5, "changes": .array(changes)])
        #expect(hierarchy.revision == 5)
        return hierarchy
    }

    private func ids(_ hierarchy: Hierarchy, in id: String) -> [String]? { hierarchy[id]?.children.map(\.id) }

    @Test func `a tree reads back as the wire has it`() throws {
        let document = try #require(first.root?.document)
        #expect(HierarchyNode(document) == first.root)
        #expect(first["split"]?.columns["primary"]?.id == "menu")
        #expect(first["absent"] == nil)
    }

    @Test(arguments: [
        ("top", "nav", ["list", "editor"]), ("tab", "tabs", ["nav", "split", "editor"]),
    ]) func `a controller comes to the end of its container`(place: String, parent: String, children: [String]) throws {
        let hierarchy = try applying([
            "type": "insert", "controller": ["id": "editor", "kind": "view"],
            "place": ["type": .string(place), "parent": .string(parent)],
        ])
        #expect(ids(hierarchy, in: parent) == children)
    }

    @Test func `a presentation comes and goes`() throws {
        let insert: JSONValue = [
            "type": "insert", "controller": ["id": "alert", "kind": "view", "presentationStyle": "pageSheet"],
            "place": ["type": "presented", "parent": "list"],
        ]
        let presented = try applying(insert)
        #expect(presented["list"]?.presented?.members["presentationStyle"] == "pageSheet")
        #expect(try applying(insert, ["type": "remove", "id": "alert"]).root == first.root)
    }

    @Test func `a subtree moves whole`() throws {
        let hierarchy = try applying([
            "type": "move", "id": "nav", "place": ["type": "secondary", "parent": "split"],
        ])
        #expect(ids(hierarchy, in: "tabs") == ["split"])
        #expect(hierarchy["split"]?.columns["secondary"]?.children.map(\.id) == ["list"])
    }

    @Test func `the root is replaced, and the tree emptied`() throws {
        #expect(try applying(["type": "replace", "root": ["id": "new", "kind": "view"]]).root?.id == "new")
        #expect(try applying(["type": "replace"]).root == nil)
        let rooted = try applying(
            ["type": "remove", "id": "tabs"],
            ["type": "insert", "controller": ["id": "new", "kind": "view"], "place": ["type": "root"]])
        #expect(rooted.root?.document == ["id": "new", "kind": "view"])
    }

    @Test func `tabs are selected and arranged, splits collapse and expand`() throws {
        #expect(try applying(["type": "select", "id": "tabs", "selected": 1])["tabs"]?.selected == 1)
        let arranged = try applying([
            "type": "arrange", "id": "tabs", "children": ["split", "nav"], "selected": 1,
        ])
        #expect(ids(arranged, in: "tabs") == ["split", "nav"])
        #expect(arranged["tabs"]?.selected == 1)
        #expect(try applying(["type": "collapse", "id": "split"])["split"]?.isCollapsed == true)
        #expect(try applying(["type": "expand", "id": "split"])["split"]?.isCollapsed == false)
    }

    @Test(
        arguments: [
            ["type": "turn", "id": "nav"], ["type": "remove", "id": "absent"], ["type": "select", "id": "absent"],
            ["type": "insert", "place": ["type": "top", "parent": "nav"]],
            ["type": "insert", "controller": ["id": "x"], "place": ["type": "corner", "parent": "nav"]],
            ["type": "insert", "controller": ["id": "x"], "place": ["type": "top", "parent": "absent"]],
            ["type": "arrange", "id": "tabs", "children": ["nav", "nav"]],
        ] as [JSONValue]) func `what cannot be applied is refused`(change: JSONValue)
    {
        #expect(throws: Hierarchy.NotApplicable.self) { try applying(change) }
    }

    @Test(
        arguments: [
            // Its id is there, at the top, below and as the root.
            ["id": "list"], ["id": "menu", "kind": "view"], ["id": "tabs"],
            // One of those below it is there, or two of them are the same.
            ["id": "x", "kind": "navigation", "children": [["id": "list"]]],
            ["id": "x", "kind": "view", "presented": ["id": "menu"]],
            ["id": "x", "kind": "navigation", "children": [["id": "y"], ["id": "y"]]],
            ["id": "x", "kind": "navigation", "children": [["id": "x"]]],
            // It is no controller.
            ["kind": "view"], "x", .null,
        ] as [JSONValue]) func `no id comes twice`(controller: JSONValue)
    {
        let insert: JSONValue = [
            "type": "insert", "controller": controller, "place": ["type": "top", "parent": "nav"],
        ]
        #expect(throws: Hierarchy.NotApplicable.self) { try applying(insert) }
    }

    @Test(
        arguments: [
            // Somebody is there.
            ["type": "root"], ["type": "primary", "parent": "split"],
            // The parent has no such place, or is not there.
            ["type": "top", "parent": "tabs"], ["type": "tab", "parent": "nav"], ["type": "top", "parent": "list"],
            ["type": "primary", "parent": "nav"], ["type": "presented", "parent": "absent"],
            ["type": "secondary", "parent": "absent"], ["type": "presented"], ["parent": "nav"], .null,
        ] as [JSONValue]) func `a place that is taken or not there takes nobody`(place: JSONValue)
    {
        let insert: JSONValue = ["type": "insert", "controller": ["id": "x", "kind": "view"], "place": place]
        #expect(throws: Hierarchy.NotApplicable.self) { try applying(insert) }
        let move: JSONValue = ["type": "move", "id": "list", "place": place]
        #expect(throws: Hierarchy.NotApplicable.self) { try applying(move) }
    }

    @Test func `a second presentation, a subtree into itself and the root out of nothing are refused`() throws {
        func presenting(_ id: String) -> JSONValue {
            ["type": "insert", "controller": ["id": .string(id)], "place": ["type": "presented", "parent": "list"]]
        }
        #expect(throws: Hierarchy.NotApplicable.self) { try applying(presenting("a"), presenting("b")) }
        #expect(throws: Hierarchy.NotApplicable.self) {
            try applying(["type": "move", "id": "nav", "place": ["type": "top", "parent": "nav"]])
        }
        #expect(throws: Hierarchy.NotApplicable.self) {
            try applying(["type": "remove", "id": "tabs"], ["type": "select", "id": "tabs", "selected": 0])
        }
        // What was taken out leaves its place.
        let moved = try applying(
            ["type": "remove", "id": "menu"],
            ["type": "insert", "controller": ["id": "new"], "place": ["type": "primary", "parent": "split"]])
        #expect(moved["split"]?.columns["primary"]?.id == "new")
    }
}
