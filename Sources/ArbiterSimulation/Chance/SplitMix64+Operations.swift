internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// Random operations and scopes, mostly possible ones.

extension SplitMix64 {
    /// An operation that mostly would change the tree.
    mutating func operation(in scene: NaiveScene, wanted: [ControllerID]) -> Operation {
        for _ in 0..<4 {
            let operation = someOperation(in: scene, wanted)
            if case .done = scene.tree.outcome(of: operation, segues: scene.segues, reserved: []) { return operation }
            if isOnce(in: 8) { return operation }
        }
        return someOperation(in: scene, wanted)
    }

    private mutating func someOperation(in scene: NaiveScene, _ wanted: [ControllerID]) -> Operation {
        let tree = scene.tree
        let taken = Array(tree.nodes.keys)
        switch Int.random(in: 0..<24, using: &self) {
        case 0, 1: return .present(presenter: member(of: tree), controller: arrival(avoiding: taken, wanted: wanted))
        case 2, 3: return .dismiss(member(of: tree))
        case 4, 5, 6:
            return .push(
                navigation: member(of: tree, .navigation), controller: arrival(avoiding: taken, wanted: wanted))
        case 7: return .pop(navigation: member(of: tree, .navigation))
        case 8: return popTo(in: tree)
        case 9: return .popToRoot(navigation: member(of: tree, .navigation))
        case 10: return setStack(in: tree, avoiding: taken, wanted)
        case 11:
            let number = Int.random(in: -1...3, using: &self)
            return .select(tabs: member(of: tree, .tabs), isOnce(in: 2) ? .index(number) : .offset(number - 1))
        case 12, 13:
            let tabs = member(of: tree, .tabs)
            return .select(tabs: tabs, .controller(pick(tree.nodes[tabs]?.children ?? [], or: name())))
        case 14, 15: return showDetail(in: tree, avoiding: taken, wanted)
        case 16: return .collapse(split: member(of: tree, .split))
        case 17: return .expand(split: member(of: tree, .split))
        case 18: return setTabs(in: tree, avoiding: taken, wanted)
        case 19:
            guard isOnce(in: 3) || tree.nodes.isEmpty else { return segue(in: scene) }
            return .setRoot(arrival(avoiding: [], wanted: wanted))
        default: return segue(in: scene)
        }
    }

    /// An operation on a controller that is not in the tree, and may be inserted later.
    mutating func operation(onAbsent tree: NaiveTree, wanted: [ControllerID] = []) -> Operation {
        let absent = pick(wanted, or: pick(Self.names.filter { tree.nodes[$0] == nil }, or: name()))
        if isOnce(in: 3) { return .dismiss(absent) }
        let taken = Array(tree.nodes.keys)
        guard isOnce(in: 2) else { return .present(presenter: absent, controller: arrival(avoiding: taken)) }
        return .present(presenter: absent, controller: overlay(avoiding: taken))
    }

    /// An operation on a single stack, which inserts a controller as long as there are free names.
    mutating func operation(onStack stack: ControllerID, in tree: NaiveTree, wanted: [ControllerID]) -> Operation {
        let taken = Array(tree.nodes.keys)
        if taken.count < Self.names.count - 3, !isOnce(in: 4) {
            return .push(navigation: stack, controller: arrival(avoiding: taken, wanted: wanted))
        }
        return switch Int.random(in: 0..<4, using: &self) {
        case 0: .popToRoot(navigation: stack)
        case 1: .setStack(navigation: stack, controllers: [arrival(avoiding: taken, wanted: wanted)])
        default: .pop(navigation: stack)
        }
    }

    private mutating func segue(in scene: NaiveScene) -> Operation {
        let possible = scene.segues.filter { scene.tree.nodes[$0.source] != nil }
        let destination = isOnce(in: 3) ? arrival(avoiding: Array(scene.tree.nodes.keys)) : nil
        if let segue = possible.randomElement(using: &self), !isOnce(in: 6) {
            return .segue(source: segue.source, segue.identifier, destination: destination)
        }
        return .segue(
            source: member(of: scene.tree), pick(Self.identifiers, or: Self.identifiers[0]), destination: destination)
    }

    /// A detail, now and then with the id of the one that it replaces.
    private mutating func showDetail(
        in tree: NaiveTree, avoiding taken: [ControllerID], _ wanted: [ControllerID]
    ) -> Operation {
        let split = member(of: tree, .split)
        guard let last = tree.nodes[split]?.children.last, isOnce(in: 3) else {
            return .showDetail(split: split, controller: arrival(avoiding: taken, wanted: wanted))
        }
        let replaced = tree.lineage(of: last).isEmpty ? [] : [last]
        return .showDetail(split: split, controller: arrival(avoiding: taken.filter { $0 != last }, wanted: replaced))
    }

