// The places of scopes in the hierarchy.

extension Storyboard {
    /// The paths of a scope in the current hierarchy; no path is a prefix of another.
    ///
    /// A controller that does not exist gets a path of its own, under its id. So its scope conflicts with scopes of the
    /// whole scene, whose operations may insert it, and with scopes that name it too.
    package func paths(of scope: Scope, _ operation: Operation?) -> [ScopePath] {
        if case .setRoot? = operation { return [[]] }
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

    /// The controllers that the paths of a scope depend on.
    func names(of scope: Scope, _ operation: Operation?) -> [ControllerID] {
        switch scope {
        case .scene: []
        case .operation: operation.map { names(of: $0) } ?? []
        case .controllers(let named): Set(named).union(operation.map { names(of: $0) } ?? []).map(\.self)
        }
    }

    /// The anchors of an operation; if it is impossible now, one of the controllers that it names.
    private func touched(by operation: Operation) -> [ControllerID] {
        let anchors = anchors(of: operation)
        guard anchors.isEmpty else { return anchors }
        let names = names(of: operation)
        return [names.first { hierarchy[$0] == nil } ?? names.first].compactMap(\.self)
    }

    private func names(of operation: Operation) -> [ControllerID] {
        guard case .segue(let source, let identifier, let given) = operation,
            let segue = segue(identifier, from: source), segue.kind == .unwind,
            let destination = (given ?? segue.destination).root
        else { return operation.target.map { [$0] } ?? [] }
        return [source, destination]
    }
}

// MARK: - Controllers that are coming

extension Storyboard {
    /// What a request has to do with controllers that are coming.
    func arrivals(of request: TransitionRequest, scope: Scope) -> ScopeQueue.Arrivals {
        let brought = request.operation.map { broughtIDs(by: $0) } ?? []
        return ScopeQueue.Arrivals(
            brought: Array(brought), named: Array(named(by: request, scope: scope, bringing: brought)))
    }

    /// The controllers that a request names: in its scope, in its operation and its arrivals, and in its expectations.
    ///
    /// - Returns: none if it locks the whole scene, and so waits for everything.
    func named(by request: TransitionRequest, scope: Scope) -> Set<ControllerID> {
        named(by: request, scope: scope, bringing: request.operation.map { broughtIDs(by: $0) } ?? [])
    }

    private func named(
        by request: TransitionRequest, scope: Scope, bringing brought: Set<ControllerID>
    ) -> Set<ControllerID> {
        var named: Set<ControllerID>
        switch scope {
        case .scene: return []
        case .operation: named = brought
        case .controllers(let locked): named = brought.union(locked)
        }
        if let operation = request.operation {
            if case .setRoot = operation { return [] }
            named.formUnion(operation.named)
            named.formUnion(names(of: operation))
        }
        for case .controller(let id, _) in request.expectations { named.insert(id) }
        return named
    }

    /// The ids of the controllers that an operation brings in, also of those that are there already.
    private func broughtIDs(by operation: Operation) -> Set<ControllerID> {
        guard case .segue(let source, let identifier, let given) = operation else {
            return Self.ids(of: operation.arrivals)
        }
        guard let segue = segue(identifier, from: source) else { return Self.ids(of: operation.arrivals) }
        return segue.kind == .unwind ? [] : Self.ids(of: [given ?? segue.destination])
    }

    private static func ids(of arrivals: [Hierarchy]) -> Set<ControllerID> {
        arrivals.reduce(into: []) { ids, arrival in
            for controller in arrival.preorder { ids.insert(controller.id) }
        }
    }
}
