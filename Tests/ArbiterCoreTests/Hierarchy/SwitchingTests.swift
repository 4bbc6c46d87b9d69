import Testing

@testable import ArbiterCore

struct HierarchySwitchingTests {
    @Test(arguments: [
        OperationCase(
            rule: "a higher tab is forward", before: "tabs{*a nav[b c]}", operation: .select(1),
            after: "tabs{a *nav[b c]}", disappearing: "a", appearing: "nav c", order: .comingFirst, selected: "nav",
            anchor: "tabs"),
        OperationCase(
            rule: "a lower tab is backward", before: "tabs{a b *c}", operation: .select("b"),
            after: "tabs{a *b c}", disappearing: "c", appearing: "b", order: .comingFirst, isBackward: true,
            selected: "b", anchor: "tabs"),
        OperationCase(
            rule: "two tabs to the left", before: "tabs{a b *c}", operation: .select(by: -2),
            after: "tabs{*a b c}", disappearing: "c", appearing: "a", order: .comingFirst, isBackward: true,
            selected: "a", anchor: "tabs"),
        OperationCase(rule: "no tab further", before: "tabs{a *b}", operation: .select(by: 0), anchor: "tabs"),
        OperationCase(
            rule: "it is selected already", before: "tabs{a *b}", operation: .select(1), anchor: "tabs"),
        OperationCase(
            rule: "its controller is selected already", before: "tabs{a *b}", operation: .select("b"),
            anchor: "tabs"),
        OperationCase(
            rule: "a selection out of sight tells nobody", before: "tabs{*a b}>login", operation: .select(1),
            after: "tabs{a *b}>login", order: .comingFirst, selected: "b", anchor: "tabs"),
    ])
    func `select`(row: OperationCase) throws {
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
            rule: "it becomes the last tab", before: "tabs{*a b}", operation: .insertTab("c[d]"),
            after: "tabs{*a b c[d]}", inserted: "c", order: .comingFirst, isAnimated: false, anchor: "tabs"),
        OperationCase(
            rule: "before the selected one, which stays selected", before: "tabs{a *b}",
            operation: .insertTab("c", at: 1), after: "tabs{a c *b}", inserted: "c", order: .comingFirst,
            isAnimated: false, anchor: "tabs"),
        OperationCase(
            rule: "the first one is selected", before: "tabs{}", operation: .insertTab("a", at: 0), after: "tabs{*a}",
            inserted: "a", appearing: "a", order: .comingFirst, anchor: "tabs"),
        OperationCase(
            rule: "beside the selected one, which stays selected", before: "tabs{a *b}", operation: .removeTab("a"),
            after: "tabs{*b}", removed: "a", order: .comingFirst, isAnimated: false, anchor: "tabs"),
        OperationCase(
            rule: "the next one is selected", before: "tabs{a *b~@>x c}", operation: .removeTab("b"),
            after: "tabs{a *c}", removed: "x b", disappearing: "b x", appearing: "c", order: .comingFirst,
            anchor: "tabs"),
        OperationCase(
            rule: "if there is none, the first", before: "tabs{a b *c}", operation: .removeTab("c"),
            after: "tabs{*a b}", removed: "c", disappearing: "c", appearing: "a", order: .comingFirst,
            anchor: "tabs"),
        OperationCase(
            rule: "the last one leaves none", before: "tabs{*a}", operation: .removeTab("a"), after: "tabs{}",
            removed: "a", disappearing: "a", order: .comingFirst, anchor: "tabs"),
    ])
    func `a tab comes or goes`(row: OperationCase) throws {
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
        ("tabs{a}", .insertTab("a"), .alreadyAChild, "<a> is a tab of <tabs> already."),
        (
            "tabs{a>b}", .insertTab("b"), .alreadyInHierarchy,
            "<b> is in the hierarchy already, and cannot come in again."
        ),
        (
            "tabs{a}", .insertTab("b", at: 2), .indexOutOfRange,
            "Index 2 is no place among the tabs of <tabs>, which has 1, counted from 0."
        ),
        (
            "tabs{a}", .insertTab("b", at: -1), .indexOutOfRange,
            "Index -1 is no place among the tabs of <tabs>, which has 1, counted from 0."
        ),
        ("tabs{a}", .insertTab("b", of: "a"), .wrongKind, "<a> is a view controller, not a tabs controller."),
        ("tabs{nav[a]}", .removeTab("a"), .notAChild, "<a> is no tab of <tabs>."),
        ("tabs{a}", .select(0, of: "nobody"), .unknownController, "There is no controller <nobody>."),
        ("tabs{a}", .select(0, of: "a"), .wrongKind, "<a> is a view controller, not a tabs controller."),
        (
            "tabs{a *b}", .select(by: 1), .indexOutOfRange,
            "From tab 1, counted from 0, 1 leads past the end of <tabs>, which has 2."
        ),
        (
            "tabs{*a}", .select(by: .min), .indexOutOfRange,
            "From tab 0, counted from 0, -9223372036854775808 leads past the end of <tabs>, which has 1."
        ),
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
    ])
    func `selections are refused in UIKit's words`(
        before: String, operation: Operation, code: OperationRefusal.Code, detail: String
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined(before))
        #expect(throws: OperationRefusal(code: code, detail: detail)) { try storyboard.plan(operation) }
    }
}
