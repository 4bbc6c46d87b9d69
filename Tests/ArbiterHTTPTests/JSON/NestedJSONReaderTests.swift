import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

/// Objects within objects, arrays, and values of each type.
struct NestedJSONReaderTests {
    @Test func `what is nested is read by whoever expects it`() throws {
        let json = #" { "b" : [ [ ] , [ true , false ] ] , "c" : { } } "#
        var seen: [String] = []
        try read(json, as: "a") { field, reader throws(Problem) in
            try reader.object(field) { field, reader throws(Problem) in
                seen.append(reader.name(of: field))
                guard field == "b" else { return try reader.object(field) { _, _ in } }
                try reader.array(field, upTo: 2) { element, reader throws(Problem) in
                    seen.append(reader.name(of: element))
                    try reader.array(element, upTo: 2) { element, reader throws(Problem) in
                        seen.append(reader.name(of: element) + (try reader.boolean(element) ? "+" : "-"))
                    }
                }
            }
        }
        #expect(seen == ["a.b", "a.b[0]", "a.b[1]", "a.b[1][0]+", "a.b[1][1]-", "a.c"])
    }

    @Test(arguments: [
        RefusedValue(#"{"y":{"z":1,"z":2}}"#, .invalidField, "x.y.z"), RefusedValue(#"{"y":1}"#, .invalidField, "x.y"),
        RefusedValue("[]", .invalidField, "x"), RefusedValue("null", .invalidField, "x"),
        RefusedValue(#"{"y":{"z":null}}"#, .invalidField, "x.y.z"),
        RefusedValue(#"{"y":{"z":1},}"#, .malformedJSON, nil),
        RefusedValue(#"{"y":{"z":1}"#, .malformedJSON, nil), RefusedValue(#"{"y":{"z":1}]"#, .malformedJSON, nil),
        RefusedValue(#"{"y":{"z":1,}}"#, .malformedJSON, nil), RefusedValue(#"{"y":{,"z":1}}"#, .malformedJSON, nil),
        RefusedValue(#"{"y":{"z":1 "w":1}}"#, .malformedJSON, nil), RefusedValue(#"{"y":{z:1}}"#, .malformedJSON, nil),
        RefusedValue(#"{"y":{"z"}}"#, .malformedJSON, nil), RefusedValue(#"{"y":{"z":}}"#, .malformedJSON, nil),
    ])
    func `a problem within objects is named by the whole way`(refused: RefusedValue) {
        refused.holds(as: "x") { field, reader throws(Problem) in
            try reader.object(field) { field, reader throws(Problem) in
                try reader.object(field) { field, reader throws(Problem) in _ = try reader.double(field) }
            }
        }
    }

    @Test(arguments: [
        RefusedValue("[1,2,3,4]", .invalidField, "x"), RefusedValue(#"[1,"2"]"#, .invalidField, "x[1]"),
        RefusedValue("[[]]", .invalidField, "x[0]"), RefusedValue("[1,2,null]", .invalidField, "x[2]"),
        RefusedValue("{}", .invalidField, "x"), RefusedValue(#""[]""#, .invalidField, "x"),
        RefusedValue("[1,]", .malformedJSON, nil), RefusedValue("[,1]", .malformedJSON, nil),
        RefusedValue("[1 2]", .malformedJSON, nil), RefusedValue("[1", .malformedJSON, nil),
        RefusedValue("[1}", .malformedJSON, nil), RefusedValue("[", .malformedJSON, nil),
        RefusedValue("[1]]", .malformedJSON, nil), RefusedValue("[x]", .malformedJSON, nil),
    ])
    func `a problem within an array is named by its place`(refused: RefusedValue) {
        refused.holds(as: "x") { field, reader throws(Problem) in
            try reader.array(field, upTo: 3) { element, reader throws(Problem) in _ = try reader.double(element) }
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("2", 2), ("2.0", 2), ("2e0", 2), ("0.2E1", 2), ("20e-1", 2), ("-7", -7),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9007199254740993", 9_007_199_254_740_993),
            ("9007199254740991.0", 9_007_199_254_740_991),
        ] as [(String, Int)])
    func `a whole number is read exactly`(json: String, integer: Int) throws {
        #expect(
            try read(json) { field, reader throws(Problem) in try reader.integer(field, in: .min ... .max) } == integer)
    }

    @Test(arguments: [
        "1.5", "1e400", "-1e400", "9223372036854775808", "-9223372036854775809", "1e19", "9007199254740993.0", "true",
        "null", #""2""#, "[2]", "{}", "1e-1",
    ])
    func `what is no whole number is refused`(json: String) {
        RefusedValue(json, .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
            try reader.integer(field, in: .min ... .max)
        }
    }

    @Test func `a whole number is within its range`() throws {
        for number in 1...3 {
            let json = String(number)
            #expect(try read(json) { field, reader throws(Problem) in try reader.integer(field, in: 1...3) } == number)
        }
        for json in ["0", "4", "-1", "1e300"] {
            RefusedValue(json, .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
                try reader.integer(field, in: 1...3)
            }
        }
    }

    @Test(arguments: ["1e400", "-1e400", "true", "null", #""1""#, "[]", "{}"])
    func `what is no finite number is refused`(json: String) {
        RefusedValue(json, .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
            try reader.double(field)
        }
    }

    @Test(arguments: ["1", "0", "null", #""true""#, "[]", "{}"])
    func `only true and false are yes and no`(json: String) {
        RefusedValue(json, .invalidField, "x").holds(as: "x") { field, reader throws(Problem) in
            try reader.boolean(field)
        }
    }

    @Test(arguments: ["t", "tru", "truE", "falsehood", "True", "fals", "trueish", "f alse"])
    func `half a word is malformed`(json: String) {
        RefusedValue(json, .malformedJSON, nil).holds(as: "x") { field, reader throws(Problem) in
            try reader.boolean(field)
        }
    }
}
