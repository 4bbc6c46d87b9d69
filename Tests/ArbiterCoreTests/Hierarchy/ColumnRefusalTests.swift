import Testing

@testable import ArbiterCore

/// What splits refuse, and what they do under the first rules.
struct HierarchyColumnRefusalTests {
    @Test(arguments: [
        (
            "split(one|two)", Operation.showDetail("one"), OperationRefusal.Code.alreadyInHierarchy,
            "<one> is in the hierarchy already, and cannot come in again."
        ),
        ("tabs{a}", .collapse("tabs"), .wrongKind, "<tabs> is a tabs controller, not a split controller."),
        ("tabs{a}", .expand("nobody"), .unknownController, "There is no controller <nobody>."),
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
        (
            "split(one|two)", .setColumn(.supplementary, "x"), .unknownColumn,
            "<split> is a split of two columns, and has no supplementary one."
        ),
        (
            "split(one|two)", .showColumn(.supplementary), .unknownColumn,
            "<split> is a split of two columns, and has no supplementary one."
        ),
        (
            "split(one|two)", .collapse(to: .supplementary), .unknownColumn,
            "<split> is a split of two columns, and has no supplementary one."
        ),
        (
            "split(nav[one]|two)^", .setColumn(.primary, "x"), .columnCollapsed,
            "<split> is collapsed into its primary column, which cannot be replaced then."
        ),
        (
            "split(one|two)", .setColumn(.primary, nil), .columnCollapsed,
            "<split> is never without its primary column."
        ),
        (
            "split(nav[one +two])^", .setColumn(.secondary, "x{}"), .cannotPushContainer,
            "Pushing a tab bar controller is not supported: <x> on <nav>."
        ),
        (
            "split(nav[one]|two{})^", .showColumn(.secondary), .cannotPushContainer,
            "Pushing a tab bar controller is not supported: <two> on <nav>."
        ),
        (
            "split(one|two)^", .showColumn(.secondary), .cannotPushContainer,
            "<two> cannot be shown: the primary column <one> is no navigation controller."
        ),
        (
            "split(one|two)", .setColumn(.secondary, "one"), .alreadyInHierarchy,
            "<one> is in the hierarchy already, and cannot come in again."
        ),
    ])
    func `columns are refused in UIKit's words, where it has some`(
        before: String, operation: Operation, code: OperationRefusal.Code, detail: String
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined(before))
        #expect(throws: OperationRefusal(code: code, detail: detail)) { try storyboard.plan(operation) }
    }

    @Test func `columns are where the split says`() {
        func split(_ columns: Controller.Columns) throws -> Hierarchy {
            try Hierarchy(
                root: id("split"),
                controllers: [
                    Controller(id: id("split"), content: .split(columns)),
                    Controller(id: id("nav"), content: .navigation(ids("list two"))), Controller(id: id("list")),
                    Controller(id: id("two")),
                ])
        }
        func columns(isCollapsed: Bool = true, style: SplitStyle? = nil, _ pushed: PushedColumns) -> Controller.Columns
        {
            Controller.Columns(
                primary: id("nav"), secondary: nil, isCollapsed: isCollapsed, style: style, pushed: pushed)
        }
        let both = PushedColumns(supplementary: id("two"), secondary: id("two"))
        #expect(throws: HierarchyFault.notPushed(id("two"), split: id("split"))) { try split(columns(both)) }
        #expect(throws: HierarchyFault.notPushed(id("two"), split: id("split"))) {
            try split(columns(isCollapsed: false, PushedColumns(secondary: id("two"))))
        }
        #expect(throws: HierarchyFault.notPushed(id("nav"), split: id("split"))) {
            try split(columns(PushedColumns(secondary: id("nav"))))
        }
        // Tabs are no stack.
        #expect(throws: HierarchyFault.notPushed(id("a"), split: id("split"))) {
            try Hierarchy(
                root: id("split"),
                controllers: [
                    Controller(
                        id: id("split"),
                        content: .split(
                            Controller.Columns(
                                primary: id("tabs"), secondary: nil, isCollapsed: true,
                                pushed: PushedColumns(secondary: id("a"))))),
                    Controller(id: id("tabs"), content: .tabs([id("a")], selected: 0)), Controller(id: id("a")),
                ])
        }
        #expect(throws: HierarchyFault.noSupplementary(split: id("split"))) {
            try split(columns(style: .doubleColumn, PushedColumns(supplementary: id("two"))))
        }
    }

    /// What a journal of the first rules says has to come to the same again.
    @Test(arguments: [
        OperationCase(
            rule: "only the detail goes onto the stack, and is no column there",
            before: "split(nav[list]|aside|detail)",
            operation: .collapse(), after: "split(nav[list detail]|aside|)^", disappearing: "list aside",
            anchor: "split"),
        OperationCase(
            rule: "the top of the stack becomes the detail", before: "split(nav[list a detail[b]])^",
            operation: .expand(), after: "split(nav[list a]|detail[b])", appearing: "a", anchor: "split"),
        OperationCase(
            rule: "a detail is pushed", before: "split(nav[list]|two)^", operation: .showDetail("new[a]"),
            after: "split(nav[list new[a]]|two)^", inserted: "new", disappearing: "list", appearing: "new a",
            anchor: "split"),
        OperationCase(
            rule: "`show` replaces the primary", before: "split(one|two)", operation: .segue(from: "two"),
            after: "split(new|two)", inserted: "new", removed: "one", disappearing: "one", appearing: "new",
            anchor: "split"),
    ])
    func `splits under the first rules`(row: OperationCase) throws {
        let show = Segue(identifier: .named("go"), source: id("two"), kind: .show, destination: arrival("new"))
        try row.check(segues: row.operation.type == .segue ? [show] : [], under: .first)
    }

    @Test func `the first rules refuse a collapse that cannot push`() throws {
        let storyboard = try Storyboard(hierarchy: .outlined("split(nav[one]|two{x})"))
        #expect(throws: OperationRefusal.self) { try storyboard.plan(.collapse(), under: .first) }
        #expect(try storyboard.plan(.collapse()) != nil)
    }
}
