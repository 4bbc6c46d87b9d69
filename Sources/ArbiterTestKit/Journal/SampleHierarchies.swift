package import ArbiterCore

/// Hierarchies, storyboards and requests about them, with values of every kind.
package enum SampleHierarchies {
    /// Every kind of controller, and presentations on two levels.
    package static let everything = hierarchy(
        "tabs",
        Controller(id: id("tabs"), content: .tabs([id("nav"), id("split")], selected: 1), presented: id("sheet")),
        Controller(id: id("nav"), content: .navigation([id("home"), id("list")])),
        Controller(id: id("home"), definesPresentationContext: true),
        Controller(id: id("list"), introTransitionType: type("star")),
        Controller(
            id: id("split"),
            content: .split(
                Controller.Columns(
                    primary: id("master"), secondary: id("detail"), supplementary: id("aside"), isCollapsed: true))),
        Controller(id: id("master")), Controller(id: id("detail")), Controller(id: id("aside")),
        Controller(id: id("sheet"), presented: id("over"), presentationStyle: .pageSheet),
        Controller(id: id("over"), presentationStyle: .overCurrentContext)
    )

    /// A collapsed split with columns on its primary's stack, and one of three columns that has only one.
    package static let pushed = hierarchy(
        "mail",
        Controller(
            id: id("mail"),
            content: .split(
                Controller.Columns(
                    primary: id("boxes"), secondary: nil, isCollapsed: true,
                    pushed: PushedColumns(supplementary: id("letters"), secondary: id("letter"))))),
        Controller(id: id("boxes"), content: .navigation([id("box"), id("letters"), id("letter")])),
        Controller(id: id("box"), presented: id("triple")), Controller(id: id("letters")), Controller(id: id("letter")),
        Controller(
            id: id("triple"),
            content: .split(Controller.Columns(primary: id("only"), secondary: nil, style: .tripleColumn))),
        Controller(id: id("only"))
    )

    package static let storyboards: [Storyboard] = [
        .empty,
        storyboard(
            hierarchy: everything,
            segues: [
                Segue(identifier: segue("détail"), source: id("home"), kind: .show, destination: view("new")),
                Segue(identifier: segue("back"), source: id("list"), kind: .unwind, destination: view("home")),
            ],
            transitionTypes: [
                TransitionType(name: type("star"), duration: .seconds(1), curve: .easeIn),
                TransitionType(name: type("plain")),
            ],
            defaults: Storyboard.Defaults(
                duration: .zero, curve: .linear, lease: Limits.leaseDurations.lowerBound, scope: .operation)),
        storyboard(hierarchy: pushed),
        storyboard(defaults: Storyboard.Defaults(priority: Priority(-1_000) ?? .standard)),
        storyboard(defaults: Storyboard.Defaults(consent: Consent(by: .higher, grace: .zero))),
        storyboard(
            transitionTypes: [TransitionType(name: type("star"))], defaults: Storyboard.Defaults(type: type("star"))),
    ]

    package static let patches: [StoryboardPatch] = [
        StoryboardPatch(),
        StoryboardPatch(
            segues: [
                .set(Segue(identifier: segue("détail"), source: id("home"), kind: .show, destination: everything)),
                .remove(segue("back"), source: id("list")),
            ],
            transitionTypes: [
                .set(TransitionType(name: type("star"), duration: .seconds(1), curve: .easeIn)), .remove(type("plain")),
            ],
            defaults: StoryboardPatch.DefaultsChange(
                duration: .zero, curve: .linear, lease: Limits.leaseDurations.upperBound, scope: .operation)),
        StoryboardPatch(
            defaults: StoryboardPatch.DefaultsChange(
                priority: .standard, interruptibility: .allowed(Consent(by: .equal)))),
        StoryboardPatch(defaults: StoryboardPatch.DefaultsChange(interruptibility: .never)),
        StoryboardPatch(defaults: StoryboardPatch.DefaultsChange(type: .some(nil))),
        StoryboardPatch(defaults: StoryboardPatch.DefaultsChange(type: type("star"))),
    ]

    package static let requests: [TransitionRequest] =
        operations.map { TransitionRequest(scope: .operation, operation: $0, onExpiry: .complete) } + [
            TransitionRequest(
                scope: .controllers([id("a"), id("b:c")]),
                expectations: Expectation.Condition.allCases.map { .controller(id("a"), is: $0) } + [
                    .revision(Revision(rawValue: .max))
                ],
                animation: AnimationRequest(
                    type: type("star"), duration: .milliseconds(1), curve: .easeOut, completionSpeed: 0.1 + 0.2,
                    userInfo: Array(#"{"a":[1,null]}"#.utf8), isReversed: false, direction: .backward)),
            TransitionRequest(animation: AnimationRequest()),
        ]

    /// Operations of every type: those in `forms`, and what is drawn of a type that has none there.
    package static let operations: [Operation] =
        forms
        + OperationType.allCases.filter { type in !forms.contains { $0.type == type } }.flatMap { type in
            var draw = SampleDraw(random: SplitMix64(seed: 1))
            return (0..<4).map { _ in draw.operation(of: type) }
        }

    /// Operations in every form of their types, if a type has several.
    private static let forms: [Operation] = [
        .present(presenter: id("home"), controller: everything),
        .present(presenter: nil, controller: view("alert")),
        .dismiss(id("sheet")),
        .push(navigation: id("nav"), controller: view("new")),
        .pop(navigation: id("nav")),
        .popTo(navigation: id("nav"), controller: id("home")),
        .popToRoot(navigation: id("nav")),
        .setStack(navigation: id("nav"), controllers: [view("home"), view("new")]),
        .select(tabs: id("tabs"), .index(-1)),
        .select(tabs: id("tabs"), .controller(id("nav"))),
        .showDetail(split: id("split"), controller: view("new")),
        .select(tabs: id("tabs"), .offset(-2)),
        .showDetail(split: id("split"), controller: pushed),
        .setColumn(split: id("split"), .secondary, controller: nil),
        .setColumn(split: id("split"), .supplementary, controller: view("new")),
        .showColumn(split: id("split"), .primary),
        .collapse(split: id("split")),
        .collapse(split: id("split"), topColumn: .supplementary),
        .expand(split: id("split")),
        .setTabs(tabs: id("tabs"), controllers: [view("new"), everything], selected: nil),
        .setTabs(tabs: id("tabs"), controllers: [], selected: 1),
        .insertTab(tabs: id("tabs"), controller: everything),
        .insertTab(tabs: id("tabs"), controller: view("new"), index: 1),
        .removeTab(tabs: id("tabs"), controller: id("nav")),
        .setRoot(everything),
        .segue(source: id("home"), segue("détail")),
        .segue(source: id("home"), segue("détail"), destination: everything),
        .list([
            .dismiss(id("sheet")), .setStack(navigation: id("nav"), controllers: [view("home"), everything]),
            .segue(source: id("home"), segue("détail")),
        ]),
    ]

    package static func id(_ text: String) -> ControllerID { known(ControllerID(text), text) }

    package static func type(_ text: String) -> TransitionTypeName { known(TransitionTypeName(text), text) }

    package static func segue(_ text: String) -> SegueIdentifier { known(SegueIdentifier(text), text) }

    /// A hierarchy of a single view.
    package static func view(_ text: String) -> Hierarchy { hierarchy(text, Controller(id: id(text))) }

    package static func hierarchy(_ root: String, _ controllers: Controller...) -> Hierarchy {
        known(try? Hierarchy(root: id(root), controllers: controllers), root)
    }

    package static func storyboard(
        hierarchy: Hierarchy = Hierarchy(), segues: [Segue] = [], transitionTypes: [TransitionType] = [],
        defaults: Storyboard.Defaults = Storyboard.Defaults()
    ) -> Storyboard {
        known(
            try? Storyboard(
                hierarchy: hierarchy, segues: segues, transitionTypes: transitionTypes, defaults: defaults),
            "storyboard")
    }

    private static func known<Value>(_ value: Value?, _ text: String) -> Value {
        guard let value else { preconditionFailure("\(text) is not what it is meant to be") }
        return value
    }
}

/// Operations on the hierarchy that has everything.
private struct SampleDraw: DrawnOperations {
    var random: SplitMix64

    mutating func member(_ kind: ControllerKind?) -> ControllerID {
        let members = SampleHierarchies.everything.preorder.filter { kind == nil || $0.kind == kind }
        return members.randomElement(using: &random)?.id ?? name()
    }

    func children(of id: ControllerID) -> [ControllerID] { SampleHierarchies.everything[id]?.children ?? [] }

    mutating func name() -> ControllerID { SampleHierarchies.id("name") }

    mutating func arrival() -> Hierarchy { SampleHierarchies.view("new") }

    mutating func segue() -> Operation { .segue(source: member(nil), SampleHierarchies.segue("next")) }
}
