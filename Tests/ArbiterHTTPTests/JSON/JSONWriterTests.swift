import ArbiterCore
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

struct JSONWriterTests {
    private func written(_ members: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.object(members), as: UTF8.self)
    }

    @Test func `an object has its members in their order`() {
        let text = written { writer in
            writer.member("text", "a")
            writer.member("int", -7)
            writer.member("large", UInt64.max)
            writer.member("yes", true)
            writer.member("no", false)
            writer.member("id", TransitionID(rawValue: 33))
            writer.member("ids", [TransitionID(rawValue: 0), TransitionID(rawValue: .max)])
            writer.member("none", [TransitionID]())
            writer.member("token", Token(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))
            writer.object("object") { $0.object("empty") { _ in } }
            writer.array("objects", [1, 2]) { writer, number in writer.object { $0.member("n", number) } }
            writer.member(named: "null") { $0.literal("null") }
            writer.member("end", 0)
        }
        let expected = [
            #""text":"a""#, #""int":-7"#, #""large":18446744073709551615"#, #""yes":true"#, #""no":false"#,
            #""id":"t-0000000000011""#, #""ids":["t-0000000000000","t-fzzzzzzzzzzzz"]"#, #""none":[]"#,
            #""token":"0123456789abcdeffedcba9876543210""#, #""object":{"empty":{}}"#,
            #""objects":[{"n":1},{"n":2}]"#, #""null":null"#, #""end":0"#,
        ]
        #expect(text == "{" + expected.joined(separator: ",") + "}")
    }

    @Test func `an object without members is empty`() {
        #expect(written { _ in } == "{}")
    }

    @Test(
        arguments: [
            (.zero, "0"), (.seconds(1), "1"), (.seconds(10), "10"), (.milliseconds(1500), "1.5"),
            (.milliseconds(1050), "1.05"), (.milliseconds(1005), "1.005"), (.milliseconds(9980), "9.98"),
            (.milliseconds(1), "0.001"), (.milliseconds(100), "0.1"), (.microseconds(499), "0"),
            (.microseconds(500), "0.001"), (.microseconds(1_999_499), "1.999"), (.microseconds(1_999_500), "2"),
            (.nanoseconds(1), "0"), (.seconds(86_400), "86400"), (.milliseconds(86_399_999), "86399.999"),
        ] as [(Duration, String)])
    func `a duration is written in seconds, to the millisecond`(duration: Duration, text: String) {
        #expect(written { $0.member("x", duration) } == #"{"x":\#(text)}"#)
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-7, "-7"), (0.1, "0.1"), (1.5, "1.5"), (1e15, "1000000000000000"),
            (0x1p53, "9007199254740992.0"), (1e16, "1e+16"), (1e-5, "1e-05"), (.leastNonzeroMagnitude, "5e-324"),
            (1 / 3, "0.3333333333333333"),
        ] as [(Double, String)])
    func `a number is written as short as can be`(number: Double, text: String) {
        #expect(written { $0.member("x", number) } == #"{"x":\#(text)}"#)
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `any finite number comes back as it was, from Foundation and from the reader`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            let json = JSONWriter.object { $0.member("x", number) }
            #expect(try JSON(json)["x"]?.number == number, "seed \(seed)")
            try JSONReader.readObject(json) { field, reader throws(Problem) in
                #expect(try reader.double(field) == number, "seed \(seed)")
            }
        }
    }

    @Test(
        arguments: [
            (.zero, "0"), (.nanoseconds(1), "0.000000001"), (.nanoseconds(1_000_000_010), "1.00000001"),
            (.milliseconds(350), "0.35"), (.seconds(3600), "3600"), (.milliseconds(-1500), "-1.5"),
        ] as [(Duration, String)])
    func `a duration is written to the nanosecond where it has to come back`(duration: Duration, text: String) {
        #expect(written { $0.member("x", exactly: duration) } == #"{"x":\#(text)}"#)
    }

    @Test func `what must be escaped is, and nothing else`() {
        for value in UInt32(0)...0x9f {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = written { $0.member("x", String(scalar)) }
            let expected =
                switch scalar {
                case "\"": #"\""#
                case "\\": #"\\"#
                case "\0"..<" ": "\\u00" + (value < 16 ? "0" : "") + String(value, radix: 16)
                default: String(scalar)
                }
            #expect(text == #"{"x":"\#(expected)"}"#)
        }
    }

    @Test(arguments: Seeds.first(20, atNight: 200))
    func `a string comes back from Foundation as it was`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let scalars = (0..<Int.random(in: 0...16, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...(random.isOnce(in: 3) ? 0x10_ffff : 0x7f), using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let read = try JSON(JSONWriter.object { $0.member("x", text) })
            #expect(Array(read["x"]?.text?.utf8 ?? "?".utf8) == Array(text.utf8), "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `a timestamp is written as RFC 3339 has it`(milliseconds: Int64, text: String) {
        #expect(written { $0.member("x", Timestamp(milliseconds: milliseconds)) } == #"{"x":"\#(text)"}"#)
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a timestamp is written as Foundation writes it`(seed: UInt64) {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            // From 1600 on, because Foundation's calendar is Julian before.
            let milliseconds = Int64.random(in: -11_676_096_000_000...253_402_300_799_999, using: &random)
            // A tenth of a millisecond is added, so that rounding in floating point changes no digit.
            let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.1) / 1000)
            let text = written { $0.member("x", Timestamp(milliseconds: milliseconds)) }
            #expect(text == #"{"x":"\#(formatter.string(from: date))"}"#, "seed \(seed), \(milliseconds) ms")
        }
    }
}
