import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

/// Valid documents that were damaged: never a crash, always a problem that can be reported.
struct DamagedJSONTests {
    private typealias Reading = @Sendable (String, inout JSONReader) throws(Problem) -> Void

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a damaged storyboard is read as one or refused`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let sound = try Storyboard.random(using: &random).json
        for number in 0..<200 {
            let json = sound.damaged(using: &random)
            let context: Comment = "seed \(seed), case \(number): \(String(decoding: json, as: UTF8.self))"
            do throws(Problem) {
                let storyboard = try Storyboard(json: json)
                #expect((try? Storyboard(json: storyboard.json)) == storyboard, context)
                #expect((try? JSONSerialization.jsonObject(with: Data(json))) != nil, context)
            } catch {
                check(error, context)
            }
        }
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a damaged member is read or refused`(seed: UInt64) throws {
        let members: [(String, Reading)] = [
            (
                #"{"operation":{"controllers":["a",{"id":"b"}],"navigation":"n","type":"setStack"}}"#,
                { field, reader throws(Problem) in _ = try reader.operation(field) }
            ),
            (
                #"{"expect":[{"controller":"a","is":"top"},{"revision":41}]}"#,
                { field, reader throws(Problem) in _ = try reader.expectations(field) }
            ),
            (#"{"scope":["a","b"]}"#, { field, reader throws(Problem) in _ = try reader.scope(field) }),
            (
                #"{"animation":{"type":"star","duration":0.5,"completionSpeed":2,"userInfo":{"a":[1,{"b":null}]}}}"#,
                { field, reader throws(Problem) in _ = try reader.animation(field) }
            ),
        ]
        var random = SplitMix64(seed: seed)
        for (sound, reading) in members {
            for number in 0..<200 {
                let json = Array(sound.utf8).damaged(using: &random)
                do throws(Problem) {
                    try JSONReader.readObject(json, reading)
                } catch {
                    check(error, "seed \(seed), case \(number): \(String(decoding: json, as: UTF8.self))")
                }
            }
        }
    }

    private func check(_ problem: Problem, _ context: Comment) {
        #expect(
            [.malformedJSON, .unknownField, .invalidField, .missingField, .unknownTransitionType].contains(
                problem.code), context)
        #expect((problem.field == nil) == (problem.code == .malformedJSON), context)
        #expect((try? JSON(problem.response.body)) != nil, context)
    }
}

extension [UInt8] {
    /// The document with one to four damages.
    fileprivate func damaged(using random: inout SplitMix64) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = Swift.min(bytes.count, start + Int.random(in: 0...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where start < bytes.count: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 3 where random.isOnce(in: 4): bytes.removeSubrange(start...)
            default:
                let fragments = [
                    "{", "}", "[", "]", "\"", ":", ",", "null", "true", "1e999", "-1", "0.5", "\"a\"", "\"kind\":",
                    "\"children\":[", "\"presented\":", "\"split\"", "\"tabs\"", "\"selected\":7,", "\\u0000", "\u{e9}",
                ]
                bytes.replaceSubrange(start..<end, with: Array((fragments.randomElement(using: &random) ?? "").utf8))
            }
        }
        return bytes
    }
}

extension Storyboard {
    /// A small storyboard with all members, the same for the same random numbers.
    static func random(using random: inout SplitMix64) throws -> Storyboard {
        var segues: [Segue] = []
        for (index, kind) in Segue.Kind.allCases.enumerated() {
            guard let identifier = SegueIdentifier("go \(index)") else { continue }
            segues.append(
                Segue(
                    identifier: identifier, source: ControllerID(sound: "c\(index)"), kind: kind,
                    destination: try Hierarchy.random(
                        count: Int.random(in: 1...5, using: &random), prefix: "s\(index).", using: &random)))
        }
        let types = (0..<3).compactMap { index in
            TransitionTypeName("star \"\(index)\"").map { name in
                TransitionType(
                    name: name,
                    duration: random.isOnce(in: 2)
                        ? nil : .nanoseconds(Int64.random(in: 0...3_600_000_000_000, using: &random)),
                    curve: random.isOnce(in: 2) ? nil : AnimationCurve.allCases.randomElement(using: &random))
            }
        }
        return try Storyboard(
            hierarchy: random.isOnce(in: 8)
                ? Hierarchy() : try Hierarchy.random(count: Int.random(in: 1...20, using: &random), using: &random),
            segues: segues, transitionTypes: types,
            defaults: Defaults(
                duration: .milliseconds(Int.random(in: 0...3_600_000, using: &random)), curve: .easeIn,
                lease: .milliseconds(Int.random(in: 100...300_000, using: &random)),
                scope: Bool.random(using: &random) ? .scene : .operation))
    }
}
