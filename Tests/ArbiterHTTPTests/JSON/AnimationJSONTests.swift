import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

struct AnimationJSONTests {
    private func animation(_ json: String) throws(Problem) -> AnimationRequest {
        try read(json, as: "animation") { field, reader throws(Problem) in try reader.animation(field) }
    }

    @Test func `an animation comes back as it was asked for`() throws {
        let json =
            #"{"type":"star","duration":0.123456789,"curve":"easeIn","completionSpeed":1.5,"reversed":true,"#
            + #""direction":"backward","userInfo":{"a":[1,null]}}"#
        let expected = AnimationRequest(
            type: TransitionTypeName("star"), duration: .nanoseconds(123_456_789), curve: .easeIn, completionSpeed: 1.5,
            userInfo: Array(#"{"a":[1,null]}"#.utf8), isReversed: true, direction: .backward)
        #expect(try animation(json) == expected)
        #expect(written { $0.member($1, expected) } == json)
        #expect(try animation("{}") == AnimationRequest())
        #expect(written { $0.member($1, AnimationRequest()) } == "{}")
    }

    @Test func `a settled animation says everything`() {
        let settled = Animation(
            type: nil, duration: .milliseconds(350), curve: .easeInOut, completionSpeed: 1, userInfo: nil,
            isReversed: false, direction: .forward)
        #expect(
            written { $0.member($1, settled) }
                == #"{"duration":0.35,"curve":"easeInOut","completionSpeed":1,"reversed":false,"direction":"forward"}"#)
        let owned = Animation(
            type: TransitionTypeName("a\"b"), duration: .zero, curve: .linear, completionSpeed: 0.1,
            userInfo: Array("null".utf8), isReversed: true, direction: .backward)
        #expect(
            written { $0.member($1, owned) }
                == #"{"type":"a\"b","duration":0,"curve":"linear","completionSpeed":0.1,"reversed":true,"#
                + #""direction":"backward","userInfo":null}"#)
    }

    @Test func `limits are within themselves`() throws {
        #expect(try animation(#"{"duration":0}"#).duration == .zero)
        #expect(try animation(#"{"duration":3600}"#).duration == .seconds(3600))
        #expect(try animation(#"{"completionSpeed":1000}"#).completionSpeed == 1000)
        #expect(try animation(#"{"completionSpeed":0.001}"#).completionSpeed == 0.001)
        let info = #""\#(String(repeating: "a", count: Limits.userInfoBytes - 2))""#
        #expect(try animation(#"{"userInfo": \#(info) }"#).userInfo?.count == Limits.userInfoBytes)
    }

    @Test(arguments: [
        RefusedValue(#""star""#, .invalidField, "animation"), RefusedValue("null", .invalidField, "animation"),
        RefusedValue(#"{"type":""}"#, .invalidField, "animation.type"),
        RefusedValue(#"{"type":1}"#, .invalidField, "animation.type"),
        RefusedValue(#"{"duration":-0.1}"#, .invalidField, "animation.duration"),
        RefusedValue(#"{"duration":3600.1}"#, .invalidField, "animation.duration"),
        RefusedValue(#"{"duration":"1"}"#, .invalidField, "animation.duration"),
        RefusedValue(#"{"curve":"easy"}"#, .invalidField, "animation.curve"),
        RefusedValue(#"{"curve":null}"#, .invalidField, "animation.curve"),
        RefusedValue(#"{"completionSpeed":0}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":-1}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":0.000999}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":1000.1}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":1e999}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":1e-999}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"completionSpeed":true}"#, .invalidField, "animation.completionSpeed"),
        RefusedValue(#"{"reversed":"yes"}"#, .invalidField, "animation.reversed"),
        RefusedValue(#"{"direction":"up"}"#, .invalidField, "animation.direction"),
        RefusedValue(#"{"delay":1}"#, .unknownField, "animation.delay"),
        RefusedValue(#"{"duration":1,"duration":1}"#, .invalidField, "animation.duration"),
        RefusedValue(
            #"{"userInfo":"\#(String(repeating: "a", count: Limits.userInfoBytes - 1))"}"#, .invalidField,
            "animation.userInfo"),
        RefusedValue(#"{"userInfo":[1,]}"#, .malformedJSON, nil),
    ])
    func `an animation that is none is refused by the name of what is wrong`(refused: RefusedValue) {
        refused.holds(as: "animation") { field, reader throws(Problem) in try reader.animation(field) }
    }
}
