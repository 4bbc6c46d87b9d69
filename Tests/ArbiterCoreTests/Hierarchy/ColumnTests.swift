import Testing

@testable import ArbiterCore

/// The columns of splits; an outline marks those that stand on the primary's stack.
struct HierarchyColumnTests {
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
            rule: "collapsed, it takes the place of the secondary that is set aside", before: "split(nav[list]|two)^",
            operation: .showDetail("new"), after: "split(nav[list +new])^", inserted: "new", removed: "two",
            disappearing: "list", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "collapsed, a navigation is pushed too", before: "split(nav[list])^",
            operation: .showDetail("new[a]"), after: "split(nav[list +new[a]])^", inserted: "new",
            disappearing: "list", appearing: "new a", anchor: "split"),
        OperationCase(
            rule: "collapsed, it replaces the secondary on the stack, and what stands above goes",
            before: "split(nav[list &s +two a b])^", operation: .showDetail("two"), after: "split(nav[list &s +two])^",
            inserted: "two", removed: "b a two", disappearing: "b", appearing: "two", anchor: "split"),
        OperationCase(
            rule: "a column above is set aside", before: "split(nav[list +two &s])^", operation: .showDetail("new"),
            after: "split(nav[list +new]|s|)^", inserted: "new", removed: "two", disappearing: "s", appearing: "new",
            anchor: "split"),
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
            rule: "the columns go onto the primary stack", before: "split(nav[list]|aside|detail[a])",
            operation: .collapse(), after: "split(nav[list &aside +detail[a]])^", disappearing: "list aside",
            anchor: "split"),
        OperationCase(
            rule: "those beyond the top column are set aside", before: "split(nav[list]|aside|detail)",
            operation: .collapse(to: .supplementary), after: "split(nav[list &aside]||detail)^",
            disappearing: "list detail", anchor: "split"),
        OperationCase(
            rule: "a phone opens on the list", before: "split(nav[list]|detail)", operation: .collapse(to: .primary),
            after: "split(nav[list]|detail)^", disappearing: "detail", anchor: "split"),
        OperationCase(
            rule: "an empty top column means the one before it", before: "split(nav[list]||detail)",
            operation: .collapse(to: .supplementary), after: "split(nav[list]||detail)^", disappearing: "detail",
            anchor: "split"),
        OperationCase(
            rule: "what cannot be pushed is set aside", before: "split(nav[list]|s{*a}|detail)",
            operation: .collapse(), after: "split(nav[list +detail]|s{*a}|)^", disappearing: "list s a",
            anchor: "split"),
        OperationCase(
            rule: "without a navigation all are set aside", before: "split(list|detail)",
            operation: .collapse(), after: "split(list|detail)^", disappearing: "detail", anchor: "split"),
        OperationCase(
            rule: "a collapse out of sight tells nobody", before: "tabs{split(nav[list]|detail) *b}",
            operation: .collapse(),
            after: "tabs{split(nav[list +detail])^ *b}", anchor: "split"),
        OperationCase(
            rule: "a detail under what the stack presents disappears", before: "split(nav[list]>x|detail)",
            operation: .collapse(), after: "split(nav[list +detail]>x)^", disappearing: "detail", anchor: "split"),
        OperationCase(
            rule: "it is collapsed already", before: "split(list|detail)^", operation: .collapse(), anchor: "split"),
        OperationCase(
            rule: "the columns go back, and a navigation takes what stands above it",
            before: "split(nav[list &s x +detail[b] y z])^", operation: .expand(),
            after: "split(nav[list x]|s|detail[b y z])", appearing: "x s detail", anchor: "split"),
        OperationCase(
            rule: "what is set aside is shown again", before: "split(nav[list a]|detail)^", operation: .expand(),
            after: "split(nav[list a]|detail)", appearing: "detail", anchor: "split"),
        OperationCase(
            rule: "what was no column stays", before: "split(nav[list a])^", operation: .expand(),
            after: "split(nav[list a])", anchor: "split"),
        OperationCase(
            rule: "it is expanded already", before: "split(list|detail)", operation: .expand(), anchor: "split"),
    ])
    func `columns move when a split collapses and expands`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "a column that is popped is set aside", before: "split(nav[list +two])^", operation: .pop(),
            after: "split(nav[list]|two)^", disappearing: "two", appearing: "list", isBackward: true, leaving: "two",
            anchor: "split"),
        OperationCase(
            rule: "beside it, others are removed", before: "split(nav[list &s x +two~@>sheet y])^",
            operation: .popToRoot(), after: "split(nav[list]|s|two~@>sheet)^", removed: "y x", disappearing: "y",
            appearing: "list", isBackward: true, leaving: "y", anchor: "split"),
        OperationCase(
            rule: "down to a column", before: "split(nav[list &s +two])^", operation: .popTo("s"),
            after: "split(nav[list &s]||two)^", disappearing: "two", appearing: "s", isBackward: true, leaving: "two",
            anchor: "split"),
        OperationCase(
            rule: "a stack without the column removes it", before: "split(nav[list +two])^",
            operation: .setStack(["list", "new"]), after: "split(nav[list new])^", inserted: "new", removed: "two",
            disappearing: "two", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "a stack in another order keeps it", before: "split(nav[list +two])^",
            operation: .setStack(["two", "list"]), after: "split(nav[+two list])^", disappearing: "two",
            appearing: "list", isBackward: true, leaving: "two", anchor: "split"),
        OperationCase(
            rule: "without columns on it, the stack alone is touched", before: "split(nav[list a]|two)^",
            operation: .pop(), after: "split(nav[list]|two)^", removed: "a", disappearing: "a", appearing: "list",
            isBackward: true, leaving: "a", anchor: "nav"),
    ])
    func `what leaves the stack of a collapsed split`(row: OperationCase) throws {
        try row.check()
    }

    @Test func `an unwinding sets columns aside`() throws {
        let row = OperationCase(
            rule: "", before: "split(nav[home &s +two x])^", operation: .segue(from: "x"),
            after: "split(nav[home]|s|two)^", removed: "x", disappearing: "x", appearing: "home", isBackward: true,
            leaving: "x", anchor: "split")
        let unwind = Segue(identifier: .named("go"), source: id("x"), kind: .unwind, destination: arrival("home"))
        try row.check(segues: [unwind])
    }

    @Test(arguments: [
        OperationCase(
            rule: "any column is replaced", before: "split(one|s|two)", operation: .setColumn(.supplementary, "new[a]"),
            after: "split(one|new[a]|two)", inserted: "new", removed: "s", disappearing: "s", appearing: "new a",
            anchor: "split"),
        OperationCase(
            rule: "the primary too", before: "split(one|two)", operation: .setColumn(.primary, "new"),
            after: "split(new|two)", inserted: "new", removed: "one", disappearing: "one", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "a column becomes empty", before: "split(one|s|two)", operation: .setColumn(.supplementary, nil),
            after: "split(one||two)", removed: "s", disappearing: "s", anchor: "split"),
        OperationCase(
            rule: "an empty one is filled", before: "split(one||two)", operation: .setColumn(.supplementary, "s"),
            after: "split(one|s|two)", inserted: "s", appearing: "s", anchor: "split"),
        OperationCase(
            rule: "it is there already", before: "split(one|two)", operation: .setColumn(.secondary, "two"),
            anchor: "split"),
        OperationCase(
            rule: "it is on the stack already", before: "split(nav[one +two])^",
            operation: .setColumn(.secondary, "two"), anchor: "split"),
        OperationCase(
            rule: "it is empty already", before: "split(one)", operation: .setColumn(.secondary, nil),
            anchor: "split"),
        OperationCase(
            rule: "collapsed, the top of the stack is replaced", before: "split(nav[one +two])^",
            operation: .setColumn(.secondary, "new"), after: "split(nav[one +new])^", inserted: "new", removed: "two",
            disappearing: "two", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "collapsed, what stands above stays", before: "split(nav[one &s +two x])^",
            operation: .setColumn(.supplementary, "new"), after: "split(nav[one &new +two x])^", inserted: "new",
            removed: "s", isAnimated: false, anchor: "split"),
        OperationCase(
            rule: "collapsed, nobody takes its place on the stack", before: "split(nav[one +two])^",
            operation: .setColumn(.secondary, nil), after: "split(nav[one])^", removed: "two", disappearing: "two",
            appearing: "one", isBackward: true, leaving: "two", anchor: "split"),
        OperationCase(
            rule: "collapsed, one that is set aside is replaced there", before: "split(nav[one]|two)^",
            operation: .setColumn(.secondary, "new{}"), after: "split(nav[one]|new{})^", inserted: "new",
            removed: "two", isAnimated: false, anchor: "split"),
        OperationCase(
            rule: "collapsed, an empty one is filled out of sight", before: "split(nav[one])^",
            operation: .setColumn(.secondary, "new"), after: "split(nav[one]|new)^", inserted: "new",
            isAnimated: false, anchor: "split"),
    ])
    func `setColumn`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "it pops to the column", before: "split(nav[list &s x +two])^",
            operation: .showColumn(.supplementary),
            after: "split(nav[list &s]||two)^", removed: "x", disappearing: "two", appearing: "s", isBackward: true,
            leaving: "two", anchor: "split"),
        OperationCase(
            rule: "the primary is what stands below the first column", before: "split(nav[list a &s +two])^",
            operation: .showColumn(.primary), after: "split(nav[list a]|s|two)^", disappearing: "two", appearing: "a",
            isBackward: true, leaving: "two", anchor: "split"),
        OperationCase(
            rule: "it pushes a column with those before it", before: "split(nav[list]|s|two)^",
            operation: .showColumn(.secondary), after: "split(nav[list &s +two])^", disappearing: "list",
            appearing: "two", anchor: "split"),
        OperationCase(
            rule: "the later columns give way", before: "split(nav[list +two x]|s|)^",
            operation: .showColumn(.supplementary), after: "split(nav[list &s]||two)^", removed: "x", disappearing: "x",
            appearing: "s", anchor: "split"),
        OperationCase(
            rule: "one before it that cannot be pushed stays aside", before: "split(nav[list]|s{}|two)^",
            operation: .showColumn(.secondary), after: "split(nav[list +two]|s{}|)^", disappearing: "list",
            appearing: "two", anchor: "split"),
        OperationCase(
            rule: "it is on top already", before: "split(nav[list +two])^", operation: .showColumn(.secondary),
            anchor: "split"),
        OperationCase(
            rule: "the primary is shown already", before: "split(nav[list a]|two)^", operation: .showColumn(.primary),
            anchor: "split"),
        OperationCase(
            rule: "a primary without a stack is always shown", before: "split(list|two)^",
            operation: .showColumn(.primary), anchor: "split"),
        OperationCase(
            rule: "an empty column is not shown", before: "split(nav[list])^", operation: .showColumn(.secondary),
            anchor: "split"),
        OperationCase(
            rule: "expanded, all are shown", before: "split(nav[list]|two)", operation: .showColumn(.secondary),
            anchor: "split"),
    ])
    func `showColumn`(row: OperationCase) throws {
        try row.check()
    }
}
