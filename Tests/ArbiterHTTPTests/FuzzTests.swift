import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterHTTP

/// Valid bodies that were damaged: never a crash, always an answer.
struct FuzzTests {
    private static let casesPerSeed = 500

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a damaged body is done or refused, and nothing in between`(seed: UInt64) throws {
        var fuzz = Fuzz(seed: seed)
        let service = try Service()
        let holder = try service.started()
        var parked: [RecordingExchange] = []
        for number in 0..<Self.casesPerSeed {
            let action = fuzz.action()
            let body = fuzz.body(for: holder)
            let context: Comment = "seed \(seed), case \(number): \(action) \(String(decoding: body, as: UTF8.self))"
            let before = try service.journal.records().count

            let exchange = service.send("POST", "/transitions/\(action)", bytes: body)

            guard let response = exchange.responses.first else {
                #expect(exchange.reservations == 1, context)
                parked.append(exchange)
                continue
            }
            #expect(exchange.responses.count == 1, context)
            try check(response, to: body, context)
            if response.status >= 400 { #expect(try service.journal.records().count == before, context) }
            // Time passes, so that the tickets of damaged requests expire.
            if number.isMultiple(of: 10) { service.pass(.seconds(7)) }
        }
        service.engine.drain()
        for exchange in parked {
            #expect(exchange.responses.count == 1, "seed \(seed)")
            #expect((exchange.responses.first?.status ?? 0) < 300, "seed \(seed)")
        }
    }

    private func check(_ response: Response, to body: [UInt8], _ context: Comment) throws {
        #expect(200..<300 ~= response.status || 400..<500 ~= response.status, context)
        let answer = try #require(try? JSON(response.body), context)
        if response.status < 300 {
            // Foundation, too, takes an accepted body for JSON.
            let isJSON = body.isEmpty || (try? JSONSerialization.jsonObject(with: Data(body))) is [String: Any]
            #expect(isJSON, context)
            #expect(answer["id"] != nil, context)
        } else {
            #expect(answer["status"]?.number == Double(response.status), context)
            #expect(Problem.Code(rawValue: answer["code"]?.text ?? "") != nil, context)
        }
    }
}

/// Makes damaged bodies, the same for the same seed.
private struct Fuzz {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func action() -> String {
        ["start", "serialize", "await", "end", "renew"].randomElement(using: &random) ?? "start"
    }

    /// A valid body with no damage, or a few.
    mutating func body(for owned: Owned) -> [UInt8] {
        var body = Array(sound(for: owned).utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) { damage(&body) }
        return body
    }

    private mutating func sound(for owned: Owned) -> String {
        let bodies = [
            "", "{}", owned.acting(), owned.acting(#""outcome": "completed""#), owned.acting(#""wait": 1e0"#),
            owned.acting(#""until": "ended", "wait": 0.5"#),
            #"{"scene": "main", "client": "a \"b\" \u00e9\ud83d\ude80 ü", "scope": "scene"}"#,
            #"{"scene":"tv","leaseSeconds":10.25,"ticketSeconds":1e1,"queueSeconds":-0}"#,
            "{\n\t\"client\" : \"x\" ,\r\n \"leaseSeconds\" : 0.1e+1 }",
            #"{"wait": 5, "queueSeconds": 60, "client": "\\\/\b\f\n\r\t\u0000"}"#,
        ]
        return bodies.randomElement(using: &random) ?? ""
    }

    private mutating func damage(_ body: inout [UInt8]) {
        let index = Int.random(in: 0...body.count, using: &random)
        let end = min(body.count, index + Int.random(in: 0...4, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where index < body.count: body[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where index < body.count: body[index] = .random(in: .min ... .max, using: &random)
        case 2: body.removeSubrange(index..<end)
        case 3: body.insert(contentsOf: body[index..<end], at: index)
        case 4: body.removeSubrange(index...)
        case 5: body.insert(.random(in: .min ... .max, using: &random), at: index)
        default:
            let fragment = Self.fragments.randomElement(using: &random) ?? []
            body.replaceSubrange(index..<end, with: fragment)
        }
    }

    private static let fragments: [[UInt8]] =
        [
            "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "null", "true", "false",
            "-",
            "+", ".", "e", "E9", "0", "1e999", "-1e999", "1e-999", "NaN", "99999999999999999999999", "0.", "00", " ",
            "\n", "\u{feff}", "\"scene\"", "\"scene\":\"x\",", "\"wait\":0,", "\"wait\":1e1,", "\"id\":", "\"token\":",
            "{\"a\":", "é", "🚀", "/*", "//", "'",
        ].map { Array($0.utf8) } + [[0], [0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
}
