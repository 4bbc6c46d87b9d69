package import ArbiterCore

// What segues do to a naive tree.

extension NaiveTree {
    func follow(
        _ identifier: SegueIdentifier, to destination: Hierarchy?, from source: ControllerID, _ segues: [Segue],
        _ reserved: Set<ControllerID>
    ) -> NaiveOutcome {
        guard nodes[source] != nil else { return .refused(.unknownController) }
        guard let segue = segues.first(where: { $0.source == source && $0.identifier == identifier }) else {
            return .refused(.unknownSegue)
        }
        let arrival = NaiveTree(destination ?? segue.destination)
        if segue.kind == .unwind { return arrival.root.map(unwind) ?? .refused(.unknownController) }
        guard let container = container(for: segue) else { return present(arrival, from: source, reserved) }
        guard let node = nodes[container], node.kind == .split else { return push(arrival, on: container, reserved) }
        if segue.kind == .showDetail || node.isCollapsed { return showDetail(arrival, in: container, reserved) }
        // The child of the split that the source is, or is in; the primary, if it is the split itself.
        let branch = layer(upFrom: source).first { node.children.contains($0) }
        let column = branch.flatMap { self.column(of: $0, in: node) }
        return replaceColumn(column ?? .primary, of: container, with: arrival, reserved)
    }

    /// The container that decides what a segue does; `nil` for a segue that presents or unwinds.
    package func container(for segue: Segue) -> ControllerID? {
        let layer = layer(upFrom: segue.source)
        return switch segue.kind {
        case .present, .unwind: nil
        case .show: layer.first { [.navigation, .split].contains(nodes[$0]?.kind) }
        case .showDetail: layer.first { nodes[$0]?.kind == .split }
        }
    }

    private func unwind(to destination: ControllerID) -> NaiveOutcome {
        let layer = Array(layer(upFrom: destination).reversed())
        guard !layer.isEmpty else { return .refused(.unknownController) }
        var change = NaiveChange(tree: self)
        // Dismissed controllers are listed before popped ones.
        for member in layer {
            guard let presented = change.tree.nodes[member]?.presented else { continue }
            change.isCrossed = true
            change.take(presented)
        }
        for (container, branch) in zip(layer, layer.dropFirst()) {
            guard let node = nodes[container], let index = node.children.firstIndex(of: branch) else { continue }
            if node.kind == .tabs { change.tree.nodes[container]?.selected = index }
            guard node.kind == .navigation else { continue }
            for popped in node.children[(index + 1)...].reversed() { change.pop(popped) }
        }
        guard change.tree != self else { return .nothing }
        change.leaving = outermost(gone: change.tree, along: layer)
        return .done(change)
    }

    /// The first removed controller on the way down the layer; what a member presents comes before its children.
    private func outermost(gone after: NaiveTree, along layer: [ControllerID]) -> ControllerID? {
        for member in layer {
            let below = [nodes[member]?.presented].compactMap(\.self) + (nodes[member]?.children.reversed() ?? [])
            if let gone = below.first(where: { after.nodes[$0] == nil || after.nodes[$0]?.parent != member }) {
                return gone
            }
        }
        return nil
    }
}
