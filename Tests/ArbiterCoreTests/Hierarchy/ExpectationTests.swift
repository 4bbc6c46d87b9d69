import Testing

@testable import ArbiterCore

struct HierarchyExpectationTests {
    @Test(arguments: [
        ("home", ArbiterCore.Expectation.Condition.exists, nil),
        ("nobody", .exists, "absent"),
        ("nobody", .absent, nil),
        ("home", .absent, "exists"),
        ("sheet", .visible, nil),
        ("home", .visible, "not visible"),
        ("nobody", .visible, "absent"),
        ("sheet", .presented, nil),
        ("name", .presented, nil),
        ("home", .presented, "not presented"),
        ("nobody", .presented, "absent"),
        ("tabs", .presenting, nil),
        ("home", .presenting, nil),
        ("other", .presenting, nil),
        ("name", .presenting, "presents nothing"),
        ("nobody", .presenting, "absent"),
        ("detail", .top, nil),
        ("home", .top, #"top is "detail""#),
        ("nav", .top, "on no stack"),
        ("sheet", .top, "on no stack"),
        ("nobody", .top, "absent"),
        ("nav", .selected, nil),
        ("other", .selected, #"selected is "nav""#),
        ("detail", .selected, "in no tabs"),
        ("tabs", .selected, "in no tabs"),
        ("nobody", .selected, "absent"),
    ])
    func `an expectation holds or says what was found`(
        name: String, condition: ArbiterCore.Expectation.Condition, actual: String?
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined("tabs{*nav[home detail] other}~>sheet[name]"))
        let expectation = ArbiterCore.Expectation.controller(id(name), is: condition)
        let failure = storyboard.failure(of: expectation, at: Revision(rawValue: 1))
        #expect(failure?.actual == actual)
        #expect(failure?.expectation == (actual == nil ? nil : expectation))
        let negated = ArbiterCore.Expectation.controller(id(name), is: condition, isNegated: true)
        let turned = storyboard.failure(of: negated, at: Revision(rawValue: 1))
        #expect(turned?.actual == (actual == nil ? condition.rawValue : nil))
    }

    @Test func `the first rules know no negated expectation`() throws {
        var arbiter = Arbiter(rules: .first)
        var request = TransitionRequest(expectations: [.controller(id("a"), is: .exists, isNegated: true)])
        #expect(throws: ArbiterError.olderRules) { try arbiter.start(request) }
        request.expectations = [.controller(id("a"), is: .absent)]
        #expect(throws: Never.self) { try arbiter.start(request) }
    }

    @Test func `a revision is the one expected or says which it is`() {
        let expectation = ArbiterCore.Expectation.revision(Revision(rawValue: 41))
        #expect(Storyboard.empty.failure(of: expectation, at: Revision(rawValue: 41)) == nil)
        let failure = Storyboard.empty.failure(of: expectation, at: Revision(rawValue: 42))
        #expect(failure?.actual == "revision 42")
    }
}
