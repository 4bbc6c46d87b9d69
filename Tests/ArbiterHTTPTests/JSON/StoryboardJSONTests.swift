import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

struct StoryboardJSONTests {
    @Test func `a storyboard of which nothing is said is empty, and says its defaults`() throws {
        let storyboard = try Storyboard(json: Array("{}".utf8))
        #expect(storyboard == .empty)
        #expect(
            String(decoding: storyboard.json, as: UTF8.self) == #"{"segues":[],"transitionTypes":[],"#
                + #""defaults":{"duration":0.35,"curve":"easeInOut","leaseSeconds":10,"scope":"scene"}}"#)
        #expect(try Storyboard(json: storyboard.json) == storyboard)
    }

    @Test func `a storyboard is written as it was read`() throws {
        let json =
            #"{"root":{"id":"n","kind":"navigation","children":[{"id":"a","kind":"view"}]},"#
            + #""segues":[{"identifier":"go on","source":"a","kind":"show","destination":{"id":"b","kind":"view"}},"#
            + #"{"identifier":"back","source":"b","kind":"unwind","destination":{"id":"a","kind":"view"}}],"#
            + #""transitionTypes":[{"name":"star","duration":1.000000001,"curve":"linear"},{"name":"plain"}],"#
            + #""defaults":{"duration":0.2,"curve":"easeOut","leaseSeconds":2.5,"scope":"operation"}}"#
        let storyboard = try Storyboard(json: Array(json.utf8))
        #expect(String(decoding: storyboard.json, as: UTF8.self) == json)
        #expect(storyboard.hierarchy.count == 2)
        #expect(storyboard.segues.map(\.kind) == [.show, .unwind])
        #expect(storyboard.transitionTypes.map(\.duration) == [.nanoseconds(1_000_000_001), nil])
        #expect(storyboard.defaults.lease == .milliseconds(2500))
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `any storyboard comes back as it was`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let storyboard = try Storyboard.random(using: &random)
        let again = try Storyboard(json: storyboard.json)
        #expect(again.hierarchy == storyboard.hierarchy, "seed \(seed)")
        #expect(again.segues == storyboard.segues, "seed \(seed)")
        #expect(again.transitionTypes == storyboard.transitionTypes, "seed \(seed)")
        #expect(again.defaults == storyboard.defaults, "seed \(seed)")
        #expect(again == storyboard, "seed \(seed)")
        #expect((try? JSON(storyboard.json)) != nil, "seed \(seed)")
    }

    private static let segue = #""source":"a","kind":"show","destination":"b""#

