import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

/// JSON that is passed on unread.
struct RawValueTests {
    private func raw(_ json: String, upTo limit: Int = 4096) throws(Problem) -> String {
        String(
            decoding: try read(json) { field, reader throws(Problem) in try reader.rawValue(field, upTo: limit) },
            as: UTF8.self)
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("false", "false"), ("-0.10e+5", "-0.10e+5"), ("1e999", "1e999"),
        (#""a \u00e9\n \\ \" é""#, #""a \u00e9\n \\ \" é""#), ("[ ]", "[]"), ("{\n}", "{}"),
        ("[ 1 , [ 2 ] ]", "[1,[2]]"),
        (#"{ "a" : 1 , "a" : [ { } , null ] }"#, #"{"a":1,"a":[{},null]}"#), (#"[[[]],{"":{}}]"#, #"[[[]],{"":{}}]"#),
        ("[\t\r\n \"  \"]", "[\"  \"]"),
    ])
    func `a value is kept as it is, but for the space`(json: String, kept: String) throws {
        #expect(try raw(json) == kept)
    }

    @Test(arguments: [
        "", "[", "{", "]", "}", "[1,]", "[,]", "[1 2]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#,
        #"{"a" 1}"#,
        "[}", "{]", #"{"a":1]"#, "[1}", "nul", "nulll", "tru", "+1", "01", "1.", ".1", "1e", "--1", "'a'", #""a"#,
        #""\x""#, #""\ud800""#, #""\u12""#, "\"\u{1}\"", "NaN", "Infinity", "[1]]", "/**/1", #"{1:2}"#, "undefined",
    ])
    func `what is no JSON is malformed, however deep`(json: String) {
        for json in [json, "[\(json)]", #"[{"a":\#(json)}]"#] where json != "[]" {
            RefusedValue(json, .malformedJSON, nil).holds(as: "x") { field, reader throws(Problem) in
                try reader.rawValue(field, upTo: 4096)
            }
        }
    }

    @Test func `bytes that are no UTF-8 are malformed`() {
        for bytes in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]] as [[UInt8]] {
            let body = Array(#"{"x":[""#.utf8) + bytes + Array(#""]}"#.utf8)
            let problem = #expect(throws: Problem.self) {
                try JSONReader.readObject(body) { field, reader throws(Problem) in
                    _ = try reader.rawValue(field, upTo: 100)
                }
            }
            #expect(problem?.code == .malformedJSON)
        }
    }

    @Test func `a value has so many bytes and none more, its space not counted`() throws {
        #expect(try raw(#"[ "1234" , [ ] ]"#, upTo: 11) == #"["1234",[]]"#)
        for json in [#"["12345",[]]"#, #""1234567890""#, "123456789012", "[[[[[[]]]]]]", #"{"abcdefgh":1}"#] {
            RefusedValue(json, .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
                try reader.rawValue(field, upTo: 11)
            }
        }
    }

    @Test func `a value is nested 64 levels deep at most`() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: #"[{"a":"#, count: levels / 2) + String(repeating: "[", count: levels % 2)
                + String(repeating: "]", count: levels % 2) + (levels % 2 == 0 ? "1" : "")
                + String(repeating: "}]", count: levels / 2)
        }
        #expect(try raw(nested(63)) == nested(63))
        #expect(try raw(nested(64)) == nested(64))
        for levels in [65, 1000, 100_000] {
            RefusedValue(nested(levels), .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
                try reader.rawValue(field, upTo: 4096)
            }
        }
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `damaged JSON is kept where Foundation reads it, and only there`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let sound = #"{"a":[1,-2.5e3,true,false,null,"x\n\u00e9"],"b":{"c":{},"d":[]}}"#
        for _ in 0..<500 {
            var bytes = Array(sound.utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: index)
                default: bytes[index] = bytes.randomElement(using: &random) ?? 0
                }
            }
            let json = String(decoding: bytes, as: UTF8.self)
            // Foundation does not mind a comma before the end of an object or an array.
            guard !json.contains(",}"), !json.contains(",]") else { continue }
            let expected = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            let kept = try? raw(json)
            #expect((kept != nil) == (expected != nil), "seed \(seed): \(json)")
            guard let kept, let expected = expected as? NSObject else { continue }
            let again = try JSONSerialization.jsonObject(with: Data(kept.utf8), options: .fragmentsAllowed)
            #expect(again as? NSObject == expected, "seed \(seed): \(json)")
        }
    }
}
