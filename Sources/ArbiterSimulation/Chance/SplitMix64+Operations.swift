internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// Random operations and scopes, mostly possible ones.

extension SplitMix64 {
    /// An operation that mostly would change the tree, now and then a list of some.
    mutating func operation(in scene: NaiveScene, wanted: [ControllerID]) -> Operation {
        guard isOnce(in: 6) else { return single(in: scene, wanted) }
        var scene = scene
        return .list(
            (0..<Int.random(in: 2...4, using: &self)).map { _ in
                let operation = single(in: scene, wanted)
                if case .done(let change) = scene.tree.outcome(of: operation, segues: scene.segues, reserved: []) {
                    scene.tree = change.tree
                }
                return operation
            })
    }

    private mutating func single(in scene: NaiveScene, _ wanted: [ControllerID]) -> Operation {
        for _ in 0..<4 {
            let operation = someOperation(in: scene, wanted)
            if case .done = scene.tree.outcome(of: operation, segues: scene.segues, reserved: []) { return operation }
            if isOnce(in: 8) { return operation }
        }
        return someOperation(in: scene, wanted)
    }

    private mutating func someOperation(in scene: NaiveScene, _ wanted: [ControllerID]) -> Operation {
        var draw = SceneDraw(random: self, scene: scene, wanted: wanted)
        defer { self = draw.random }
        return draw.operation()
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
        isOnce(in: 8) ? someExpectations(of: scene) : []
    }

    mutating func someExpectations(of scene: NaiveScene) -> [ArbiterCore.Expectation] {
        (0..<Int.random(in: 1...2, using: &self)).map { _ in
            if isOnce(in: 3) { return .revision(Revision(rawValue: scene.revision + (isOnce(in: 3) ? 1 : 0))) }
            return .controller(
                member(of: scene.tree), is: pick(ArbiterCore.Expectation.Condition.allCases, or: .exists),
                isNegated: isOnce(in: 3))
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

/// Operations on a scene.
private struct SceneDraw: DrawnOperations {
    /// Each type, and some more often.
    private static let types: [OperationType] =
        OperationType.allCases + [
            .present, .dismiss, .push, .push, .select, .select, .showDetail, .collapse, .segue, .segue, .segue,
        ]

    var random: SplitMix64
    let scene: NaiveScene
    /// The controllers that tickets wait for.
    let wanted: [ControllerID]
    /// The split that the operation is about, if it is about one.
    var split: ControllerID?

    private var tree: NaiveTree { scene.tree }
    private var taken: [ControllerID] { Array(tree.nodes.keys) }

    /// What is done to a split, and to the stack of its primary column.
    private static let typesOfSplits: [OperationType] = [
        .showDetail, .setColumn, .showColumn, .showColumn, .collapse, .collapse, .expand, .push, .pop, .popToRoot,
    ]

    mutating func operation() -> Operation {
        let splits = tree.nodes.filter { $0.value.kind == .split }.keys.sorted { $0.description < $1.description }
        split = random.isOnce(in: 4) ? splits.randomElement(using: &random) : nil
        let type = random.pick(split == nil ? Self.types : Self.typesOfSplits, or: .segue)
        guard type == .setRoot else { return operation(of: type) }
        guard random.isOnce(in: 3) || tree.nodes.isEmpty else { return segue() }
        return .setRoot(random.arrival(avoiding: [], wanted: wanted))
    }

    mutating func member(_ kind: ControllerKind?) -> ControllerID {
        guard let split else { return random.member(of: tree, kind) }
        return kind == .navigation ? children(of: split)[0] : split
    }

    func children(of id: ControllerID) -> [ControllerID] { tree.nodes[id]?.children ?? [] }

    mutating func name() -> ControllerID { random.name() }

    mutating func arrival() -> Hierarchy { random.arrival(avoiding: taken, wanted: wanted) }

    /// A detail, now and then with the id of the one that it replaces.
    mutating func detail(of split: ControllerID) -> Hierarchy {
        let pushed = SplitColumn.allCases.compactMap { tree.nodes[split]?.pushed[$0] }.last
        guard let last = pushed ?? children(of: split).last, random.isOnce(in: 3) else { return arrival() }
        let replaced = tree.lineage(of: last).isEmpty ? [] : [last]
        return random.arrival(avoiding: taken.filter { $0 != last }, wanted: replaced)
    }

    mutating func segue() -> Operation {
        let possible = scene.segues.filter { tree.nodes[$0.source] != nil }
        let destination = random.isOnce(in: 3) ? random.arrival(avoiding: taken) : nil
        if let segue = possible.randomElement(using: &random), !random.isOnce(in: 6) {
            return .segue(source: segue.source, segue.identifier, destination: destination)
        }
        let identifier = random.pick(SplitMix64.identifiers, or: SplitMix64.identifiers[0])
        return .segue(source: member(nil), identifier, destination: destination)
    }
}
