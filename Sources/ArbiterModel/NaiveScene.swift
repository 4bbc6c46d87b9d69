package import ArbiterCore

/// The state of a scene without its transitions, which are in `NaiveOracle.line`.
package struct NaiveScene {
    /// What was declared; its hierarchy is the declared one, not the current one.
    package var storyboard = Storyboard.empty
    package var tree = NaiveTree(Hierarchy())
    package var isDeclared = false
    /// Who is asked before which controllers are removed, in the order in which they were set.
    package var guards: [Guard] = []
    /// How often it was changed by a patch since it was declared.
    package var patches: UInt64 = 0
    package var revision: UInt64
    /// The number of the newest event; it includes numbers of forgotten scenes and numbers skipped after a crash.
    package var events: UInt64
    /// The order of the newest transition in the scene.
    var lastOrder = 0

    package var segues: [Segue] { storyboard.segues }

    /// The version of the storyboard; `nil` if nobody has declared it.
    package var version: StoryboardVersion? {
        isDeclared ? StoryboardVersion(revision: Revision(rawValue: revision), patches: patches) : nil
    }

    func outcome(of operation: Operation, reserved: Set<ControllerID>) -> NaiveOutcome {
        tree.outcome(of: operation, segues: segues, reserved: reserved, defaultType: storyboard.defaults.type)
    }

    // MARK: - Patches

    /// The storyboard after a patch, without a hierarchy; `nil` if a controller would have a type that is not declared.
    package func patched(by patch: StoryboardPatch) -> Storyboard? {
        var (segues, types, defaults) = (storyboard.segues, storyboard.transitionTypes, storyboard.defaults)
        for change in patch.segues {
            let index = segues.firstIndex { $0.source == change.source && $0.identifier == change.identifier }
            switch (change, index) {
            case (.set(let segue), let index?): segues[index] = segue
            case (.set(let segue), nil): segues.append(segue)
            case (.remove, let index?): segues.remove(at: index)
            case (.remove, nil): break
            }
        }
        for change in patch.transitionTypes {
            let index = types.firstIndex { $0.name == change.name }
            switch (change, index) {
            case (.set(let type), let index?): types[index] = type
            case (.set(let type), nil): types.append(type)
            case (.remove, let index?): types.remove(at: index)
            case (.remove, nil): break
            }
        }
        defaults.duration = patch.defaults.duration ?? defaults.duration
        defaults.curve = patch.defaults.curve ?? defaults.curve
        defaults.type = patch.defaults.type ?? defaults.type
        defaults.lease = patch.defaults.lease ?? defaults.lease
        defaults.scope = patch.defaults.scope ?? defaults.scope
        defaults.priority = patch.defaults.priority ?? defaults.priority
        switch patch.defaults.interruptibility {
        case .never: defaults.consent = nil
        case .allowed(let consent): defaults.consent = consent
        case nil: break
        }
        let used = tree.nodes.values.compactMap(\.type)
        guard used.allSatisfy({ name in types.contains { $0.name == name } }) else { return nil }
        return try? Storyboard(segues: segues, transitionTypes: types, defaults: defaults)
    }

    /// Whether a patch replaces or removes a segue or a transition type that a request names.
    package func isInUse(_ patch: StoryboardPatch, by request: TransitionRequest) -> Bool {
        var arrivals: [Hierarchy] = []
        for operation in request.operation?.parts ?? [] {
            let segue: Segue? =
                if case .segue(let source, let identifier, _) = operation {
                    segues.first { $0.source == source && $0.identifier == identifier }
                } else {
                    nil
                }
            if let segue {
                let change = patch.segues.first { $0.source == segue.source && $0.identifier == segue.identifier }
                if let change, change != .set(segue) { return true }
            }
            arrivals += operation.arrivals.isEmpty ? segue.map { [$0.destination] } ?? [] : operation.arrivals
        }
        let types = arrivals.flatMap(\.preorder).map(\.introTransitionType) + [request.animation?.type]
        return types.compactMap(\.self).contains { name in
            guard let type = storyboard.transitionTypes.first(where: { $0.name == name }),
                let change = patch.transitionTypes.first(where: { $0.name == name })
            else { return false }
            return change != .set(type)
        }
    }

    /// Whether all transition types that a request names are declared.
    func knowsTypes(of request: TransitionRequest) -> Bool {
        let arriving = (request.operation?.arrivals ?? []).flatMap { $0.preorder.map(\.introTransitionType) }
        let known = Set(storyboard.transitionTypes.map(\.name))
        return (arriving + [request.animation?.type]).allSatisfy { $0.map(known.contains) ?? true }
    }

    // MARK: - Scopes

    /// The controllers whose subtrees a request locks; `nil` for the whole scene.
    ///
    /// A controller that does not exist is in the list too: a transition that locks it conflicts.
    package func locked(by request: TransitionRequest, _ scope: Scope) -> [ControllerID]? {
        let touched: [ControllerID]
        switch request.operation {
        case .setRoot?, .present(nil, _)?: return nil
        case .list(let operations)?:
            guard let anchors = anchors(ofEach: operations) else { return nil }
            touched = anchors
        case let operation: touched = operation.map(anchors) ?? []
        }
        return switch scope {
        case .scene: nil
        case .operation: touched
        case .controllers(let named): named + touched
        case .anyOf(let names): names
        }
    }

    package func resolvedScope(of request: TransitionRequest) -> Scope {
        let standard: Scope = storyboard.defaults.scope == .operation && request.operation != nil ? .operation : .scene
        return request.scope ?? standard
    }

    /// Whether a request may be interrupted: what it says, or else what the scene says.
    func consent(of request: TransitionRequest) -> Consent? {
        switch request.interruptibility {
        case .never: nil
        case .allowed(let consent): consent
        case nil: storyboard.defaults.consent
        }
    }

    package func conflict(_ one: [ControllerID]?, _ other: [ControllerID]?, ignoringAncestors: Bool = false) -> Bool {
        guard let one, let other else { return true }
        return one.contains { left in
            other.contains { right in ignoringAncestors ? left == right : tree.areRelated(left, right) }
        }
    }

    /// Whether a transition locks something at, above or below a controller, or brings in one with its id.
    package func conflicts(_ entry: NaiveOracle.Entry, with part: ControllerID) -> Bool {
        conflict(locked(by: entry.request, entry.scope), [part]) || brought(by: entry.request).contains(part)
    }

    func presenter(of arrival: Hierarchy, from source: ControllerID) -> ControllerID? {
        tree.presenter(for: arrival.root.flatMap { arrival[$0]?.presentationStyle }, from: source)
    }

    func layerAnchor(of id: ControllerID, isDismissed: Bool) -> ControllerID {
        guard let topmost = tree.layer(upFrom: id).last else { return id }
        return isDismissed ? tree.presenter(of: topmost) ?? topmost : topmost
    }

    /// The anchor of a detail: the split, or the presenter if a collapsed split without a navigation presents it.
    func detailAnchor(of arrival: Hierarchy, in split: ControllerID) -> ControllerID {
        guard let node = tree.nodes[split], node.kind == .split, node.isCollapsed,
            tree.nodes[node.children[0]]?.kind != .navigation
        else { return split }
        return presenter(of: arrival, from: split) ?? split
    }

    func segueAnchors(
        _ identifier: SegueIdentifier, to given: Hierarchy?, from source: ControllerID
    ) -> [ControllerID] {
        guard tree.nodes[source] != nil,
            let segue = segues.first(where: { $0.source == source && $0.identifier == identifier })
        else { return [source] }
        let brought = given ?? segue.destination
        if segue.kind == .unwind {
            guard let destination = brought.root else { return [source] }
            guard tree.nodes[destination] != nil else { return [destination] }
            return [layerAnchor(of: destination, isDismissed: false), source]
        }
        guard let container = tree.container(for: segue) else {
            return [presenter(of: brought, from: source) ?? source]
        }
        let isSplit = tree.nodes[container]?.kind == .split
        return [isSplit ? detailAnchor(of: brought, in: container) : container]
    }

    // MARK: - Controllers that are coming

    /// The controllers that a request would bring in, also those that are there already.
    package func brought(by request: TransitionRequest) -> Set<ControllerID> {
        request.operation.map(brought) ?? []
    }

    func brought(by operation: Operation) -> Set<ControllerID> {
        if case .list(let operations) = operation { return Set(operations.flatMap(brought)) }
        guard case .segue(let source, let identifier, let given) = operation else {
            return Set(operation.arrivals.flatMap(\.preorder).map(\.id))
        }
        let segue = segues.first { $0.source == source && $0.identifier == identifier }
        if segue?.kind == .unwind { return [] }
        return Set((given ?? segue?.destination)?.preorder.map(\.id) ?? [])
    }

    /// The controllers that a request names; none if it waits for everything.
    package func named(by request: TransitionRequest, _ scope: Scope) -> Set<ControllerID> {
        if locked(by: request, scope) == nil { return [] }
        var named = brought(by: request)
        switch scope {
        case .scene, .operation: break
        case .controllers(let list), .anyOf(let list): named.formUnion(list)
        }
        for case .controller(let id, _, _) in request.expectations { named.insert(id) }
        if let operation = request.operation { named.formUnion(existing(namedBy: operation)) }
        return named
    }

    // MARK: - Expectations

    package func holds(_ expectation: ArbiterCore.Expectation) -> Bool {
        switch expectation {
        case .revision(let expected): expected.rawValue == revision
        case .controller(let id, let condition, let isNegated): holds(id, condition) != isNegated
        }
    }

    private func holds(_ id: ControllerID, _ condition: ArbiterCore.Expectation.Condition) -> Bool {
        guard tree.nodes[id] != nil else { return condition == .absent }
        let container = tree.container(of: id).flatMap { tree.nodes[$0] }
        return switch condition {
        case .exists: true
        case .absent: false
        case .visible: tree.visible().contains(id)
        case .presented: tree.layer(upFrom: id).last.map { tree.presenter(of: $0) != nil } ?? false
        case .presenting: tree.layer(upFrom: id).contains { tree.nodes[$0]?.presented != nil }
        case .top: container?.kind == .navigation && container?.children.last == id
        case .selected: container.map { $0.kind == .tabs && $0.children[$0.selected] == id } ?? false
        }
    }
}