    private mutating func setTabs(
        in tree: NaiveTree, avoiding taken: [ControllerID], _ wanted: [ControllerID]
    ) -> Operation {
        let tabs = member(of: tree, .tabs)
        let kept = (tree.nodes[tabs]?.children ?? []).shuffled(using: &self)
            .prefix(Int.random(in: 0...3, using: &self)).compactMap { id in
                try? Hierarchy(root: id, controllers: [Controller(id: id)])
            }
        let new = (0..<Int.random(in: 0...2, using: &self)).map { _ in arrival(avoiding: taken, wanted: wanted) }
        return .setTabs(
            tabs: tabs, controllers: (kept + new).shuffled(using: &self),
            selected: isOnce(in: 3) ? Int.random(in: -1...3, using: &self) : nil)
    }

    private mutating func popTo(in tree: NaiveTree) -> Operation {
        let navigation = member(of: tree, .navigation)
        let controller = isOnce(in: 6) ? name() : pick(tree.nodes[navigation]?.children ?? [], or: name())
        return .popTo(navigation: navigation, controller: controller)
    }

    private mutating func setStack(
        in tree: NaiveTree, avoiding taken: [ControllerID], _ wanted: [ControllerID]
    ) -> Operation {
        let navigation = member(of: tree, .navigation)
        let kept = (tree.nodes[navigation]?.children ?? []).shuffled(using: &self)
            .prefix(Int.random(in: 0...3, using: &self)).compactMap { id in
                try? Hierarchy(root: id, controllers: [Controller(id: id)])
            }
        let new = (0..<Int.random(in: 0...2, using: &self)).map { _ in arrival(avoiding: taken, wanted: wanted) }
        return .setStack(navigation: navigation, controllers: (kept + new).shuffled(using: &self))
    }

    /// A controller of the tree, mostly of the kind.
    mutating func member(of tree: NaiveTree, _ kind: ControllerKind? = nil) -> ControllerID {
        guard !isOnce(in: 24) else { return name() }
        let members = tree.nodes.filter { kind == nil || $0.value.kind == kind }.keys
        // A dictionary has another order in every run.
        let sorted = members.sorted { $0.description < $1.description }
        return sorted.isEmpty ? pick(tree.root.map { [$0] } ?? [], or: name()) : pick(sorted, or: name())
    }

    mutating func scope(in tree: NaiveTree, for operation: Operation?) -> Scope? {
        switch Int.random(in: 0..<16, using: &self) {
        case 0: .scene
        case 1..<4: nil
        case 4..<10: operation == nil ? list(in: tree) : .operation
        default: list(in: tree)
        }
    }

    /// A scope that mostly lists a controller far down, so that others run beside it.
    func deeper(_ one: ControllerID, _ other: ControllerID, in tree: NaiveTree) -> ControllerID {
        tree.lineage(of: one).count > tree.lineage(of: other).count ? one : other
    }

    mutating func list(in tree: NaiveTree) -> Scope {
        .controllers(
            (0..<Int.random(in: 1...2, using: &self)).map { _ in
                deeper(member(of: tree), member(of: tree), in: tree)
            })
    }

    mutating func expectations(of scene: NaiveScene) -> [ArbiterCore.Expectation] {
        guard isOnce(in: 8) else { return [] }
        return (0..<Int.random(in: 1...2, using: &self)).map { _ in
            if isOnce(in: 3) { return .revision(Revision(rawValue: scene.revision + (isOnce(in: 3) ? 1 : 0))) }
            return .controller(
                member(of: scene.tree), is: pick(ArbiterCore.Expectation.Condition.allCases, or: .exists))
        }
    }

    mutating func animation(of types: [TransitionTypeName]) -> AnimationRequest? {
        guard isOnce(in: 4) else { return nil }
        var animation = AnimationRequest()
        // The last one is not declared anywhere.
        animation.type = isOnce(in: 20) ? Self.types.last : isOnce(in: 3) ? nil : types.randomElement(using: &self)
        if isOnce(in: 2) { animation.duration = milliseconds(upTo: 1000) }
        if isOnce(in: 4) { animation.isReversed = isOnce(in: 2) }
        return animation
    }
}
