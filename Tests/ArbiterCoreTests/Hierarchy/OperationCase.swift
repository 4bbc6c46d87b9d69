import Testing

@testable import ArbiterCore

/// A rule about an operation: the hierarchy before, the operation, and the expected result.
struct OperationCase: CustomTestStringConvertible, Sendable {
    let rule: String
    let before: String
    let operation: Operation
    /// The hierarchy afterwards; the same as before if the operation changes nothing.
    var after: String?
    var presenter: String?
    var inserted = ""
    var removed = ""
    var disappearing = ""
    var appearing = ""
    var order = AppearanceOrder.goingFirst
    var isBackward = false
    var leaving: String?
    /// The tab that is selected, by whose type it is shown.
    var selected: String?
    var isAnimated = true
    /// What it locks.
    var anchor: String?

    var testDescription: String { rule }

    /// Plans and applies the operation, and compares everything with the expectation.
    func check(segues: [Segue] = [], under rules: Rules = .newest) throws {
        var storyboard = try Storyboard(hierarchy: .outlined(before), segues: segues)
        #expect(storyboard.anchors(of: operation).map(\.description) == anchor.map { [$0] } ?? [])
        // Each came in by a type of its own, which tells who leaves or is selected.
        for controller in storyboard.hierarchy.preorder {
            storyboard.hierarchy.introduce(controller.id, by: TransitionTypeName(controller.id.description))
        }
        guard let plan = try storyboard.plan(operation, under: rules) else {
            #expect(after == nil, "it would do nothing")
            return
        }
        let untouched = storyboard.hierarchy
        let change = storyboard.hierarchy.apply(plan.steps)
        #expect(storyboard.hierarchy.outline == after)
        #expect(storyboard.hierarchy.brokenInvariant() == nil)
        #expect(plan.presenter?.description == presenter)
        #expect(plan.inserted == ids(inserted))
        #expect(plan.removed == ids(removed))
        #expect(plan.disappearing == ids(disappearing))
        #expect(plan.appearing == ids(appearing))
        #expect(plan.appearanceOrder == order)
        #expect(plan.isBackward == isBackward)
        #expect(plan.type?.description == leaving ?? selected)
        let (old, new) = (untouched.preorder.map(\.id), storyboard.hierarchy.preorder.map(\.id))
        // A controller may come with the id of one that goes.
        #expect(Set(change.arrived).isSuperset(of: Set(new).subtracting(old)) && new.contains(all: change.arrived))
        #expect(Set(change.departed).isSuperset(of: Set(old).subtracting(new)) && old.contains(all: change.departed))
        let moved = Set(old).intersection(new).subtracting(change.arrived)
            .filter { storyboard.hierarchy[$0]?.parent != untouched[$0]?.parent }
        #expect(Set(change.moved).isSuperset(of: moved))
        #expect(plan.isAnimated == isAnimated)
        #expect(Set(plan.arriving) == Set(change.arrived))
    }
}

extension Operation {
    static func present(_ outline: String, from presenter: String?) -> Operation {
        .present(presenter: presenter.map { id($0) }, controller: arrival(outline))
    }

    static func dismiss(_ controller: String) -> Operation { .dismiss(id(controller)) }

    static func push(_ outline: String, on navigation: String = "nav") -> Operation {
        .push(navigation: id(navigation), controller: arrival(outline))
    }

    static func pop(_ navigation: String = "nav") -> Operation { .pop(navigation: id(navigation)) }

    static func popTo(_ controller: String, on navigation: String = "nav") -> Operation {
        .popTo(navigation: id(navigation), controller: id(controller))
    }

    static func popToRoot(_ navigation: String = "nav") -> Operation { .popToRoot(navigation: id(navigation)) }

    static func setStack(_ outlines: [String], of navigation: String = "nav") -> Operation {
        .setStack(navigation: id(navigation), controllers: outlines.map(arrival))
    }

    static func select(_ controller: String, of tabs: String = "tabs") -> Operation {
        .select(tabs: id(tabs), .controller(id(controller)))
    }

    static func select(_ index: Int, of tabs: String = "tabs") -> Operation {
        .select(tabs: id(tabs), .index(index))
    }

    static func select(by offset: Int, of tabs: String = "tabs") -> Operation {
        .select(tabs: id(tabs), .offset(offset))
    }

    static func showDetail(_ outline: String, in split: String = "split") -> Operation {
        .showDetail(split: id(split), controller: arrival(outline))
    }

    static func setColumn(_ column: SplitColumn, _ outline: String?, of split: String = "split") -> Operation {
        .setColumn(split: id(split), column, controller: outline.map(arrival))
    }

    static func showColumn(_ column: SplitColumn, of split: String = "split") -> Operation {
        .showColumn(split: id(split), column)
    }

    static func collapse(_ split: String = "split", to top: SplitColumn? = nil) -> Operation {
        .collapse(split: id(split), topColumn: top)
    }

    static func expand(_ split: String = "split") -> Operation { .expand(split: id(split)) }

    static func setTabs(_ outlines: [String], selected: Int? = nil, of tabs: String = "tabs") -> Operation {
        .setTabs(tabs: id(tabs), controllers: outlines.map(arrival), selected: selected)
    }

    static func insertTab(_ outline: String, at index: Int? = nil, of tabs: String = "tabs") -> Operation {
        .insertTab(tabs: id(tabs), controller: arrival(outline), index: index)
    }

    static func removeTab(_ controller: String, of tabs: String = "tabs") -> Operation {
        .removeTab(tabs: id(tabs), controller: id(controller))
    }

    static func setRoot(_ outline: String) -> Operation { .setRoot(arrival(outline)) }

    static func segue(_ identifier: String = "go", from source: String, to destination: String? = nil) -> Operation {
        .segue(source: id(source), .named(identifier), destination: destination.map(arrival))
    }
}

extension [ControllerID] {
    fileprivate func contains(all others: [ControllerID]) -> Bool { Set(self).isSuperset(of: others) }
}

extension SegueIdentifier {
    static func named(_ text: String) -> SegueIdentifier {
        guard let identifier = SegueIdentifier(text) else { preconditionFailure("\(text) is no segue identifier") }
        return identifier
    }
}

/// A hierarchy that is known to be valid.
func arrival(_ outline: String) -> Hierarchy {
    do throws(HierarchyFault) {
        return try Hierarchy.outlined(outline)
    } catch {
        preconditionFailure("\(outline) is no hierarchy: \(error)")
    }
}
