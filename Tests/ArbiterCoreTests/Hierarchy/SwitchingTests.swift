import Testing

@testable import ArbiterCore

struct HierarchySwitchingTests {
    @Test(arguments: [
        OperationCase(
            rule: "a higher tab is forward", before: "tabs{*a nav[b c]}", operation: .select(1),
            after: "tabs{a *nav[b c]}", disappearing: "a", appearing: "nav c", anchor: "tabs"),
        OperationCase(
            rule: "a lower tab is backward", before: "tabs{a b *c}", operation: .select("b"),
            after: "tabs{a *b c}", disappearing: "c", appearing: "b", isBackward: true, anchor: "tabs"),
        OperationCase(
            rule: "it is selected already", before: "tabs{a *b}", operation: .select(1), anchor: "tabs"),
        OperationCase(
            rule: "its controller is selected already", before: "tabs{a *b}", operation: .select("b"),
            anchor: "tabs"),
        OperationCase(
            rule: "a selection out of sight tells nobody", before: "tabs{*a b}>login", operation: .select(1),
            after: "tabs{a *b}>login", anchor: "tabs"),
    ])
    func `select`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "the secondary column is replaced", before: "split(one|three|nav[two x~>sheet])",
            operation: .showDetail("new[a]"), after: "split(one|three|new[a])", inserted: "new", removed: "nav",
            disappearing: "nav x sheet", appearing: "new a", anchor: "split"),
        OperationCase(
            rule: "what the old one presents goes first", before: "split(one|two~>sheet)",
            operation: .showDetail("new"), after: "split(one|new)", inserted: "new", removed: "sheet two",
            disappearing: "two sheet", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "a column replaced out of sight tells nobody", before: "tabs{split(one|two) *other}",
            operation: .showDetail("new"), after: "tabs{split(one|new) *other}", inserted: "new", removed: "two",
            anchor: "split"),
        OperationCase(
            rule: "collapsed, it is pushed on the primary", before: "split(nav[list]|two)^",
            operation: .showDetail("new"), after: "split(nav[list new]|two)^", inserted: "new",
            disappearing: "list", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "collapsed without a navigation, it is presented", before: "tabs{*split(list|two)^}",
            operation: .showDetail("~>new"), after: "tabs{*split(list|two)^}~>new", presenter: "tabs",
            inserted: "new", appearing: "new", order: .crossed, anchor: "tabs"),
    ])
    func `showDetail`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        (
            "tabs{a *b}", Operation.select(2), OperationRefusal.Code.indexOutOfRange,
            "Index 2 is none of the tabs of <tabs>, which has 2, counted from 0."
        ),
        (
            "tabs{}", .select(0), .indexOutOfRange,
            "Index 0 is none of the tabs of <tabs>, which has 0, counted from 0."
        ),
        (
            "tabs{a}", .select(-1), .indexOutOfRange,
            "Index -1 is none of the tabs of <tabs>, which has 1, counted from 0."
        ),
        (
            "tabs{a nav[b]}", .select("b"), .notAChild,
            "Attempting to select a view controller that isn't a child! <b> is no tab of <tabs>."
        ),
        (
            "tabs{a}~>sheet", .select("sheet"), .notAChild,
            "Attempting to select a view controller that isn't a child! <sheet> is no tab of <tabs>."
        ),
        (
            "tabs{a}", .select("nobody"), .notAChild,
            "Attempting to select a view controller that isn't a child! <nobody> is no tab of <tabs>."
        ),
        ("tabs{a}", .select(0, of: "nobody"), .unknownController, "There is no controller <nobody>."),
        ("tabs{a}", .select(0, of: "a"), .wrongKind, "<a> is a view controller, not a tabs controller."),
        (
            "split(one|two)", .showDetail("two"), .alreadyInHierarchy,
            "<two> is in the hierarchy already, and cannot come in again."
        ),
        ("split(one|two)", .showDetail("x", in: "nobody"), .unknownController, "There is no controller <nobody>."),
        (
            "split(one|two)", .showDetail("x", in: "one"), .wrongKind,
            "<one> is a view controller, not a split controller."
        ),
        ("split(one|two)", .showDetail(""), .unknownController, "There is no controller to bring in."),
        (
            "split(nav[one]|two)^", .showDetail("x[]"), .cannotPushContainer,
            "Pushing a navigation controller is not supported: <x> on <nav>."
        ),
        (
            "split(nav[one]|two)^", .showDetail("one"), .alreadyOnStack,
            "<nav> is pushing the same view controller instance <one> more than once which is not supported and is "
                + "most likely an error in the application."
        ),
        (
            "split(one|two)^>x", .showDetail("y"), .alreadyPresenting,
            "Attempt to present <y> on <split> (from <split>) which is already presenting <x>."
        ),
    ])
    func `selections and details are refused in UIKit's words`(
        before: String, operation: Operation, code: OperationRefusal.Code, detail: String
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined(before))
        #expect(throws: OperationRefusal(code: code, detail: detail)) { try storyboard.plan(operation) }
    }
}