    @Test(arguments: [
        Refusal("", .malformedJSON), Refusal("[]", .malformedJSON), Refusal(#"{"name":"x"}"#, .unknownField, "name"),
        Refusal(#"{"root":null}"#, .invalidField, "root"), Refusal(#"{"root":{}}"#, .missingField, "root.id"),
        Refusal(#"{"root":"a","root":"a"}"#, .invalidField, "root"),
        Refusal(
            #"{"root":{"id":"t","kind":"tabs","children":["a","b",{"id":"c","kind":1}]}}"#, .invalidField,
            "root.children[2].kind"),
        Refusal(#"{"segues":{}}"#, .invalidField, "segues"), Refusal(#"{"segues":["go"]}"#, .invalidField, "segues[0]"),
        Refusal(#"{"segues":[{\#(segue)}]}"#, .missingField, "segues[0].identifier"),
        Refusal(#"{"segues":[{"identifier":"go"}]}"#, .missingField, "segues[0].source"),
        Refusal(#"{"segues":[{"identifier":"go","source":"a"}]}"#, .missingField, "segues[0].kind"),
        Refusal(
            #"{"segues":[{"identifier":"go","source":"a","kind":"show"}]}"#, .missingField, "segues[0].destination"),
        Refusal(#"{"segues":[{"identifier":"go","kind":"push"}]}"#, .invalidField, "segues[0].kind"),
        Refusal(#"{"segues":[{"identifier":"go","to":"b"}]}"#, .unknownField, "segues[0].to"),
        Refusal(
            #"{"segues":[{"identifier":"go","destination":{"id":"b","x":1}}]}"#, .unknownField,
            "segues[0].destination.x"),
        Refusal(
            #"{"segues":[{"identifier":"go",\#(segue)},{"identifier":"on",\#(segue)},{"identifier":"go",\#(segue)}]}"#,
            .invalidField, "segues[2].identifier"),
        Refusal(#"{"transitionTypes":{"name":"x"}}"#, .invalidField, "transitionTypes"),
        Refusal(#"{"transitionTypes":[{}]}"#, .missingField, "transitionTypes[0].name"),
        Refusal(#"{"transitionTypes":[{"name":"x","duration":-1}]}"#, .invalidField, "transitionTypes[0].duration"),
        Refusal(#"{"transitionTypes":[{"name":"x","curve":"x"}]}"#, .invalidField, "transitionTypes[0].curve"),
        Refusal(#"{"transitionTypes":[{"name":"x","speed":1}]}"#, .unknownField, "transitionTypes[0].speed"),
        Refusal(#"{"transitionTypes":[{"name":"x"},{"name":"x"}]}"#, .invalidField, "transitionTypes[1].name"),
        Refusal(#"{"defaults":[]}"#, .invalidField, "defaults"),
        Refusal(#"{"defaults":{"duration":"1"}}"#, .invalidField, "defaults.duration"),
        Refusal(#"{"defaults":{"curve":"x"}}"#, .invalidField, "defaults.curve"),
        Refusal(#"{"defaults":{"leaseSeconds":0}}"#, .invalidField, "defaults.leaseSeconds"),
        Refusal(#"{"defaults":{"leaseSeconds":301}}"#, .invalidField, "defaults.leaseSeconds"),
        Refusal(#"{"defaults":{"scope":["a"]}}"#, .invalidField, "defaults.scope"),
        Refusal(#"{"defaults":{"scope":"all"}}"#, .invalidField, "defaults.scope"),
        Refusal(#"{"defaults":{"lease":1}}"#, .unknownField, "defaults.lease"),
        Refusal(#"{"defaults":{}} x"#, .malformedJSON),
    ])
    func `a storyboard that is none is refused by the name of what is wrong`(refusal: Refusal) {
        let problem = #expect(throws: Problem.self) { try Storyboard(json: refusal.bytes) }
        #expect(problem?.code == refusal.code)
        #expect(problem?.field == refusal.field)
    }

    @Test func `a storyboard has so many segues and types, and none more`() throws {
        let types = (0...Limits.transitionTypes).map { #"{"name":"t\#($0)"}"# }
        let segues = (0...Limits.segues).map { #"{"identifier":"s\#($0)",\#(Self.segue)}"# }
        let full =
            #"{"transitionTypes":[\#(types.dropLast().joined(separator: ","))],"#
            + #""segues":[\#(segues.dropLast().joined(separator: ","))]}"#
        #expect(try Storyboard(json: Array(full.utf8)).segues.count == Limits.segues)
        for (field, elements) in [("transitionTypes", types), ("segues", segues)] {
            let problem = #expect(throws: Problem.self) {
                try Storyboard(json: Array(#"{"\#(field)":[\#(elements.joined(separator: ","))]}"#.utf8))
            }
            #expect(problem?.code == .invalidField)
            #expect(problem?.field == field)
        }
    }

    @Test func `the controllers of all destinations are counted together`() {
        let half = (0..<Limits.controllers / 2).map { #""c\#($0)""# }.joined(separator: ",")
        let destination = #"{"id":"t","kind":"tabs","children":[\#(half)]}"#
        let segues = (0..<2).map {
            #"{"identifier":"s\#($0)","source":"a","kind":"show","destination":\#(destination)}"#
        }
        let problem = #expect(throws: Problem.self) {
            try Storyboard(json: Array(#"{"segues":[\#(segues.joined(separator: ","))]}"#.utf8))
        }
        #expect(problem?.field == "segues[1].destination")
    }
}
