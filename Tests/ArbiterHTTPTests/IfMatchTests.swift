import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// RFC 9110, sections 8.8.3 and 13.1.1.
struct IfMatchTests {
    private static let lists: [(String, [UInt64])] = [
        (#""41""#, [41]), (#""41", "42""#, [41, 42]), (#""41","42""#, [41, 42]), (" , \"41\" ,, \"42\",\t", [41, 42]),
        (#""0""#, [0]), (#"W/"41", "42""#, [42]), (#""18446744073709551615""#, [.max]), (#""a,b", "41""#, [41]),
        // Well-formed tags that no scene has.
        (#"W/"41""#, []), (#""""#, []), (#""041""#, []), (#""+41""#, []), (#""é""#, []), (#""-1""#, []),
        (#""18446744073709551616""#, []),
    ]

    private static let others = [
        "", ",", " ", "41", #""41"#, #"41""#, #""41" "42""#, #"w/"41""#, "W/41", #"W/ "41""#, #"*, "41""#, #""41", *"#,
        "**", "\"4\u{7f}1\"", "\"4\u{0}1\"", "'41'", #""41";"#, #""41"W/"42""#, #"" 41""#, #""4 1""#,
    ]

    @Test(arguments: lists)
    func `tags are read as the standard has them`(text: String, revisions: [UInt64]) throws {
        let condition = try IfMatch(text)
        #expect(condition.precondition == .revision(revisions.map { Revision(rawValue: $0) }))
    }

    @Test(arguments: others)
    func `what is no list of tags is refused`(text: String) {
        let problem = #expect(throws: Problem.self) { try IfMatch(text) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "If-Match")
    }

    @Test(arguments: ["*", " *", "*\t"])
    func `a star is met by any scene that exists`(text: String) throws {
        #expect(try IfMatch(text).precondition == .exists)
    }
}
