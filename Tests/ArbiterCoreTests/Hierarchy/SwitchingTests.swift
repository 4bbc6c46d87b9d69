import Testing

@testable import ArbiterCore

struct HierarchySwitchingTests {
    @Test(arguments: [
        OperationCase(
            rule: "a higher tab is forward", before: "tabs{*a nav[b c]}", operation: .select(1),
            after: "tabs{a *nav[b c]}", disappearing: "a", appearing: "nav c", order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "a lower tab is backward", before: "tabs{a b *c}", operation: .select("b"),
            after: "tabs{a *b c}", disappearing: "c", appearing: "b", order: .comingFirst, isBackward: true,
            anchor: "tabs"),
        OperationCase(
            rule: "two tabs to the left", before: "tabs{a b *c}", operation: .select(by: -2),
            after: "tabs{*a b c}", disappearing: "c", appearing: "a", order: .comingFirst, isBackward: true,
            anchor: "tabs"),
        OperationCase(rule: "no tab further", before: "tabs{a *b}", operation: .select(by: 0), anchor: "tabs"),
        OperationCase(
            rule: "it is selected already", before: "tabs{a *b}", operation: .select(1), anchor: "tabs"),
        OperationCase(
            rule: "its controller is selected already", before: "tabs{a *b}", operation: .select("b"),
            anchor: "tabs"),
        OperationCase(
            rule: "a selection out of sight tells nobody", before: "tabs{*a b}>login", operation: .select(1),
            after: "tabs{a *b}>login", order: .comingFirst, anchor: "tabs"),
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
            rule: "collapsed, a navigation is pushed too", before: "split(nav[list]|two)^",
            operation: .showDetail("new[a]"), after: "split(nav[list new[a]]|two)^", inserted: "new",
            disappearing: "list", appearing: "new a", anchor: "split"),
        OperationCase(
            rule: "a new instance has the id of the one that it replaces", before: "split(one|two)",
            operation: .showDetail("two"), after: "split(one|two)", inserted: "two", removed: "two",
            disappearing: "two", appearing: "two", anchor: "split"),
        OperationCase(
            rule: "ids below the replaced column are free too", before: "split(one|nav[two x~>sheet])",
            operation: .showDetail("x[sheet]"), after: "split(one|x[sheet])", inserted: "x", removed: "nav",
            disappearing: "nav x sheet", appearing: "x sheet", anchor: "split"),
        OperationCase(
            rule: "a split without a detail gets one", before: "split(nav[one])",
            operation: .showDetail("two"), after: "split(nav[one]|two)", inserted: "two", appearing: "two",
            anchor: "split"),
        OperationCase(
            rule: "collapsed without a navigation, it is presented", before: "tabs{*split(list|two)^}",
            operation: .showDetail("~>new"), after: "tabs{*split(list|two)^}~>new", presenter: "tabs",
            inserted: "new", appearing: "new", order: .crossed, anchor: "tabs"),
    ])
    func `showDetail`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "the detail goes onto the primary stack", before: "split(nav[list]|detail[a])",
            operation: .collapse(), after: "split(nav[list detail[a]])^", disappearing: "list", anchor: "split"),
        OperationCase(
            rule: "the supplementary column is hidden", before: "split(nav[list]|aside|detail)",
            operation: .collapse(), after: "split(nav[list detail]|aside)^", disappearing: "list aside",
            anchor: "split"),
        OperationCase(
            rule: "without a navigation the detail is hidden", before: "split(list|detail)",
            operation: .collapse(), after: "split(list|detail)^", disappearing: "detail", anchor: "split"),
        OperationCase(
            rule: "out of sight nobody is told", before: "tabs{split(nav[list]|detail) *b}", operation: .collapse(),
            after: "tabs{split(nav[list detail])^ *b}", anchor: "split"),
        OperationCase(
            rule: "a detail under what the stack presents disappears", before: "split(nav[list]>x|detail)",
            operation: .collapse(), after: "split(nav[list detail]>x)^", disappearing: "detail", anchor: "split"),
        OperationCase(
            rule: "it is collapsed already", before: "split(list|detail)^", operation: .collapse(), anchor: "split"),
        OperationCase(
            rule: "the top of the primary stack becomes the detail", before: "split(nav[list a detail[b]])^",
            operation: .expand(), after: "split(nav[list a]|detail[b])", appearing: "a", anchor: "split"),
        OperationCase(
            rule: "the root stays", before: "split(nav[list])^", operation: .expand(), after: "split(nav[list])",
            anchor: "split"),
        OperationCase(
            rule: "a detail that was hidden is shown", before: "split(nav[list a]|detail)^", operation: .expand(),
            after: "split(nav[list a]|detail)", appearing: "detail", anchor: "split"),
        OperationCase(
            rule: "it is expanded already", before: "split(list|detail)", operation: .expand(), anchor: "split"),
    ])
    func `columns move when a split collapses and expands`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "who stays remains selected", before: "tabs{a *b c}", operation: .setTabs(["c", "x", "b"]),
            after: "tabs{c x *b}", inserted: "x", removed: "a", order: .comingFirst, isAnimated: false, anchor: "tabs"),
        OperationCase(
            rule: "else the same index is selected", before: "tabs{a *b c}", operation: .setTabs(["c", "x[y]"]),
            after: "tabs{c *x[y]}", inserted: "x", removed: "a b", disappearing: "b", appearing: "x y",
            order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "else the first", before: "tabs{a *b}", operation: .setTabs(["c"]), after: "tabs{*c}",
            inserted: "c", removed: "a b", disappearing: "b", appearing: "c", order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "unless another is named", before: "tabs{*a b}", operation: .setTabs(["a", "b"], selected: 1),
            after: "tabs{a *b}", disappearing: "a", appearing: "b", order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "a lower tab is backward", before: "tabs{a *b}", operation: .setTabs(["a", "b"], selected: 0),
            after: "tabs{*a b}", disappearing: "b", appearing: "a", order: .comingFirst, isBackward: true,
            anchor: "tabs"),
        OperationCase(
            rule: "ids of tabs that go are free", before: "tabs{*nav[a] b}", operation: .setTabs(["a", "b"]),
            after: "tabs{*a b}", inserted: "a", removed: "nav", disappearing: "nav a", appearing: "a",
            order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "there may be none", before: "tabs{*a~>sheet}", operation: .setTabs([]), after: "tabs{}",
            removed: "sheet a", disappearing: "a sheet", order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "they are the same", before: "tabs{a *b}", operation: .setTabs(["a", "b"]), anchor: "tabs"),
    ])
    func `setTabs`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "everything goes, presentations first", before: "nav[a]>b~>c", operation: .setRoot("tabs{*x a}"),
            after: "tabs{*x a}", inserted: "tabs", removed: "c b nav", disappearing: "b c", appearing: "tabs x"),
        OperationCase(
            rule: "a scene without a root gets one", before: "", operation: .setRoot("nav[a]"), after: "nav[a]",
            inserted: "nav", appearing: "nav a"),
    ])
    func `setRoot`(row: OperationCase) throws {
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
            "split(one|two)", .showDetail("one"), .alreadyInHierarchy,
            "<one> is in the hierarchy already, and cannot come in again."
        ),
        (
            "tabs{a *b}", .select(by: 1), .indexOutOfRange,
            "From tab 1, counted from 0, 1 leads past the end of <tabs>, which has 2."
        ),
        (
            "tabs{*a}", .select(by: .min), .indexOutOfRange,
            "From tab 0, counted from 0, -9223372036854775808 leads past the end of <tabs>, which has 1."
        ),
        (
            "split(nav[one]|two{x})", .collapse(), .cannotPushContainer,
            "Pushing a tab bar controller is not supported: <two> on <nav>."
        ),
        ("tabs{a}", .collapse("tabs"), .wrongKind, "<tabs> is a tabs controller, not a split controller."),
        ("tabs{a}", .expand("nobody"), .unknownController, "There is no controller <nobody>."),
        (
            "split(a|b)", .setTabs(["x"], of: "split"), .wrongKind,
            "<split> is a split controller, not a tabs controller."
        ),
        (
            "tabs{a b}", .setTabs(["a", "a"]), .alreadyInHierarchy,
            "<a> is in the hierarchy already, and cannot come in again."
        ),
        (
            "tabs{a nav[b]}", .setTabs(["nav[]", "b"]), .alreadyInHierarchy,
            "<b> is in the hierarchy already, and cannot come in again."
        ),
        (
            "tabs{a b}", .setTabs(["a"], selected: 1), .indexOutOfRange,
            "Index 1 is none of the tabs of <tabs>, which has 1, counted from 0."
        ),
        ("split(one|two)", .showDetail("x", in: "nobody"), .unknownController, "There is no controller <nobody>."),
        (
            "split(one|two)", .showDetail("x", in: "one"), .wrongKind,
            "<one> is a view controller, not a split controller."
        ),
        ("split(one|two)", .showDetail(""), .unknownController, "There is no controller to bring in."),
        (
            "split(nav[one]|two)^", .showDetail("x{}"), .cannotPushContainer,
            "Pushing a tab bar controller is not supported: <x> on <nav>."
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
