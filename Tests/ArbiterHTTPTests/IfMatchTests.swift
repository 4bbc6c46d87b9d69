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
        #expect(
            condition.precondition == .version(revisions.map { StoryboardVersion(revision: Revision(rawValue: $0)) }))
    }

    @Test(arguments: [(#""41.2""#, 2), (#""41.18446744073709551615""#, UInt64.max)])
    func `a tag tells how often the storyboard was changed by a patch`(text: String, patches: UInt64) throws {
        let version = StoryboardVersion(revision: Revision(rawValue: 41), patches: patches)
        #expect(try IfMatch(text).precondition == .version([version]))
        #expect(version.entityTag == text)
    }

    @Test(arguments: [#""41.0""#, #""41.""#, #"".2""#, #""41.02""#, #""41.2.1""#, #""41.+2""#])
    func `a tag that is written otherwise is that of no storyboard`(text: String) throws {
        #expect(try IfMatch(text).precondition == .version([]))
    }

    @Test(arguments: others)
    func `what is no list of tags is refused`(text: String) {
        let problem = #expect(throws: Problem.self) { try IfMatch(text) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "If-Match")
    }

    @Test(arguments: ["*", " *", "*\t"])
    func `a star is met by any scene that is declared`(text: String) throws {
        #expect(try IfMatch(text).precondition == .declared)
    }
}
