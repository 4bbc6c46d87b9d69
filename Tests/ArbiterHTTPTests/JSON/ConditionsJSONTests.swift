import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

struct ConditionsJSONTests {
    private static let a = ControllerID(sound: "a")
    private static let b = ControllerID(sound: "b")

    @Test(
        arguments: [
            (#""scene""#, .scene), (#""operation""#, .operation), (#"["a"]"#, .controllers([a])),
            (#"["a","b"]"#, .controllers([a, b])), (#"{"anyOf":["a","b"]}"#, .anyOf([a, b])),
        ] as [(String, Scope)])
    func `a scope comes back as it was`(json: String, scope: Scope) throws {
        #expect(try read(json) { field, reader throws(Problem) in try reader.scope(field) } == scope)
        #expect(written { $0.member($1, scope) } == json)
    }

    @Test(arguments: [
        RefusedValue(#""nav""#, .invalidField, "scope"), RefusedValue(#""""#, .invalidField, "scope"),
        RefusedValue("[]", .invalidField, "scope"), RefusedValue("null", .invalidField, "scope"),
        RefusedValue("{}", .missingField, "scope.anyOf"),
        RefusedValue(#"{"anyOf":["a"]}"#, .invalidField, "scope.anyOf"),
        RefusedValue(#"{"anyOf":["a","a"]}"#, .invalidField, "scope.anyOf"), RefusedValue("1", .invalidField, "scope"),
        RefusedValue(#"["a",1]"#, .invalidField, "scope[1]"), RefusedValue(#"["a b"]"#, .invalidField, "scope[0]"),
        RefusedValue(#"[["a"]]"#, .invalidField, "scope[0]"), RefusedValue(#"["a""#, .malformedJSON, nil),
        RefusedValue("[" + Array(repeating: #""a""#, count: 65).joined(separator: ",") + "]", .invalidField, "scope"),
    ])
    func `a scope that is none is refused by the name of what is wrong`(refused: RefusedValue) {
        refused.holds(as: "scope") { field, reader throws(Problem) in try reader.scope(field) }
    }

    @Test(arguments: [#""nav""#, "1"])
    func `a scope that is none is refused with the scopes that there are`(json: String) {
        let problem = #expect(throws: Problem.self) {
            try read(json, as: "scope") { field, reader throws(Problem) in try reader.scope(field) }
        }
        #expect(
            problem?.detail
                == #"The field "scope" must be "scene", "operation", a list of controller ids or names, or an object with "anyOf"."#
        )
    }

    @Test func `as many controllers as a scope may have are read`() throws {
        let json = "[" + (0..<Limits.scopeControllers).map { #""c\#($0)""# }.joined(separator: ",") + "]"
        let scope = try read(json) { field, reader throws(Problem) in try reader.scope(field) }
        #expect(written { $0.member($1, scope) } == json)
    }

    @Test(arguments: ArbiterCore.Expectation.Condition.allCases)
    func `every condition comes back as it was`(condition: ArbiterCore.Expectation.Condition) throws {
        let expectations = [
            ArbiterCore.Expectation.controller(Self.a, is: condition), .revision(Revision(rawValue: 41)),
            .controller(Self.b, is: condition, isNegated: true),
        ]
        let word = condition.rawValue
        let json =
            #"[{"controller":"a","is":"\#(word)"},{"revision":41},{"controller":"b","is":"\#(word)","not":true}]"#
        #expect(written { $0.member($1, expectations) } == json)
        #expect(try read(json) { field, reader throws(Problem) in try reader.expectations(field) } == expectations)
    }

    @Test func `one expectation needs no list`() throws {
        let json = #"{"not":false,"is":"top","controller":"b"}"#
        let read = try read(json) { field, reader throws(Problem) in try reader.expectations(field) }
        #expect(read == [.controller(Self.b, is: .top)])
    }

    @Test(arguments: [
        RefusedValue("{}", .missingField, "expect.controller"),
        RefusedValue("[{}]", .missingField, "expect[0].controller"),
        RefusedValue(#"{"controller":"a"}"#, .missingField, "expect.is"),
        RefusedValue(#"{"is":"top"}"#, .missingField, "expect.controller"),
        RefusedValue(#"[{"revision":1},{"controller":"a","is":"gone"}]"#, .invalidField, "expect[1].is"),
        RefusedValue(#"{"controller":"a","is":null}"#, .invalidField, "expect.is"),
        RefusedValue(#"{"controller":"a","is":"top","revision":1}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"is":"top","revision":1}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"revision":-1}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"revision":1.5}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"revision":"1"}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"revision":1e30}"#, .invalidField, "expect.revision"),
        RefusedValue(#"{"controller":"a","is":"top","no":true}"#, .unknownField, "expect.no"),
        RefusedValue(#"{"controller":"a","is":"top","not":1}"#, .invalidField, "expect.not"),
        RefusedValue(#"{"not":true,"revision":1}"#, .invalidField, "expect.revision"),
        RefusedValue(#""top""#, .invalidField, "expect"), RefusedValue("null", .invalidField, "expect"),
        RefusedValue(#"["top"]"#, .invalidField, "expect[0]"),
        RefusedValue(
            "[" + Array(repeating: #"{"revision":1}"#, count: 17).joined(separator: ",") + "]", .invalidField, "expect"),
    ])
    func `an expectation that is none is refused by the name of what is wrong`(refused: RefusedValue) {
        refused.holds(as: "expect") { field, reader throws(Problem) in try reader.expectations(field) }
    }

    @Test func `events are written in their order`() {
        let events = [AppearanceEvent(Self.a, .willAppear), AppearanceEvent(Self.b, .didDisappear)]
        #expect(
            written { $0.member($1, events) }
                == #"[{"controller":"a","event":"willAppear"},{"controller":"b","event":"didDisappear"}]"#)
    }
}
