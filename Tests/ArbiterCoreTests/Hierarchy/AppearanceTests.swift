import Testing

@testable import ArbiterCore

/// A row of the table of appearance events: an operation, and its events in order.
struct AppearanceCase: CustomTestStringConvertible, Sendable {
    let rule: String
    let before: String
    let operation: Operation
    let beginning: String
    let completed: String
    let cancelled: String

    var testDescription: String { rule }
}

struct HierarchyAppearanceTests {
    @Test(arguments: [
        AppearanceCase(
            rule: "push", before: "nav[a]", operation: .push("b"),
            beginning: "a.willDisappear b.willAppear", completed: "a.didDisappear b.didAppear",
            cancelled: "b.willDisappear b.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "pop", before: "nav[a b]", operation: .pop(),
            beginning: "b.willDisappear a.willAppear", completed: "b.didDisappear a.didAppear",
            cancelled: "a.willDisappear a.didDisappear b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "set", before: "nav[a]", operation: .setStack(["b"]),
            beginning: "a.willDisappear b.willAppear", completed: "a.didDisappear b.didAppear",
            cancelled: "b.willDisappear b.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "select, each container before what it shows", before: "tabs{*a nav[b c]}", operation: .select(1),
            beginning: "nav.willAppear c.willAppear a.willDisappear",
            completed: "a.didDisappear nav.didAppear c.didAppear",
            cancelled: "nav.willDisappear c.willDisappear nav.didDisappear c.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "showDetail", before: "split(a|b)", operation: .showDetail("c"),
            beginning: "b.willDisappear c.willAppear", completed: "b.didDisappear c.didAppear",
            cancelled: "c.willDisappear c.didDisappear b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "full-screen present", before: "a", operation: .present("b", from: "a"),
            beginning: "a.willDisappear b.willAppear", completed: "b.didAppear a.didDisappear",
            cancelled: "b.willDisappear b.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "full-screen dismiss", before: "a>b", operation: .dismiss("b"),
            beginning: "b.willDisappear a.willAppear", completed: "a.didAppear b.didDisappear",
            cancelled: "a.willDisappear a.didDisappear b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "sheet present", before: "a", operation: .present("~>b", from: "a"),
            beginning: "b.willAppear", completed: "b.didAppear", cancelled: "b.willDisappear b.didDisappear"),
        AppearanceCase(
            rule: "sheet dismiss", before: "a~>b", operation: .dismiss("a"),
            beginning: "b.willDisappear", completed: "b.didDisappear", cancelled: "b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "current-context present", before: "tabs!{*nav[a] b}", operation: .present("@>x", from: "a"),
            beginning: "tabs.willDisappear nav.willDisappear a.willDisappear x.willAppear",
            completed: "x.didAppear tabs.didDisappear nav.didDisappear a.didDisappear",
            cancelled: "x.willDisappear x.didDisappear tabs.willAppear nav.willAppear a.willAppear "
                + "tabs.didAppear nav.didAppear a.didAppear"),
        AppearanceCase(
            rule: "over-current-context present", before: "nav!{a}", operation: .present("~@>x", from: "a"),
            beginning: "x.willAppear", completed: "x.didAppear", cancelled: "x.willDisappear x.didDisappear"),
        AppearanceCase(
            rule: "a full screen over a sheet tells what the sheet shows", before: "a~>b",
            operation: .present("c", from: "b"),
            beginning: "b.willDisappear c.willAppear", completed: "c.didAppear b.didDisappear",
            cancelled: "c.willDisappear c.didDisappear b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "setTabs", before: "tabs{*a b}", operation: .setTabs(["c"]),
            beginning: "c.willAppear a.willDisappear", completed: "a.didDisappear c.didAppear",
            cancelled: "c.willDisappear c.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "setColumn", before: "split(a|b|c)", operation: .setColumn(.supplementary, "d"),
            beginning: "b.willDisappear d.willAppear", completed: "b.didDisappear d.didAppear",
            cancelled: "d.willDisappear d.didDisappear b.willAppear b.didAppear"),
        AppearanceCase(
            rule: "showColumn", before: "split(nav[a]|b)^", operation: .showColumn(.secondary),
            beginning: "a.willDisappear b.willAppear", completed: "a.didDisappear b.didAppear",
            cancelled: "b.willDisappear b.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "collapse", before: "split(nav[a]|b)", operation: .collapse(),
            beginning: "a.willDisappear", completed: "a.didDisappear", cancelled: "a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "expand", before: "split(nav[a +b])^", operation: .expand(),
            beginning: "a.willAppear", completed: "a.didAppear", cancelled: "a.willDisappear a.didDisappear"),
        AppearanceCase(
            rule: "setRoot", before: "a", operation: .setRoot("b"),
            beginning: "a.willDisappear b.willAppear", completed: "a.didDisappear b.didAppear",
            cancelled: "b.willDisappear b.didDisappear a.willAppear a.didAppear"),
        AppearanceCase(
            rule: "where nothing is in view", before: "tabs{*x nav[a b]}", operation: .pop(),
            beginning: "", completed: "", cancelled: ""),
    ])
    func `views are told in UIKit's order, whatever the outcome`(row: AppearanceCase) throws {
        let storyboard = try Storyboard(hierarchy: .outlined(row.before))
        let plan = try #require(try storyboard.plan(row.operation))
        #expect(words(plan.beginning) == row.beginning)
        #expect(words(plan.ending(isCompleted: true)) == row.completed)
        #expect(words(plan.ending(isCompleted: false)) == row.cancelled)
    }

    private func words(_ events: [AppearanceEvent]) -> String {
        events.map { "\($0.controller).\($0.change.rawValue)" }.joined(separator: " ")
    }
}
