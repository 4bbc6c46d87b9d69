import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// RFC 9110, sections 8.8.3 and 13.1.1.
struct IfMatchTests {
    @Test(arguments: [
        (#""41""#, [41]), (#""41", "42""#, [41, 42]), (#""41","42""#, [41, 42]), (#" , "41" ,, "42",	"#, [41, 42]),
        (#""0""#, [0]), (#"W/"41", "42""#, [42]), (#""18446744073709551615""#, [.max]),
        // Well-formed tags that no scene has.
        (#"W/"41""#, []), (#""""#, []), (#""041""#, []), (#""+41""#, []), (#"" 41""#, nil), (#""4 1""#, nil),
        (#""a,b", "41""#, [41]), (#""é""#, []), (#""18446744073709551616""#, []), (#""-1""#, []),
        // No tags at all.
        ("", nil), (",", nil), (" ", nil), ("41", nil), (#""41"#, nil), (#"41""#, nil), (#""41" "42""#, nil),
        (#"w/"41""#, nil), (#"W/41"#, nil), (#"W/ "41""#, nil), (#"*, "41""#, nil), (#""41", *"#, nil), ("**", nil),
        ("\"4\u{7f}1\"", nil), ("\"4\u{0}1\"", nil), (#"'41'"#, nil), (#""41";"#, nil), (#""41"W/"42""#, nil),
    ])
    func `tags are read as the standard has them, and nothing else is`(text: String, revisions: [UInt64]?) throws {
        guard let revisions else {
            let problem = #expect(throws: Problem.self) { try IfMatch(text) }
            #expect(problem?.code == .invalidField)
            #expect(problem?.field == "If-Match")
            return
        }
        let condition = try IfMatch(text)
        for revision: UInt64 in [0, 1, 4, 41, 42, 43, .max] {
            #expect(condition.isMet(by: Revision(rawValue: revision)) == revisions.contains(revision))
        }
    }

    @Test(arguments: ["*", " *", "*\t"])
    func `a star is met by whatever there is`(text: String) throws {
        let condition = try IfMatch(text)
        for revision: UInt64 in [0, 1, .max] { #expect(condition.isMet(by: Revision(rawValue: revision))) }
    }
}
