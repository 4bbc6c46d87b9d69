package import ArbiterCore

/// Draws operations on a tree, mostly possible ones; who conforms says what there is.
package protocol DrawnOperations {
    var random: SplitMix64 { get set }

    /// A controller of the tree, mostly of the kind.
    mutating func member(_ kind: ControllerKind?) -> ControllerID
    /// The stack, the tabs or the columns of a controller.
    func children(of id: ControllerID) -> [ControllerID]
    /// Any name, whether or not it is in the tree.
    mutating func name() -> ControllerID
    /// A controller to insert.
    mutating func arrival() -> Hierarchy
    /// A controller to insert as the detail of a split.
    mutating func detail(of split: ControllerID) -> Hierarchy
    mutating func segue() -> Operation
}

extension DrawnOperations {
    package mutating func operation(of type: OperationType) -> Operation {
        switch type {
        case .present: return .present(presenter: random.isOnce(in: 6) ? nil : member(nil), controller: arrival())
        case .dismiss: return .dismiss(member(nil))
        case .push: return .push(navigation: member(.navigation), controller: arrival())
        case .pop: return .pop(navigation: member(.navigation))
        case .popTo:
            let navigation = member(.navigation)
            return .popTo(navigation: navigation, controller: child(of: navigation))
        case .popToRoot: return .popToRoot(navigation: member(.navigation))
        case .setStack:
            let navigation = member(.navigation)
            return .setStack(navigation: navigation, controllers: list(for: navigation))
        case .select:
            let tabs = member(.tabs)
            return .select(tabs: tabs, tab(of: tabs))
        case .showDetail:
            let split = member(.split)
            return .showDetail(split: split, controller: detail(of: split))
        case .setColumn:
            let split = member(.split)
            return .setColumn(split: split, column(), controller: random.isOnce(in: 4) ? nil : detail(of: split))
        case .showColumn: return .showColumn(split: member(.split), column())
        case .collapse: return .collapse(split: member(.split), topColumn: random.isOnce(in: 3) ? column() : nil)
        case .expand: return .expand(split: member(.split))
        case .setTabs:
            let tabs = member(.tabs)
            return .setTabs(tabs: tabs, controllers: list(for: tabs), selected: random.isOnce(in: 3) ? index() : nil)
        case .insertTab:
            return .insertTab(tabs: member(.tabs), controller: arrival(), index: random.isOnce(in: 2) ? index() : nil)
        case .removeTab:
            let tabs = member(.tabs)
            return .removeTab(tabs: tabs, controller: child(of: tabs))
        case .setRoot: return .setRoot(arrival())
        case .segue: return segue()
        }
    }

    package mutating func detail(of split: ControllerID) -> Hierarchy { arrival() }

    private mutating func column() -> SplitColumn {
        SplitColumn.allCases.randomElement(using: &random) ?? .secondary
    }

    /// An index of one of a few children, or a little beside.
    private mutating func index() -> Int { Int.random(in: -1...3, using: &random) }

    private mutating func child(of id: ControllerID) -> ControllerID {
        random.isOnce(in: 6) ? name() : children(of: id).randomElement(using: &random) ?? name()
    }

    private mutating func tab(of tabs: ControllerID) -> Operation.Tab {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .index(index())
        case 1: .offset(index() - 1)
        default: .controller(child(of: tabs))
        }
    }

    /// Some of its children, and some that are new, in any order.
    private mutating func list(for id: ControllerID) -> [Hierarchy] {
        let kept = children(of: id).shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
            .compactMap { try? Hierarchy(root: $0, controllers: [Controller(id: $0)]) }
        let new = (0..<Int.random(in: 0...2, using: &random)).map { _ in arrival() }
        return (kept + new).shuffled(using: &random)
    }
}
