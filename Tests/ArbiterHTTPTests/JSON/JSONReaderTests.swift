import ArbiterCore
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

struct JSONReaderTests {
    private static let widest = Duration.seconds(-4_000_000_000)...Duration.seconds(4_000_000_000)

    /// Reads a text as the one string member of an object.
    private func string(_ json: String) throws(Problem) -> String? {
        var read: String?
        try JSONReader.readObject(Array(#"{"x":\#(json)}"#.utf8)) { field, value throws(Problem) in
            read = try value.string(field)
        }
        return read
    }

    private func seconds(
        _ json: String, in range: ClosedRange<Duration> = widest
    ) throws(Problem) -> Duration? {
        var read: Duration?
        try JSONReader.readObject(Array(#"{"x":\#(json)}"#.utf8)) { field, value throws(Problem) in
            read = try value.seconds(field, in: range)
        }
        return read
    }

    @Test(arguments: [
        (#""""#, ""), (#""a""#, "a"), (#""\"""#, "\""), (#""\\""#, "\\"), (#""\/""#, "/"), (#""/""#, "/"),
        (#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t"), (#""\u0000""#, "\0"), (#""\u001F""#, "\u{1f}"), (#""\u0041b""#, "Ab"),
        (#""\u00e9\u00E9""#, "éé"), (#""\uFFFF""#, "\u{ffff}"), (#""\ud83d\ude80""#, "🚀"), (#""\uD83D\uDE80x""#, "🚀x"),
        (#""\ud800\udc00""#, "\u{10000}"), (#""\udbff\udfff""#, "\u{10ffff}"), (#""é🚀""#, "é🚀"),
        (#""a\u0301""#, "a\u{301}"),
        ("\"\u{7f}\u{80}\u{2028}\u{feff}\"", "\u{7f}\u{80}\u{2028}\u{feff}"), (#""\\u0041""#, #"\u0041"#),
        (#""a\nb\\c\"d""#, "a\nb\\c\"d"), (#""{}[]:,""#, "{}[]:,"),
    ])
    func `a string is read to the letter`(json: String, text: String) throws {
        #expect(Array(try string(json)?.utf8 ?? "?".utf8) == Array(text.utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1_000_000_000), ("-1", -1_000_000_000), ("10", 10_000_000_000),
            ("0.1", 100_000_000), ("-0.1", -100_000_000), ("1.5", 1_500_000_000), ("0.000000001", 1),
            ("0.0000000004", 0), ("0.0000000006", 1), ("1e0", 1_000_000_000), ("1E3", 1_000_000_000_000),
            ("1e-3", 1_000_000), ("1.25e+1", 12_500_000_000), ("0e5", 0), ("0.0", 0), ("1e-400", 0),
            ("12345.678", 12_345_678_000_000), ("3600", 3_600_000_000_000), ("1.10", 1_100_000_000),
            ("0.1000000000000000055511151231257827", 100_000_000), ("1000000000000e-9", 1_000_000_000_000),
        ] as [(String, Int64)])
    func `a number of seconds is read to the nanosecond`(json: String, nanoseconds: Int64) throws {
        #expect(try seconds(json) == .nanoseconds(nanoseconds))
    }

    @Test(arguments: [
        "", "-", "+1", ".1", "1.", "1.e1", "1e", "1e+", "1e-", "01", "-01", "00", "1x", "0x1", "1_0", "1,0", "--1",
        "1.2.3", "1e1e1", "1e1.5", "1 2", "NaN", "Infinity", "-Infinity", "١", "½", "e1", "1²",
    ])
    func `what is no number is malformed`(json: String) {
        #expect(throws: Problem.self) { try seconds(json) }
        #expect(problem { () throws(Problem) in _ = try seconds(json) }?.code == .malformedJSON)
    }

    @Test(arguments: ["1e308", "1e309", "-1e309", "1e99999999", "9223372036.9", "9.3e9", "-9.3e9"])
    func `a number beyond all bounds is out of range and no crash`(json: String) {
        #expect(problem { () throws(Problem) in _ = try seconds(json) }?.code == .invalidField)
    }

    @Test func `a range includes its ends and nothing beyond`() throws {
        let range = Duration.milliseconds(100)...Duration.seconds(2)
        #expect(try seconds("0.1", in: range) == .milliseconds(100))
        #expect(try seconds("2", in: range) == .seconds(2))
        for json in ["0.099999999", "2.000000001", "-1", "0"] {
            let problem = problem { () throws(Problem) in _ = try seconds(json, in: range) }
            #expect(problem?.code == .invalidField)
            #expect(problem?.detail == "The field \"x\" must be 0.1 to 2 seconds.")
        }
    }

    @Test func `a member's value is for its reader to read, and a second object is none of it`() throws {
        var seen: [String] = []
        try JSONReader.readObject(Array(#" { "a" : "1" , "b":"2","":"3"} "#.utf8)) { field, value throws(Problem) in
            seen.append(field + "=" + (try value.string(field)))
        }
        #expect(seen == ["a=1", "b=2", "=3"])
    }

    @Test(arguments: Seeds.first(20, atNight: 200))
    func `whatever Foundation writes is read`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let scalars = (0..<Int.random(in: 0...16, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...(random.isOnce(in: 3) ? 0x10_ffff : 0x7f), using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let written = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
            #expect(try string(written) == text, "seed \(seed)")

            let number = Double.random(in: -1e9...1e9, using: &random)
            let rounded = Int64((number * 1e9).rounded())
            #expect(try seconds("\(number)") == .nanoseconds(rounded), "seed \(seed)")
        }
    }

    private func problem(_ body: () throws(Problem) -> Void) -> Problem? {
        do throws(Problem) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
