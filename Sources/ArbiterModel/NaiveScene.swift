package import ArbiterCore

/// The state of a scene without its transitions, which are in `NaiveOracle.line`.
package struct NaiveScene {
    /// What was declared; its hierarchy is the declared one, not the current one.
    package var storyboard = Storyboard.empty
    package var tree = NaiveTree(Hierarchy())
    var isDeclared = false
    package var revision: UInt64
    /// The number of the newest event; it includes numbers of forgotten scenes and numbers skipped after a crash.
    package var events: UInt64
    /// The order of the newest transition in the scene.
    var lastOrder = 0

    package var segues: [Segue] { storyboard.segues }

    // MARK: - Scopes

    /// The controllers whose subtrees a request locks; `nil` for the whole scene.
    ///
    /// A controller that does not exist is in the list too: a transition that locks it conflicts.
    package func locked(by request: TransitionRequest, _ scope: Scope) -> [ControllerID]? {
        let touched = request.operation.map(anchors) ?? []
        if case .setRoot? = request.operation { return nil }
        return switch scope {
        case .scene: nil
        case .operation: touched
        case .controllers(let named): named + touched
        }
    }

    package func resolvedScope(of request: TransitionRequest) -> Scope {
        let standard: Scope = storyboard.defaults.scope == .operation && request.operation != nil ? .operation : .scene
        return request.scope ?? standard
    }

    package func conflict(_ one: [ControllerID]?, _ other: [ControllerID]?, ignoringAncestors: Bool = false) -> Bool {
        guard let one, let other else { return true }
        return one.contains { left in
            other.contains { right in ignoringAncestors ? left == right : tree.areRelated(left, right) }
        }
    }

    private func anchors(of operation: Operation) -> [ControllerID] {
        switch operation {
        case .present(let presenter, let arrival): [self.presenter(of: arrival, from: presenter) ?? presenter]
        case .dismiss(let controller): [layerAnchor(of: controller, isDismissed: true)]
        case .push(let id, _), .pop(let id), .popTo(let id, _), .popToRoot(let id), .setStack(let id, _),
            .select(let id, _), .collapse(let id), .expand(let id), .setTabs(let id, _, _):
            [id]
        case .setRoot: []
        case .showDetail(let split, let arrival): [detailAnchor(of: arrival, in: split)]
        case .segue(let source, let identifier, let destination):
            segueAnchors(identifier, to: destination, from: source)
        }
    }

    private func presenter(of arrival: Hierarchy, from source: ControllerID) -> ControllerID? {
        tree.presenter(for: arrival.root.flatMap { arrival[$0]?.presentationStyle }, from: source)
    }

    private func layerAnchor(of id: ControllerID, isDismissed: Bool) -> ControllerID {
        guard let topmost = tree.layer(upFrom: id).last else { return id }
        return isDismissed ? tree.presenter(of: topmost) ?? topmost : topmost
    }

    /// The anchor of a detail: the split, or the presenter if a collapsed split without a navigation presents it.
    private func detailAnchor(of arrival: Hierarchy, in split: ControllerID) -> ControllerID {
        guard let node = tree.nodes[split], node.kind == .split, node.isCollapsed,
            tree.nodes[node.children[0]]?.kind != .navigation
        else { return split }
        return presenter(of: arrival, from: split) ?? split
    }

    private func segueAnchors(
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

    // MARK: - Expectations

    package func holds(_ expectation: ArbiterCore.Expectation) -> Bool {
        switch expectation {
        case .revision(let expected): expected.rawValue == revision
        case .controller(let id, let condition): holds(id, condition)
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
