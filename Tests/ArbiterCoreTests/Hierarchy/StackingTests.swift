import Testing

@testable import ArbiterCore

struct HierarchyStackingTests {
    @Test(arguments: [
        OperationCase(
            rule: "a controller is pushed on top", before: "nav[home]", operation: .push("detail"),
            after: "nav[home detail]", inserted: "detail", disappearing: "home", appearing: "detail", anchor: "nav"),
        OperationCase(
            rule: "the first one goes on an empty stack", before: "nav[]", operation: .push("home"),
            after: "nav[home]", inserted: "home", appearing: "home", anchor: "nav"),
        OperationCase(
            rule: "a push out of sight tells nobody", before: "tabs{nav[home] *other}", operation: .push("detail"),
            after: "tabs{nav[home detail] *other}", inserted: "detail", anchor: "nav"),
        OperationCase(
            rule: "a push under what is presented tells nobody", before: "nav[home]>login",
            operation: .push("detail"), after: "nav[home detail]>login", inserted: "detail", anchor: "nav"),
        OperationCase(
            rule: "what comes and goes is told with all that is visible of it", before: "nav[home~@>a]",
            operation: .push("detail@>b"), after: "nav[home~@>a detail@>b]", inserted: "detail",
            disappearing: "home a", appearing: "b", anchor: "nav"),
    ])
    func `push`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "the top is popped", before: "nav[a b c]", operation: .pop(), after: "nav[a b]", removed: "c",
            disappearing: "c", appearing: "b", isBackward: true, leaving: "c", anchor: "nav"),
        OperationCase(rule: "the root stays", before: "nav[a]", operation: .pop(), anchor: "nav"),
        OperationCase(rule: "there is nothing to pop", before: "nav[]", operation: .pop(), anchor: "nav"),
        OperationCase(
            rule: "what it presents goes along, and first", before: "nav[a b~>x~>y]", operation: .pop(),
            after: "nav[a]", removed: "y x b", disappearing: "b x y", appearing: "a", isBackward: true, leaving: "b",
            anchor: "nav"),
        OperationCase(
            rule: "those above go, the top first", before: "nav[a b c d]", operation: .popTo("b"),
            after: "nav[a b]", removed: "d c", disappearing: "d", appearing: "b", isBackward: true, leaving: "d",
            anchor: "nav"),
        OperationCase(rule: "it is the top already", before: "nav[a b]", operation: .popTo("b"), anchor: "nav"),
        OperationCase(
            rule: "all but the root go, the top first", before: "tabs{*nav[a b c]}", operation: .popToRoot(),
            after: "tabs{*nav[a]}", removed: "c b", disappearing: "c", appearing: "a", isBackward: true,
            leaving: "c", anchor: "nav"),
        OperationCase(rule: "it is at the root already", before: "nav[a]", operation: .popToRoot(), anchor: "nav"),
        OperationCase(rule: "an empty stack has no root", before: "nav[]", operation: .popToRoot(), anchor: "nav"),
        OperationCase(
            rule: "a pop out of sight tells nobody", before: "tabs{nav[a b] *other}", operation: .pop(),
            after: "tabs{nav[a] *other}", removed: "b", isBackward: true, leaving: "b", anchor: "nav"),
    ])
    func `pop, popTo and popToRoot`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        OperationCase(
            rule: "a last one that is new is pushed", before: "nav[a b]", operation: .setStack(["a", "c", "d"]),
            after: "nav[a c d]", inserted: "c d", removed: "b", disappearing: "b", appearing: "d", anchor: "nav"),
        OperationCase(
            rule: "a last one that is below the top is popped to", before: "nav[a b c]",
            operation: .setStack(["a", "b"]), after: "nav[a b]", removed: "c", disappearing: "c", appearing: "b",
            isBackward: true, leaving: "c", anchor: "nav"),
        OperationCase(
            rule: "a pop may put something below", before: "nav[a b c]", operation: .setStack(["x", "a"]),
            after: "nav[x a]", inserted: "x", removed: "c b", disappearing: "c", appearing: "a", isBackward: true,
            leaving: "c", anchor: "nav"),
        OperationCase(
            rule: "a last one that is the top moves no view", before: "nav[a b c]", operation: .setStack(["x", "c"]),
            after: "nav[x c]", inserted: "x", removed: "b a", isAnimated: false, anchor: "nav"),
        OperationCase(
            rule: "those on the stack stay as they are", before: "nav[a~>sheet b]",
            operation: .setStack(["b", "a>other"]), after: "nav[b a~>sheet]", disappearing: "b",
            appearing: "a sheet", isBackward: true, leaving: "b", anchor: "nav"),
        OperationCase(
            rule: "an empty stack gets its first ones", before: "nav[]", operation: .setStack(["a", "b"]),
            after: "nav[a b]", inserted: "a b", appearing: "b", anchor: "nav"),
        OperationCase(
            rule: "what it is already takes nothing", before: "nav[a b]", operation: .setStack(["a", "b"]),
            anchor: "nav"),
        OperationCase(
            rule: "nothing on an empty stack takes nothing", before: "nav[]", operation: .setStack([]), anchor: "nav"),
        OperationCase(
            rule: "a stack set out of sight tells nobody", before: "tabs{nav[a] *other}",
            operation: .setStack(["b"]), after: "tabs{nav[b] *other}", inserted: "b", removed: "a", anchor: "nav"),
    ])
    func `setStack`(row: OperationCase) throws {
        try row.check()
    }

    @Test(arguments: [
        (
            Operation.push("x", on: "nobody"), OperationRefusal.Code.unknownController,
            "There is no controller <nobody>."
        ),
        (.push("x", on: "tabs"), .wrongKind, "<tabs> is a tabs controller, not a navigation controller."),
        (.pop("a"), .wrongKind, "<a> is a view controller, not a navigation controller."),
        (.popToRoot("nobody"), .unknownController, "There is no controller <nobody>."),
        (.push(""), .unknownController, "There is no controller to bring in."),
        (
            .push("a"), .alreadyOnStack,
            "<nav> is pushing the same view controller instance <a> more than once which is not supported and is most "
                + "likely an error in the application."
        ),
        (.push("other"), .alreadyInHierarchy, "<other> is in the hierarchy already, and cannot come in again."),
        (.push("x>a"), .alreadyInHierarchy, "<a> is in the hierarchy already, and cannot come in again."),
        (
            .push("inner[]"), .cannotPushContainer,
            "Pushing a navigation controller is not supported: <inner> on <nav>."
        ),
        (
            .push("inner{}"), .cannotPushContainer,
            "Pushing a tab bar controller is not supported: <inner> on <nav>."
        ),
        (
            .setStack(["inner(x|y)"]), .cannotPushContainer,
            "Split View Controllers cannot be pushed to a Navigation Controller: <inner> on <nav>."
        ),
        (.popTo("other"), .notOnStack, "Tried to pop to a view controller that doesn't exist."),
        (.popTo("sheet"), .notOnStack, "Tried to pop to a view controller that doesn't exist."),
        (.popTo("nobody"), .notOnStack, "Tried to pop to a view controller that doesn't exist."),
        (
            .setStack(["a", "x", "a"]), .alreadyOnStack,
            "<nav> is pushing the same view controller instance <a> more than once which is not supported and is most "
                + "likely an error in the application."
        ),
        (
            .setStack(["x>y", "y"]), .alreadyInHierarchy,
            "<y> is in the hierarchy already, and cannot come in again."
        ),
        (
            .setStack(["a", "other"]), .alreadyInHierarchy,
            "<other> is in the hierarchy already, and cannot come in again."
        ),
        (
            .setStack([]), .notOnStack,
            "<nav> has a root, and is never without one: its stack cannot be empty."
        ),
    ])
    func `changes of a stack are refused in UIKit's words`(
        operation: Operation, code: OperationRefusal.Code, detail: String
    ) throws {
        let storyboard = try Storyboard(hierarchy: .outlined("tabs{*nav[a b~>sheet] other}"))
        #expect(throws: OperationRefusal(code: code, detail: detail)) { try storyboard.plan(operation) }
    }
}
