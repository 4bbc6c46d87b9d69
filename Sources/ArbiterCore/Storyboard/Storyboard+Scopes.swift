// Where scopes stand in the hierarchy.

extension Storyboard {
    /// Where a scope stands in the hierarchy as it is: no path is the beginning of another.
    ///
    /// A controller that is not there stands apart, at a place of its own name: whoever locks the whole scene, and may
    /// bring it, is in its way, and so is whoever names it too.
    package func paths(of scope: Scope, _ operation: Operation?) -> [ScopePath] {
        var controllers = operation.map { touched(by: $0) } ?? []
        switch scope {
        case .scene: return [[]]
        case .operation: break
        case .controllers(let named): controllers = named + controllers
        }
        let paths = controllers.map { hierarchy.path(to: $0) ?? [$0] }.sorted { $0.count < $1.count }
        return paths.reduce(into: []) { kept, path in
            if !kept.contains(where: path.starts(with:)) { kept.append(path) }
        }
    }

    /// The controllers on whose places it depends where a scope stands.
    func names(of scope: Scope, _ operation: Operation?) -> [ControllerID] {
        switch scope {
        case .scene: []
        case .operation: operation.map { names(of: $0) } ?? []
        case .controllers(let named): Set(named).union(operation.map { names(of: $0) } ?? []).map(\.self)
        }
    }

    /// The controllers whose subtrees an operation locks; of those it names, if it is not possible as it is.
    private func touched(by operation: Operation) -> [ControllerID] {
        let anchors = anchors(of: operation)
        guard anchors.isEmpty else { return anchors }
        let names = names(of: operation)
        return [names.first { hierarchy[$0] == nil } ?? names.first].compactMap(\.self)
    }

    private func names(of operation: Operation) -> [ControllerID] {
        switch operation {
        case .present(let controller, _), .dismiss(let controller), .push(let controller, _), .pop(let controller),
            .popTo(let controller, _), .popToRoot(let controller), .setStack(let controller, _),
            .select(let controller, _), .showDetail(let controller, _):
            return [controller]
        case .segue(let source, let identifier):
            guard let segue = segue(identifier, from: source), segue.kind == .unwind,
                let destination = segue.destination.root
            else { return [source] }
            return [source, destination]
        }
    }
}
