import Testing

@testable import ArbiterCore

struct HierarchyTests {
    @Test(arguments: [
        "", "home", "nav[]", "nav[home detail]", "tabs{}", "tabs{first *second}", "split(one|two|three)",
        "split(nav[list]|two)^", "tabs{*nav[home detail~@>inner] other}>login[name]~>help",
    ])
    func `a hierarchy is what its controllers say`(outline: String) throws {
        let hierarchy = try Hierarchy.outlined(outline)
        #expect(hierarchy.outline == outline)
        #expect(hierarchy.brokenInvariant() == nil)
        #expect(hierarchy.isEmpty == outline.isEmpty)
        #expect(hierarchy == (try Hierarchy.outlined(outline)))
    }

    @Test func `two hierarchies are the same if all their controllers are, in whatever order they came`() throws {
        let (nav, home) = (id("nav"), id("home"))
        let members = [Controller(id: nav, content: .navigation([home])), Controller(id: home)]
        let hierarchy = try Hierarchy(root: nav, controllers: members)
        #expect(hierarchy == (try Hierarchy(root: nav, controllers: members.reversed())))
        var introduced = hierarchy
        introduced.introduce(home, by: TransitionTypeName("fade"))
        #expect(introduced != hierarchy)
        #expect(introduced[home]?.introTransitionType == TransitionTypeName("fade"))
        introduced.introduce(id("nobody"), by: TransitionTypeName("fade"))
        introduced.introduce(home, by: nil)
        #expect(introduced == hierarchy)
    }

    @Test func `a way through it meets each controller before what is below it, children before what is presented`()
        throws
    {
        let hierarchy = try Hierarchy.outlined("tabs{first *nav[home detail~>sheet]}>split(one|two|three)")
        #expect(
            hierarchy.preorder.map(\.id) == ids("tabs first nav home detail sheet split one two three"))
        #expect(hierarchy.preorder(from: id("nav")).map(\.id) == ids("nav home detail sheet"))
        #expect(hierarchy.count == 10)
        #expect(hierarchy.preorder.map(\.kind).prefix(3) == [.tabs, .view, .navigation])
        #expect(hierarchy.preorder(from: id("nobody")).isEmpty)
    }

    @Test(arguments: [
        ("tabs", "tabs"), ("detail", "tabs nav detail"), ("sheet", "tabs nav detail sheet"), ("two", "tabs split two"),
    ])
    func `the path leads from the top through containers and presenters`(name: String, path: String) throws {
        let hierarchy = try Hierarchy.outlined("tabs{first *nav[home detail~>sheet]}>split(one|two)")
        #expect(hierarchy.path(to: id(name)) == ids(path))
        #expect(hierarchy.path(to: id("nobody")) == nil)
    }

    @Test func `whoever is declared as presented is presented by the one it is declared under`() throws {
        let hierarchy = try Hierarchy.outlined("nav[home>login[name]]")
        #expect(hierarchy.presenter(of: id("login")) == id("home"))
        #expect(hierarchy.presenter(of: id("name")) == nil)
        #expect(hierarchy.container(of: id("name")) == id("login"))
        #expect(hierarchy.container(of: id("login")) == nil)
    }
}

// MARK: - Invalid hierarchies

extension HierarchyTests {
    @Test(arguments: [
        ("nav[a a]", HierarchyFault.duplicate(id("a"))),
        ("nav[a b>a]", .duplicate(id("a"))),
        ("nav[a nav]", .duplicate(id("nav"))),
        ("nav[inner[a]]", .cannotPushContainer(id("inner"), navigation: id("nav"))),
        ("nav[tabs{a}]", .cannotPushContainer(id("tabs"), navigation: id("nav"))),
        ("nav[split(a|b)]", .cannotPushContainer(id("split"), navigation: id("nav"))),
    ])
    func `an outline that is no tree is refused`(outline: String, fault: HierarchyFault) {
        #expect(throws: fault) { try Hierarchy.outlined(outline) }
    }

