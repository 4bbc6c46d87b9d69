import Testing

@testable import ArbiterCore

struct HierarchySegueTests {
    @Test(arguments: [
        OperationCase(
            rule: "the nearest navigation pushes", before: "split(nav[home]|two)", operation: .segue(from: "home"),
            after: "split(nav[home new]|two)", inserted: "new", disappearing: "home", appearing: "new",
            anchor: "nav"),
        OperationCase(
            rule: "a source that is a navigation is the nearest", before: "nav[home]",
            operation: .segue(from: "nav"), after: "nav[home new]", inserted: "new", disappearing: "home",
            appearing: "new", anchor: "nav"),
        OperationCase(
            rule: "tabs decide nothing", before: "split(tabs{*home}|two)", operation: .segue(from: "home"),
            after: "split(new|two)", inserted: "new", removed: "tabs", disappearing: "tabs home", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "a split replaces the column of the source", before: "split(one|two{*x})",
            operation: .segue(from: "x"),
            after: "split(one|new)", inserted: "new", removed: "two", disappearing: "two x", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "by a new instance with the same id too", before: "split(one|new{*x})", operation: .segue(from: "x"),
            after: "split(one|new)", inserted: "new", removed: "new", disappearing: "new x", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "from the split itself, the primary", before: "split(one|two)", operation: .segue(from: "split"),
            after: "split(new|two)", inserted: "new", removed: "one", disappearing: "one", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "a collapsed split pushes on its primary", before: "split(nav[list]|two)^",
            operation: .segue(from: "split"), after: "split(nav[list +new])^", inserted: "new", removed: "two",
            disappearing: "list", appearing: "new", anchor: "split"),
        OperationCase(
            rule: "a collapsed split without a navigation presents", before: "split(list|two)^",
            operation: .segue(from: "list"), after: "split(list|two)^>new", presenter: "split", inserted: "new",
            disappearing: "split list", appearing: "new", order: .crossed, anchor: "split"),
        OperationCase(
            rule: "without a container it is presented", before: "nav[home]>login", operation: .segue(from: "login"),
            after: "nav[home]>login>new", presenter: "login", inserted: "new", disappearing: "login",
            appearing: "new", order: .crossed, anchor: "login"),
    ])
    func `show`(row: OperationCase) throws {
        try row.check(segues: segues(.show, to: "new", in: row))
    }

    @Test(arguments: [
        OperationCase(
            rule: "the nearest split shows it", before: "split(nav[home]|two)", operation: .segue(from: "home"),
            after: "split(nav[home]|new)", inserted: "new", removed: "two", disappearing: "two", appearing: "new",
            anchor: "split"),
        OperationCase(
            rule: "without a split it is presented", before: "split(one|two)>nav[home]",
            operation: .segue(from: "home"), after: "split(one|two)>nav[home]>new", presenter: "nav",
            inserted: "new", disappearing: "nav home", appearing: "new", order: .crossed, anchor: "nav"),
    ])
    func `showDetail`(row: OperationCase) throws {
        try row.check(segues: segues(.showDetail, to: "new", in: row))
    }

    @Test(arguments: [
        OperationCase(
            rule: "it presents from its source", before: "nav[home]", operation: .segue(from: "home"),
            after: "nav[home]~>new", presenter: "nav", inserted: "new", appearing: "new", order: .crossed,
            anchor: "nav")
    ])
    func `present`(row: OperationCase) throws {
        try row.check(segues: segues(.present, to: "~>new", in: row))
    }

    @Test(arguments: [
        OperationCase(
            rule: "everything presented above goes, the topmost first", before: "nav[home]>a~>b",
            operation: .segue(from: "b"), after: "nav[home]", presenter: "nav", removed: "b a",
            disappearing: "a b", appearing: "nav home", order: .crossed, isBackward: true, leaving: "a",
            anchor: "nav"),
        OperationCase(
            rule: "every navigation above pops to the way", before: "nav[home a b]", operation: .segue(from: "b"),
            after: "nav[home]", removed: "b a", disappearing: "b", appearing: "home", isBackward: true,
            leaving: "b", anchor: "nav"),
        OperationCase(
            rule: "all tabs above select the way", before: "tabs{nav[home a] *other}",
            operation: .segue(from: "other"), after: "tabs{*nav[home] other}", removed: "a", disappearing: "other",
            appearing: "nav home", isBackward: true, leaving: "a", anchor: "tabs"),
        OperationCase(
            rule: "presentations go before pops", before: "nav[home~@>x a]~>sheet", operation: .segue(from: "sheet"),
            after: "nav[home]", presenter: "nav", removed: "sheet x a", disappearing: "a sheet", appearing: "home",
            order: .crossed, isBackward: true, leaving: "sheet", anchor: "nav"),
        OperationCase(
            rule: "what is presented to the destination's layer stays", before: "top>nav[home a]",
            operation: .segue(from: "a"), after: "top>nav[home]", removed: "a", disappearing: "a",
            appearing: "home", isBackward: true, leaving: "a", anchor: "nav"),
        OperationCase(
            rule: "it is there already", before: "tabs{*nav[home]}", operation: .segue(from: "home"), anchor: "tabs"),
    ])
    func `unwind`(row: OperationCase) throws {
        try row.check(segues: segues(.unwind, to: "home", in: row))
    }

    @Test func `an unwinding needs a source that stands elsewhere too`() throws {
        let row = OperationCase(
            rule: "", before: "split(one!@>x|two!@>nav[home a])", operation: .segue(from: "x"))
        let storyboard = try Storyboard(
            hierarchy: .outlined(row.before), segues: segues(.unwind, to: "home", in: row))
        #expect(storyboard.anchors(of: row.operation) == ids("nav x"))
    }

    @Test(arguments: [
        ("nobody", OperationRefusal.Code.unknownController, "There is no controller <nobody>."),
        ("home", .unknownSegue, "Receiver (<home>) has no segue with identifier 'x'"),
        ("lost", .unknownController, "There is no controller <gone>."),
    ])
    func `segues are refused in UIKit's words`(source: String, code: OperationRefusal.Code, detail: String) throws {
        let unwind = Segue(
            identifier: .named("x"), source: id("lost"), kind: .unwind, destination: arrival("gone"))
        let storyboard = try Storyboard(hierarchy: .outlined("nav[home lost]"), segues: [unwind])
        #expect(throws: OperationRefusal(code: code, detail: detail)) {
            try storyboard.plan(.segue("x", from: source))
        }
        #expect(storyboard.anchors(of: .segue("x", from: source)).isEmpty)
    }

    /// The segue `go` from the source that the row's operation names.
    private func segues(_ kind: Segue.Kind, to outline: String, in row: OperationCase) -> [Segue] {
        guard case .segue(let source, let identifier, _) = row.operation else { return [] }
        return [Segue(identifier: identifier, source: source, kind: kind, destination: arrival(outline))]
    }
}
