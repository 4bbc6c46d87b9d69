import Testing

@testable import ArbiterCore

struct HierarchySizeTests {
    @Test func `ten thousand controllers are there and no more`() throws {
        var storyboard = try Storyboard(hierarchy: .outlined("split(nav[a]|two)"))
        let room = Limits.controllers - storyboard.hierarchy.count
        // One by one, so that a push which copies the stack would be noticed by its time.
        for number in 1...room {
            let plan = try #require(try storyboard.plan(.push("c\(number)")))
            storyboard.hierarchy.apply(plan.steps)
        }
        #expect(storyboard.hierarchy.count == Limits.controllers)
        let refusal = OperationRefusal(
            code: .hierarchyTooLarge, detail: "The hierarchy would have 10001 controllers, of which 10000 are allowed.")
        #expect(throws: refusal) { try storyboard.plan(.push("more")) }
        #expect(throws: refusal) { try storyboard.plan(.present("more", from: "split")) }
        #expect(throws: refusal) { try storyboard.plan(.setStack(["a"] + names(1...room) + ["more"])) }
        #expect(throws: refusal) { try storyboard.plan(.showDetail("more~>another")) }
        // A controller that replaces another needs no additional room.
        #expect(try storyboard.plan(.showDetail("more")) != nil)
        #expect(try storyboard.plan(.setStack(names(1...room) + ["more"]))?.removed == ids("a"))

        let everything = try #require(try storyboard.plan(.popToRoot()))
        #expect(everything.removed.count == room)
        storyboard.hierarchy.apply(everything.steps)
        #expect(storyboard.hierarchy.outline == "split(nav[a]|two)")
    }

    @Test func `a stack of thousands is turned round in one step`() throws {
        let count = Limits.controllers - 1
        var storyboard = try Storyboard(
            hierarchy: .outlined("nav[\((1...count).map { "c\($0)" }.joined(separator: " "))]"))
        let plan = try #require(try storyboard.plan(.setStack(names(1...count / 2).reversed())))
        #expect(plan.isBackward)
        #expect(storyboard.hierarchy.apply(plan.steps).departed.count == count - count / 2)
        #expect(storyboard.hierarchy[id("nav")]?.children == (1...count / 2).reversed().map { id("c\($0)") })
        #expect(storyboard.hierarchy.brokenInvariant() == nil)
    }

    @Test func `a thousand levels are there and no more`() throws {
        let levels = Limits.hierarchyDepth
        var storyboard = try Storyboard(hierarchy: .deep(levels - 1, byPresenting: true))
        let source = "c\(levels - 1)"
        let refusal = OperationRefusal(
            code: .hierarchyTooLarge, detail: "The hierarchy would be 1001 levels deep, of which 1000 are allowed.")
        #expect(throws: refusal) { try storyboard.plan(.present("a~>b", from: source)) }
        let presentation = try #require(try storyboard.plan(.present("a", from: source)))
        storyboard.hierarchy.apply(presentation.steps)
        #expect(throws: refusal) { try storyboard.plan(.present("b", from: "a")) }
        #expect(storyboard.hierarchy.brokenInvariant() == nil)

        let dismissal = try #require(try storyboard.plan(.dismiss("c1")))
        #expect(dismissal.removed.count == levels - 1)
        #expect(dismissal.removed.first == id("a"))
        #expect(dismissal.disappearing == ids("a"))
        #expect(storyboard.hierarchy.apply(dismissal.steps).departed.count == levels - 1)
        #expect(storyboard.hierarchy.outline == "c1")
    }

    @Test func `what is about to come in takes its name and its room`() throws {
        let storyboard = try Storyboard(hierarchy: .outlined("tabs{nav[a] other[b]}"))
        let granted = try #require(try storyboard.plan(.push("c~>d")))
        let reserved = Set(granted.arriving)
        #expect(reserved == Set(ids("c d")))
        #expect(
            throws: OperationRefusal(
                code: .alreadyInHierarchy, detail: "<d> is in the hierarchy already, and cannot come in again.")
        ) {
            try storyboard.plan(.push("d", on: "other"), reserving: reserved)
        }
        #expect(try storyboard.plan(.push("e", on: "other"), reserving: reserved) != nil)
        let many = Set((1...Limits.controllers - 5).map { id("c\($0)") })
        #expect(throws: OperationRefusal.self) { try storyboard.plan(.push("e", on: "other"), reserving: many) }
    }

    /// Controllers with these numbers, each as its own hierarchy.
    private func names(_ numbers: ClosedRange<Int>) -> [String] {
        numbers.map { "c\($0)" }
    }
}