    @Test func `every controller that is named is there, once, and reached`() {
        let (a, b, c) = (id("a"), id("b"), id("c"))
        #expect(throws: HierarchyFault.missing(a)) { try Hierarchy(root: a, controllers: []) }
        #expect(throws: HierarchyFault.missing(b)) {
            try Hierarchy(root: a, controllers: [Controller(id: a, presented: b)])
        }
        #expect(throws: HierarchyFault.unreachable(c)) {
            try Hierarchy(root: a, controllers: [Controller(id: c), Controller(id: a)])
        }
        #expect(throws: HierarchyFault.unreachable(b)) {
            let ring = [Controller(id: b, presented: c), Controller(id: c, presented: b)]
            return try Hierarchy(root: a, controllers: [Controller(id: a)] + ring)
        }
        #expect(throws: HierarchyFault.duplicate(a)) {
            try Hierarchy(root: a, controllers: [Controller(id: a, presented: b), Controller(id: b, presented: a)])
        }
        #expect(throws: HierarchyFault.duplicate(b)) {
            let stack = Controller(id: a, content: .navigation([b]), presented: b)
            return try Hierarchy(root: a, controllers: [stack, Controller(id: b)])
        }
    }

    @Test(arguments: [(0, -1), (0, 1), (2, -1), (2, 2)])
    func `one of the tabs is selected unless there are none`(count: Int, selected: Int) {
        let tabs = (0..<count).map { id("tab-\($0)") }
        let controllers = [Controller(id: id("tabs"), content: .tabs(tabs, selected: selected))]
        #expect(throws: HierarchyFault.indexOutOfRange(tabs: id("tabs"), selected: selected)) {
            try Hierarchy(root: id("tabs"), controllers: controllers + tabs.map { Controller(id: $0) })
        }
    }

    @Test func `a hierarchy has ten thousand controllers and no more`() throws {
        let stack = (1..<Limits.controllers).map { id("c\($0)") }
        let controllers = [Controller(id: id("nav"), content: .navigation(stack))] + stack.map { Controller(id: $0) }
        let hierarchy = try Hierarchy(root: id("nav"), controllers: controllers)
        #expect(hierarchy.count == Limits.controllers)
        #expect(hierarchy.preorder.count == Limits.controllers)
        #expect(hierarchy.brokenInvariant() == nil)
        #expect(throws: HierarchyFault.tooManyControllers(limit: Limits.controllers)) {
            try Hierarchy(root: id("nav"), controllers: controllers + [Controller(id: id("more"))])
        }
    }

    @Test(arguments: [true, false])
    func `a hierarchy is a thousand levels deep and no deeper`(byPresenting: Bool) throws {
        let hierarchy = try Hierarchy.deep(Limits.hierarchyDepth, byPresenting: byPresenting)
        let last = id("c\(Limits.hierarchyDepth)")
        #expect(hierarchy.path(to: last)?.count == Limits.hierarchyDepth)
        #expect(hierarchy.height == Limits.hierarchyDepth)
        #expect(hierarchy.isVisible(last))
        #expect(hierarchy.visible(from: id("c1")).count == (byPresenting ? 1 : Limits.hierarchyDepth))
        #expect(hierarchy.brokenInvariant() == nil)
        #expect(throws: HierarchyFault.tooDeep(limit: Limits.hierarchyDepth)) {
            try Hierarchy.deep(Limits.hierarchyDepth + 1, byPresenting: byPresenting)
        }
    }
}

// MARK: - Broken invariants

extension HierarchyTests {
    @Test func `a tree that is not as it must be says so`() throws {
        let hierarchy = try Hierarchy.outlined("nav[home detail]")
        var stray = hierarchy
        stray.controllers[id("home")]?.parent = id("detail")
        #expect(stray.brokenInvariant() == #"["home"] are not where they say they are"#)
        var headless = hierarchy
        headless.root = nil
        #expect(headless.brokenInvariant() == "3 controllers have no root")
        var torn = hierarchy
        torn.controllers[id("nav")]?.content = .navigation(ids("home"))
        #expect(torn.brokenInvariant() == "\(HierarchyFault.unreachable(id("detail")))")
    }
}

extension Hierarchy {
    /// A chain with `c1` at the top: tabs in tabs, or full-screen presentations.
    static func deep(_ levels: Int, byPresenting: Bool) throws -> Hierarchy {
        let controllers = (1...levels).map { level in
            let below = level < levels ? id("c\(level + 1)") : nil
            let content = below.map { Controller.Content.tabs([$0], selected: 0) }
            return byPresenting
                ? Controller(id: id("c\(level)"), presented: below)
                : Controller(id: id("c\(level)"), content: content ?? .view)
        }
        return try Hierarchy(root: id("c1"), controllers: controllers)
    }
}
