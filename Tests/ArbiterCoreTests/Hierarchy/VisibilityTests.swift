import Testing

@testable import ArbiterCore

struct HierarchyVisibilityTests {
    @Test(arguments: [
        ("nothing is visible where there is nothing", "", ""),
        ("the top of a stack is shown", "nav[home detail]", "nav detail"),
        ("an empty stack shows itself", "nav[]", "nav"),
        ("the selected tab is shown", "tabs{first *second}", "tabs second"),
        ("all columns are shown", "split(one|two|three)", "split one two three"),
        ("only the primary of collapsed columns is shown", "split(one|two|three)^", "split one"),
        ("full screen covers its presenter and what it contains", "nav[home]>login[name]", "login name"),
        ("a sheet covers nothing", "nav[home]~>sheet", "nav home sheet"),
        ("a current context covers its presenter only", "split(one@>over|two)", "split over two"),
        ("over a current context covers nothing", "split(one~@>over|two)", "split one over two"),
        ("what a hidden controller presents is hidden", "nav[home~>sheet detail]", "nav detail"),
        ("what a covered controller's child presents is hidden", "nav[home~>sheet]>login", "login"),
        ("what is presented over what is presented needs its place only", "home>login>help", "help"),
        ("a sheet's own full screen leaves the sheet's presenter in view", "home~>sheet>help", "home help"),
    ])
    func `who is visible`(rule: Comment, outline: String, visible: String) throws {
        let hierarchy = try Hierarchy.outlined(outline)
        #expect(hierarchy.preorder.map(\.id).filter(hierarchy.isVisible) == ids(visible), rule)
        #expect(hierarchy.root.map { hierarchy.visible(from: $0) } ?? [] == ids(visible), rule)
        #expect(!hierarchy.isVisible(id("nobody")))
    }

    @Test(arguments: [
        ("nothing is in front where there is nothing", "", nil),
        ("the root is in front while nothing is presented", "nav[home detail]", "nav"),
        ("what is presented last is in front", "home~>sheet>help", "help"),
        ("what a shown child presents is in front", "split(one|two@>over)", "over"),
        ("what a hidden child presents is not", "tabs{one@>over *two}", "tabs"),
        ("what a child presents in what is presented", "home>nav[a b@>over]", "over"),
    ])
    func `who is in front`(rule: Comment, outline: String, front: String?) throws {
        #expect(try Hierarchy.outlined(outline).front == front.map { id($0) }, rule)
    }
}
