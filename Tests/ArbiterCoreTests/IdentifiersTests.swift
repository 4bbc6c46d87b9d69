import ArbiterCore
import ArbiterTestKit
import Testing

struct IdentifiersTests {
    @Test(arguments: ["main", "a", "Left.2", "_-._", "0", String(repeating: "x", count: 64)])
    func `a scene name is letters, digits, dots, underscores and hyphens`(text: String) {
        #expect(SceneName(text)?.description == text)
    }

    @Test(arguments: ["", "a b", "a/b", "a:b", "ä", "a\n", "\0", "a\u{301}", String(repeating: "x", count: 65)])
    func `anything else is no scene name`(text: String) {
        #expect(SceneName(text) == nil)
    }

    @Test func `the default scene has the name it would be asked for by`() {
        #expect(SceneName("main") == .main)
    }

    @Test(arguments: ["root", "tab:0", "a.b_c-d:e", String(repeating: "x", count: 128)])
    func `a controller id may have colons too`(text: String) {
        #expect(ControllerID(text)?.description == text)
    }

    @Test(arguments: ["", "a b", "a/b", "é", "a\t", String(repeating: "x", count: 129)])
    func `anything else is no controller id`(text: String) {
        #expect(ControllerID(text) == nil)
    }

    @Test(arguments: ["a", "photo viewer", "日本語", "😀", "\"quoted\"", String(repeating: "x", count: 128)])
    func `a client may call itself almost anything`(text: String) {
        #expect(ClientName(text)?.description == text)
    }

    @Test(arguments: ["", "a\n", "\u{1b}[0m", "\u{7f}", "\0", String(repeating: "é", count: 65)])
    func `a client name is not empty, too long or unprintable`(text: String) {
        #expect(ClientName(text) == nil)
    }

    @Test(arguments: [0, 1, 31, 32, 1 << 59, 1 << 60, 1 << 63, UInt64.max])
    func `a transition id is read as it is written`(value: UInt64) {
        let id = TransitionID(rawValue: value)
        #expect(TransitionID(id.description) == id)
        #expect(id.description.utf8.count == 15)
    }

    @Test func `any transition id is read as it is written`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1000 {
            let id = TransitionID(rawValue: random.next())
            var bytes = Array("<".utf8)
            id.append(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "<\(id)")
            #expect(TransitionID(id.description) == id)
        }
    }

    @Test func `transition ids are written in Crockford's digits`() {
        #expect(TransitionID(rawValue: 0).description == "t-0000000000000")
        #expect(TransitionID(rawValue: 18).description == "t-000000000000j")
        #expect(TransitionID(rawValue: 31).description == "t-000000000000z")
        #expect(TransitionID(rawValue: .max).description == "t-fzzzzzzzzzzzz")
    }

    @Test(arguments: [
        "", "t", "t-", "t-000000000000", "t-00000000000000", "T-0000000000000", "t_0000000000000",
        "t-000000000000J", "t-000000000000i", "t-000000000000l", "t-000000000000o", "t-000000000000u",
        "t-g000000000000", "t-zzzzzzzzzzzzz", " t-0000000000000", "t-0000000000000 ", "t-00000000000é",
        "0000000000000",
    ])
    func `a transition id that is written otherwise is none`(text: String) {
        #expect(TransitionID(text) == nil)
    }

    @Test(arguments: [".", ".."])
    func `a scene is not named like a step in a path`(text: String) {
        #expect(SceneName(text) == nil)
    }

    @Test func `tokens match only themselves`() {
        let token = Token(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
        #expect(token.matches(token))
        for bit in 0..<64 {
            #expect(!token.matches(Token(high: token.high ^ 1 << bit, low: token.low)))
            #expect(!token.matches(Token(high: token.high, low: token.low ^ 1 << bit)))
            #expect(!token.matches(Token(high: token.high ^ 1 << bit, low: token.low ^ 1 << bit)))
        }
    }
}
