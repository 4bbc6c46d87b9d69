import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

struct HierarchyJSONTests {
    private func node(_ json: String) throws(Problem) -> Hierarchy {
        try read(json, as: "root") { field, reader throws(Problem) in try reader.hierarchy(field) }
    }

    private func text(_ hierarchy: Hierarchy) -> String {
        written { $0.member($1, hierarchy) }
    }

    @Test(arguments: [
        (#""a""#, #"{"id":"a","kind":"view"}"#), (#"{"id":"a"}"#, #"{"id":"a","kind":"view"}"#),
        (#"{"kind":"navigation","id":"a"}"#, #"{"id":"a","kind":"navigation","children":[]}"#),
        (
            #"{"children":["b",{"id":"c","presented":"d"}],"id":"a","kind":"navigation"}"#,
            #"{"id":"a","kind":"navigation","children":[{"id":"b","kind":"view"},{"id":"c","kind":"view","#
                + #""presented":{"id":"d","kind":"view","presentationStyle":"fullScreen"}}]}"#
        ),
        (
            #"{"selected":1,"children":["b","c"],"kind":"tabs","id":"a"}"#,
            #"{"id":"a","kind":"tabs","children":[{"id":"b","kind":"view"},{"id":"c","kind":"view"}],"selected":1}"#
        ),
        (#"{"id":"a","kind":"tabs","children":[]}"#, #"{"id":"a","kind":"tabs","children":[],"selected":0}"#),
        (
            #"{"secondary":"c","primary":"b","kind":"split","id":"a"}"#,
            #"{"id":"a","kind":"split","primary":{"id":"b","kind":"view"},"secondary":{"id":"c","kind":"view"},"#
                + #""style":"doubleColumn","collapsed":false}"#
        ),
        (
            #"{"pushed":{"secondary":"d","supplementary":"c"},"collapsed":true,"id":"a","kind":"split","#
                + #""primary":{"id":"b","kind":"navigation","children":["c","d"]}}"#,
            #"{"id":"a","kind":"split","primary":{"id":"b","kind":"navigation","children":[{"id":"c","kind":"view"},"#
                + #"{"id":"d","kind":"view"}]},"style":"tripleColumn","collapsed":true,"#
                + #""pushed":{"supplementary":"c","secondary":"d"}}"#
        ),
        (
            #"{"style":"tripleColumn","id":"a","kind":"split","primary":"b"}"#,
            #"{"id":"a","kind":"split","primary":{"id":"b","kind":"view"},"style":"tripleColumn","collapsed":false}"#
        ),
        (
            #"{"id":"a","kind":"split","primary":"b","secondary":"c","supplementary":"d","collapsed":true}"#,
            #"{"id":"a","kind":"split","primary":{"id":"b","kind":"view"},"secondary":{"id":"c","kind":"view"},"#
                + #""supplementary":{"id":"d","kind":"view"},"style":"tripleColumn","collapsed":true}"#
        ),
        (
            #"{"introTransitionType":"star","definesPresentationContext":true,"presentationStyle":"popover","id":"a"}"#,
            #"{"id":"a","kind":"view","presentationStyle":"popover","definesPresentationContext":true,"#
                + #""introTransitionType":"star"}"#
        ),
        (
            #"{"id":"a","presentationStyle":"fullScreen","definesPresentationContext":false}"#,
            #"{"id":"a","kind":"view"}"#
        ),
    ])
    func `a node is written as it was read, with its members in their order`(json: String, kept: String) throws {
        let hierarchy = try node(json)
        #expect(text(hierarchy) == kept)
        #expect(try node(kept) == hierarchy)
    }

    @Test func `children keep their order, and know their parent`() throws {
        let hierarchy = try node(#"{"id":"t","kind":"tabs","children":["c","a","b"],"presented":"p"}"#)
        #expect(hierarchy.preorder.map(\.id.description) == ["t", "c", "a", "b", "p"])
        #expect(hierarchy[ControllerID(sound: "p")]?.parent == ControllerID(sound: "t"))
    }

    @Test(arguments: [
        RefusedValue("{}", .missingField, "root.id"), RefusedValue("[]", .invalidField, "root"),
        RefusedValue("null", .invalidField, "root"), RefusedValue("1", .invalidField, "root"),
        RefusedValue(#""""#, .invalidField, "root"), RefusedValue(#""a b""#, .invalidField, "root"),
        RefusedValue(#"{"id":"é"}"#, .invalidField, "root.id"), RefusedValue(#"{"id":1}"#, .invalidField, "root.id"),
        RefusedValue(#"{"id":null}"#, .invalidField, "root.id"),
        RefusedValue(#"{"id":"a","id":"a"}"#, .invalidField, "root.id"),
        RefusedValue(#"{"id":"a","kind":"window"}"#, .invalidField, "root.kind"),
        RefusedValue(#"{"id":"a","kind":null}"#, .invalidField, "root.kind"),
        RefusedValue(#"{"id":"a","style":"popover"}"#, .unknownField, "root.style"),
        RefusedValue(#"{"id":"a","parent":"b"}"#, .unknownField, "root.parent"),
        RefusedValue(#"{"id":"a","presentationStyle":"sheet"}"#, .invalidField, "root.presentationStyle"),
        RefusedValue(
            #"{"id":"a","definesPresentationContext":1}"#, .invalidField, "root.definesPresentationContext"),
        RefusedValue(#"{"id":"a","introTransitionType":""}"#, .invalidField, "root.introTransitionType"),
        RefusedValue(#"{"id":"a","children":[]}"#, .unknownField, "root.children"),
        RefusedValue(#"{"id":"a","selected":0}"#, .unknownField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"view","primary":"b"}"#, .unknownField, "root.primary"),
        RefusedValue(#"{"collapsed":false,"id":"a","kind":"tabs"}"#, .unknownField, "root.collapsed"),
        RefusedValue(#"{"selected":0,"id":"a","kind":"navigation"}"#, .unknownField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"navigation","supplementary":"b"}"#, .unknownField, "root.supplementary"),
        RefusedValue(
            #"{"id":"a","kind":"split","primary":"b","secondary":"c","children":[]}"#, .unknownField, "root.children"),
        RefusedValue(#"{"id":"a","kind":"split","secondary":"c"}"#, .missingField, "root.primary"),
        RefusedValue(#"{"id":"a","kind":"split","primary":"b","style":"wide"}"#, .invalidField, "root.style"),
        RefusedValue(
            #"{"id":"a","kind":"split","primary":"b","supplementary":"c","style":"doubleColumn"}"#, .invalidField,
            "root"),
        RefusedValue(
            #"{"id":"a","kind":"split","primary":"b","pushed":{"secondary":"c"}}"#, .invalidField, "root"),
        RefusedValue(
            #"{"id":"a","kind":"split","primary":"b","collapsed":true,"pushed":{"secondary":"c"}}"#, .invalidField,
            "root"),
        RefusedValue(
            #"{"id":"a","kind":"split","primary":"b","pushed":{"primary":"c"}}"#, .unknownField, "root.pushed.primary"),
        RefusedValue(#"{"id":"a","kind":"split","primary":"b","pushed":["c"]}"#, .invalidField, "root.pushed"),
        RefusedValue(#"{"id":"a","kind":"navigation","style":"doubleColumn"}"#, .unknownField, "root.style"),
        RefusedValue(#"{"id":"a","kind":"tabs","children":["b"],"selected":1}"#, .invalidField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"tabs","selected":1}"#, .invalidField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"tabs","children":["b"],"selected":-1}"#, .invalidField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"tabs","children":["b"],"selected":0.5}"#, .invalidField, "root.selected"),
        RefusedValue(#"{"id":"a","kind":"navigation","children":"b"}"#, .invalidField, "root.children"),
        RefusedValue(#"{"id":"a","kind":"navigation","children":["b",2]}"#, .invalidField, "root.children[1]"),
        RefusedValue(#"{"id":"a","kind":"navigation","children":["b",{}]}"#, .missingField, "root.children[1].id"),
        RefusedValue(
            #"{"id":"a","kind":"tabs","children":["b","c",{"id":"d","kind":"x"}]}"#, .invalidField,
            "root.children[2].kind"),
        RefusedValue(
            #"{"id":"a","presented":{"id":"b","presented":{"id":"c","x":1}}}"#, .unknownField,
            "root.presented.presented.x"),
        RefusedValue(#"{"id":"a","kind":"tabs","children":["b",]}"#, .malformedJSON, nil),
        RefusedValue(#"{"id":"a","kind":"tabs","children":["b"}"#, .malformedJSON, nil),
        RefusedValue(#"{"id":"a","presented":{"id":"b"}"#, .malformedJSON, nil),
        RefusedValue(#"{"id":"a","presented":}"#, .malformedJSON, nil),
    ])
    func `a node that is none is refused by the name of what is wrong`(refused: RefusedValue) {
        refused.holds(as: "root") { field, reader throws(Problem) in try reader.hierarchy(field) }
    }

    @Test(arguments: [
        (#"{"id":"a","presented":"a"}"#, #"The field "root" has the controller "a" more than once."#),
        (
            #"{"id":"t","kind":"tabs","children":["b",{"id":"c","presented":"b"}]}"#,
            #"The field "root" has the controller "b" more than once."#
        ),
        (
            #"{"id":"n","kind":"navigation","children":[{"id":"t","kind":"tabs"}]}"#,
            #"The field "root" has "t" on the stack of "n", which cannot hold a navigation, tabs or split controller, "#
                + "but for a navigation on the stack of a primary column."
        ),
    ])
    func `controllers that make no tree are refused in words`(json: String, detail: String) {
        let problem = #expect(throws: Problem.self) { try node(json) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "root")
        #expect(problem?.detail == detail)
    }

    @Test(arguments: Seeds.first(20, atNight: 200))
    func `any hierarchy comes back as it was`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<10 {
            let hierarchy = try Hierarchy.random(count: Int.random(in: 1...40, using: &random), using: &random)
            let json = text(hierarchy)
            #expect(try node(json) == hierarchy, "seed \(seed): \(json)")
            #expect((try? JSON(Array(json.utf8))) != nil, "seed \(seed): \(json)")
        }
    }

    @Test func `ten thousand controllers come back as they were, and one more is refused`() throws {
        var random = SplitMix64(seed: 1)
        let hierarchy = try Hierarchy.random(count: Limits.controllers - 4, using: &random)
        #expect(hierarchy.count > Limits.controllers - 5)
        #expect(try node(text(hierarchy)) == hierarchy)

        let children = (1..<Limits.controllers).map { #""c\#($0)""# }.joined(separator: ",")
        let full = try node(#"{"id":"t","kind":"tabs","children":[\#(children)]}"#)
        #expect(full.count == Limits.controllers)
        #expect(try node(text(full)) == full)
        // The rest is not read.
        RefusedValue(#"{"id":"t","kind":"tabs","children":[\#(children),"more","#, .invalidField, "root")
            .holds(as: "root") { field, reader throws(Problem) in try reader.hierarchy(field) }
    }

    @Test(arguments: ["presented", "children", "secondary"])
    func `a thousand levels fit on a small stack, and more are refused there`(way: String) async throws {
        func nested(_ depth: Int) -> String {
            let levels = (1..<depth).map { level in
                switch way {
                case "children": #"{"id":"c\#(level)","kind":"tabs","children":["#
                case "secondary": #"{"id":"c\#(level)","kind":"split","primary":"p\#(level)","secondary":"#
                default: #"{"id":"c\#(level)","presented":"#
                }
            }
            return levels.joined() + #""leaf""# + String(repeating: way == "children" ? "]}" : "}", count: depth - 1)
        }
        let full = nested(Limits.hierarchyDepth)
        let more = [nested(Limits.hierarchyDepth + 1), nested(100_000)]

        try await onSmallStack {
            Result {
                let hierarchy = try node(full)
                #expect(
                    hierarchy.count == Limits.hierarchyDepth * (way == "secondary" ? 2 : 1)
                        - (way == "secondary" ? 1 : 0))
                #expect(try node(text(hierarchy)) == hierarchy)
                for json in more {
                    RefusedValue(json, .invalidField, "root").holds(as: "root") { field, reader throws(Problem) in
                        try reader.hierarchy(field)
                    }
                }
            }
        }.get()
    }

    @Test func `the way to a problem far down is whole in its field, and cut in its sentence`() {
        let json = String(repeating: #"{"id":"a","presented":"#, count: 100) + "1"
        let problem = #expect(throws: Problem.self) { try node(json) }
        #expect(problem?.field == "root" + String(repeating: ".presented", count: 100))
        #expect(problem?.detail.utf8.count ?? 0 < 150)
    }

    @Test func `nothing is written of a hierarchy without a controller`() {
        #expect(JSONWriter.object { $0.member("root", Hierarchy()) } == Array("{}".utf8))
    }
}
