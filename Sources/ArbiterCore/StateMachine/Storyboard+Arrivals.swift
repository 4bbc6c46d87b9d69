// What requests have to do with controllers that are coming.

extension Storyboard {
    /// What a request has to do with controllers that are coming.
    func arrivals(of request: TransitionRequest, scope: Scope) -> ScopeQueue.Arrivals {
        let brought = request.operation.map { broughtIDs(by: $0) } ?? []
        return ScopeQueue.Arrivals(
            brought: Array(brought), named: Array(named(by: request, scope: scope, bringing: brought)))
    }

    /// What a request conflicts by.
    func claim(of request: TransitionRequest, scope: Scope) -> Claim {
        let isAny = if case .anyOf = scope { true } else { false }
        return Claim(
            paths: paths(of: scope, request.operationOutline), arrivals: arrivals(of: request, scope: scope),
            isShared: request.mode == .shared, isAny: isAny)
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
        case .controllers(let locked), .anyOf(let locked): named = brought.union(locked)
        }
        if let operation = request.operation {
            if operation.touchesScene { return [] }
            named.formUnion(operation.named)
            named.formUnion(names(of: operation))
        }
        for case .controller(let id, _, _) in request.expectations { named.insert(id) }
        return named
    }

    /// The ids of the controllers that an operation brings in, also of those that are there already.
    func broughtIDs(by operation: Operation) -> Set<ControllerID> {
        if case .list(let operations) = operation {
            return operations.reduce(into: []) { $0.formUnion(broughtIDs(by: $1)) }
        }
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
