import Testing

@testable import ArbiterCore

struct HierarchyPresentingTests {
    @Test(arguments: [
        OperationCase(
            rule: "the layer's topmost controller presents, and full screen covers it",
            before: "nav[home]", operation: .present("login[name]", from: "home"), after: "nav[home]>login[name]",
            presenter: "nav", inserted: "login", disappearing: "nav home", appearing: "login name", order: .crossed,
            anchor: "nav"),
        OperationCase(
            rule: "a sheet leaves its presenter in view",
            before: "nav[home]", operation: .present("~>sheet", from: "home"), after: "nav[home]~>sheet",
            presenter: "nav", inserted: "sheet", appearing: "sheet", order: .crossed, anchor: "nav"),
        OperationCase(
            rule: "a layer goes no further up than to what is presented",
            before: "home>nav[name]", operation: .present(">help", from: "name"), after: "home>nav[name]>help",
            presenter: "nav", inserted: "help", disappearing: "nav name", appearing: "help", order: .crossed,
            anchor: "nav"),
        OperationCase(
            rule: "a current context is the first at or above that defines one",
            before: "split(nav![one]|two)", operation: .present("@>over", from: "one"),
            after: "split(nav![one]@>over|two)", presenter: "nav", inserted: "over", disappearing: "nav one",
            appearing: "over", order: .crossed, anchor: "nav"),
        OperationCase(
            rule: "the presenter itself may define the context",
            before: "split(one!|two)", operation: .present("~@>over", from: "one"),
            after: "split(one!~@>over|two)", presenter: "one", inserted: "over", appearing: "over", order: .crossed,
            anchor: "one"),
        OperationCase(
            rule: "without a context the layer's topmost controller presents",
            before: "top!>split(one|two)", operation: .present("@>over", from: "one"),
            after: "top!>split(one|two)@>over", presenter: "split", inserted: "over",
            disappearing: "split one two", appearing: "over", order: .crossed, anchor: "split"),
        OperationCase(
            rule: "without a presenter, the controller in front presents",
            before: "tabs{*nav[home]~>sheet other}", operation: .present("~>alert", from: nil),
            after: "tabs{*nav[home]~>sheet~>alert other}", presenter: "sheet", inserted: "alert", appearing: "alert",
            order: .crossed),
        OperationCase(
            rule: "only the styles that seek a context care for one",
            before: "nav[home!]", operation: .present("~>sheet", from: "home"), after: "nav[home!]~>sheet",
            presenter: "nav", inserted: "sheet", appearing: "sheet", order: .crossed, anchor: "nav"),
        OperationCase(
            rule: "what is presented along with the newcomer comes along",
            before: "home", operation: .present("login>help", from: "home"), after: "home>login>help",
            presenter: "home", inserted: "login", disappearing: "home", appearing: "help", order: .crossed,
            anchor: "home"),
    ])
    func `present`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "what a controller presents goes, and the controller stays",
            before: "nav[home]>login", operation: .dismiss("nav"), after: "nav[home]", presenter: "nav",
            removed: "login", disappearing: "login", appearing: "nav home", order: .crossed, isBackward: true,
            leaving: "login", anchor: "nav"),
        OperationCase(
            rule: "what the nearest ancestor in the layer presents goes",
            before: "nav[home]~>sheet", operation: .dismiss("home"), after: "nav[home]", presenter: "nav",
            removed: "sheet", disappearing: "sheet", order: .crossed, isBackward: true, leaving: "sheet",
            anchor: "nav"),
        OperationCase(
            rule: "a layer that presents nothing is dismissed by its presenter",
            before: "home>login[name]", operation: .dismiss("name"), after: "home", presenter: "home",
            removed: "login", disappearing: "login name", appearing: "home", order: .crossed, isBackward: true,
            leaving: "login", anchor: "home"),
        OperationCase(
            rule: "everything above goes along, the topmost first",
            before: "home>a~>b>c", operation: .dismiss("home"), after: "home", presenter: "home",
            removed: "c b a", disappearing: "a c", appearing: "home", order: .crossed, isBackward: true, leaving: "a",
            anchor: "home"),
        OperationCase(
            rule: "a layer that presents something stays",
            before: "home>a>b", operation: .dismiss("a"), after: "home>a", presenter: "a", removed: "b",
            disappearing: "b", appearing: "a", order: .crossed, isBackward: true, leaving: "b", anchor: "home"),
        OperationCase(
            rule: "what a context presents goes before what the layer's topmost presents",
            before: "split(one!@>over|two)~>sheet", operation: .dismiss("one"), after: "split(one!|two)~>sheet",
            presenter: "one", removed: "over", disappearing: "over", appearing: "one", order: .crossed,
            isBackward: true, leaving: "over", anchor: "split"),
        OperationCase(
            rule: "what goes unseen tells nobody",
            before: "tabs{one~>over *two}", operation: .dismiss("one"), after: "tabs{one *two}", presenter: "one",
            removed: "over", order: .crossed, isBackward: true, leaving: "over", anchor: "tabs"),
        OperationCase(
            rule: "whoever neither presents nor is presented has nothing to dismiss",
            before: "nav[home]", operation: .dismiss("home"), anchor: "nav"),
    ])
    func `dismiss`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        (
            "home", Operation.present("editor", from: "nobody"), OperationRefusal.Code.unknownController,
            "There is no controller <nobody>."
        ),
        ("home", .present("", from: "home"), .unknownController, "There is no controller to bring in."),
        (
            "", .present("alert", from: nil), .unknownController,
            "There is no controller in front: the hierarchy is empty."
        ),
        (
            "nav[home]>login", .present("login", from: "home"), .alreadyInHierarchy,
            "Application tried to present modally an active controller <login>."
        ),
        (
            "nav[home]", .present("editor[x~>home]", from: "home"), .alreadyInHierarchy,
            "Application tried to present modally an active controller <home>."
        ),
        (
            "nav[home]>login", .present("editor", from: "home"), .alreadyPresenting,
            "Attempt to present <editor> on <nav> (from <home>) which is already presenting <login>."
        ),
        (
            "nav[home detail]", .present("editor", from: "home"), .notVisible,
            "Attempt to present <editor> on <nav> (from <home>) whose view is not in the window hierarchy!"
        ),
        (
            "tabs{nav[home] *other}", .present("editor", from: "nav"), .notVisible,
            "Attempt to present <editor> on <tabs> (from <nav>) whose view is not in the window hierarchy!"
        ),
        ("home", .dismiss("nobody"), .unknownController, "There is no controller <nobody>."),
        ("", .dismiss("nobody"), .unknownController, "There is no controller <nobody>."),
    ])
    func `presentations are refused in UIKit's words`(
        before: String, operation: Operation, code: OperationRefusal.Code, detail: String
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined(before))
        #expect(throws: OperationRefusal(code: code, detail: detail)) { try storyboard.plan(operation) }
    }
}
