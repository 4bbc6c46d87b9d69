// Several operations in one transition.

extension Storyboard {
    /// What operations come to in the whole that are carried out one after the other.
    ///
    /// Unlike other plans, it costs a copy of the tree.
    ///
    /// - Returns: `nil` if they would change nothing.
    /// - Throws: why the first that is not possible is not, with its index.
    func plan(
        each operations: [Operation], reserving reserved: Set<ControllerID>
    ) throws(OperationRefusal) -> OperationPlan? {
        var storyboard = self
        var plans: [OperationPlan] = []
        var change = HierarchyChange()
        for (index, operation) in operations.enumerated() {
            do throws(OperationRefusal) {
                guard let plan = try storyboard.plan(operation, reserving: reserved)?.introducingArrivals else {
                    continue
                }
                change.add(storyboard.hierarchy.apply(plan.steps))
                plans.append(plan)
            } catch {
                throw OperationRefusal(code: error.code, detail: error.detail, index: index)
            }
        }
        let net = NetChange(from: hierarchy, to: storyboard.hierarchy, by: change)
        let touched = hierarchy.touched(by: plans.flatMap(\.steps))
        return net.isNothing(touching: touched) ? nil : OperationPlan(plans, net)
    }

    /// What the segues of an operation, or of a list, would become now; none if no segue is among them.
    ///
    /// - Returns: of a list, each operation in its place.
    func resolved(_ operation: Operation?, under rules: Rules) -> [ResolvedSegue] {
        guard let operation else { return [] }
        guard case .list(let operations) = operation else {
            return (try? course(of: operation, under: rules)).flatMap(\.self).map { [ResolvedSegue($0)] } ?? []
        }
        guard operations.contains(where: { $0.type == .segue }) else { return [] }
        var storyboard = self
        return operations.map { operation in
            let course = (try? storyboard.course(of: operation, under: rules)).flatMap(\.self)
            if let plan = (try? storyboard.plan(operation)).flatMap(\.self) { storyboard.hierarchy.apply(plan.steps) }
            return ResolvedSegue(course ?? .operation(operation))
        }
    }
}

// MARK: - Which subtrees a list locks

extension Storyboard {
    /// The existing controllers whose subtrees operations lock that are carried out one after the other.
    ///
    /// What an operation locks is found where those before it put what they bring in. The rest of the tree is taken as it is now, so
    /// that the anchors depend only on the places of the controllers that `names(ofEach:)` lists.
    ///
    /// - Returns: `nil` if it cannot be told, or if it is the whole scene.
    func anchors(ofEach operations: [Operation]) -> [ControllerID]? {
        var sketch = ListSketch(self, operations)
        var anchors: [ControllerID] = []
        for operation in operations {
            guard let touched = sketch.add(operation) else { return nil }
            anchors += touched
        }
        return anchors
    }

    /// The controllers on whose places the anchors of a list depend.
    func names(ofEach operations: [Operation]) -> [ControllerID] {
        var names = Set(operations.flatMap { self.names(of: $0) })
        for operation in operations where operation.bringsList {
            names.formUnion(operation.arrivals.compactMap(\.root))
        }
        return Array(names)
    }
}

/// The part of a hierarchy that decides what a list of operations locks: what they name, with what is above it, and what they bring in.
private struct ListSketch {
    private var storyboard: Storyboard
    /// What the operations so far bring in.
    private var brought: Set<ControllerID> = []
    /// Whether a controller may stay as it is, or come anew as it is given, and define another context then.
    private var isContextUnsure = false

    init(_ storyboard: Storyboard, _ operations: [Operation]) {
        self.storyboard = storyboard
        self.storyboard.hierarchy = storyboard.hierarchy.spine(to: storyboard.names(ofEach: operations))
    }

    /// Adds the next operation.
    ///
    /// - Returns: the existing controllers that it locks; `nil` if it cannot be told, or if it is the whole scene.
    mutating func add(_ operation: Operation) -> [ControllerID]? {
        let anchors = storyboard.anchors(of: operation)
        guard !anchors.isEmpty, bringIn(operation) else { return nil }
        // What is brought in is below what the operation that brings it in locks.
        defer { brought.formUnion(storyboard.broughtIDs(by: operation)) }
        return anchors.filter { !brought.contains($0) }
    }

    /// Puts what an operation brings in where it will be.
    ///
    /// - Returns: whether that can be told. Of segues and of operations on splits it cannot: what they do depends on columns that
    ///   operations before them move and replace.
    private mutating func bringIn(_ operation: Operation) -> Bool {
        switch operation {
        case .present(let source?, let arrival): present(arrival, from: source)
        case .push(let container, let arrival), .insertTab(let container, let arrival, _):
            storyboard.hierarchy.attach(arrival, containedIn: container)
        case .setStack(let container, let arrivals), .setTabs(let container, let arrivals, _):
            arrange(arrivals, in: container)
        case .dismiss, .pop, .popTo, .popToRoot, .select, .removeTab: true
        case .setRoot, .present(nil, _), .showDetail, .setColumn, .showColumn, .collapse, .expand, .segue, .list: false
        }
    }

    private mutating func present(_ arrival: Hierarchy, from source: ControllerID) -> Bool {
        guard let style = arrival.root.flatMap({ arrival[$0] })?.presentationStyle,
            !(isContextUnsure && style.seeksContext),
            let presenter = storyboard.hierarchy.presenter(for: style, from: source)
        else { return false }
        return storyboard.hierarchy.attach(arrival, presentedBy: presenter.id)
    }

    private mutating func arrange(_ arrivals: [Hierarchy], in container: ControllerID) -> Bool {
        arrivals.allSatisfy { arrival in
            guard arrival.root.map({ storyboard.hierarchy.container(of: $0) }) == container else {
                return storyboard.hierarchy.attach(arrival, containedIn: container)
            }
            // It stays as it is, without what is given below it; or it has gone before, and comes anew.
            isContextUnsure = true
            return arrival.count == 1
        }
    }
}

extension Hierarchy {
    /// The controllers of these names with all above them; it is no whole tree.
    fileprivate func spine(to names: [ControllerID]) -> Hierarchy {
        var spine = Hierarchy()
        spine.root = root
        for name in names {
            var next = self[name]
            // Above one that is known, all are.
            while let controller = next, spine.controllers.updateValue(controller, forKey: controller.id) == nil {
                next = controller.parent.flatMap { self[$0] }
            }
        }
        return spine
    }

    fileprivate mutating func attach(_ arrival: Hierarchy, presentedBy presenter: ControllerID) -> Bool {
        guard add(arrival, below: presenter) else { return false }
        controllers[presenter]?.presented = arrival.root
        return true
    }

    fileprivate mutating func attach(_ arrival: Hierarchy, containedIn container: ControllerID) -> Bool {
        guard add(arrival, below: container) else { return false }
        if controllers[container]?.presented == arrival.root { controllers[container]?.presented = nil }
        return true
    }

    /// - Returns: whether none of them is above its place.
    private mutating func add(_ arrival: Hierarchy, below parent: ControllerID) -> Bool {
        var next = ControllerID?.some(parent)
        while let above = next {
            guard arrival[above] == nil else { return false }
            next = controllers[above]?.parent
        }
        for controller in arrival.preorder { controllers[controller.id] = controller }
        if let top = arrival.root { controllers[top]?.parent = parent }
        return true
    }
}
