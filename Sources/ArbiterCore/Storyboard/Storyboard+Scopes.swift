// The places of scopes in the hierarchy.

extension Storyboard {
    /// The paths of a scope in the current hierarchy; no path is a prefix of another.
    ///
    /// A controller that does not exist gets a path of its own, under its id. So its scope conflicts with scopes of the
    /// whole scene, whose operations may insert it, and with scopes that name it too.
    package func paths(of scope: Scope, _ operation: Operation?) -> [ScopePath] {
        switch scope {
        case .scene: return Self.wholeScene
        case .anyOf(let names): return names.map { [$0] }
        case .operation, .controllers: break
        }
        guard var controllers = operation.map({ touched(by: $0) }) ?? [] else { return Self.wholeScene }
        switch scope {
        case .scene, .operation, .anyOf: break
        case .controllers(let named): controllers = named + controllers
        }
        let paths = controllers.map { hierarchy.path(to: $0) ?? [$0] }.sorted { $0.count < $1.count }
        guard paths.count > 1 else { return paths }
        // A path ends at its controller, so one that contains the end of another is below it.
        var ends: Set<ControllerID> = []
        return paths.filter { path in
            guard !path.contains(where: ends.contains), let end = path.last else { return false }
            ends.insert(end)
            return true
        }
    }

    /// Whether a scope holds everything that an operation touches.
    func holds(_ scope: Scope, _ operation: Operation) -> Bool {
        let held = paths(of: scope, nil)
        return paths(of: .operation, operation).allSatisfy { path in held.contains(where: path.starts(with:)) }
    }

    /// The paths of the whole scene.
    private static let wholeScene: [ScopePath] = [[]]

    /// The controllers that the paths of a scope depend on.
    func names(of scope: Scope, _ operation: Operation?) -> [ControllerID] {
        switch scope {
        // One that is to get any of several names has ended before one of them can be a controller.
        case .scene, .anyOf: []
        case .operation: operation.map { names(of: $0) } ?? []
        case .controllers(let named): Set(named).union(operation.map { names(of: $0) } ?? []).map(\.self)
        }
    }

    /// The anchors of an operation; if it is impossible now, one of the controllers that it names.
    ///
    /// - Returns: `nil` for the whole scene.
    private func touched(by operation: Operation) -> [ControllerID]? {
        switch operation {
        case .setRoot, .present(nil, _): return nil
        case .list(let operations): return anchors(ofEach: operations)
        default: break
        }
        let anchors = anchors(of: operation)
        guard anchors.isEmpty else { return anchors }
        let names = names(of: operation)
        return [names.first { hierarchy[$0] == nil } ?? names.first].compactMap(\.self)
    }

    /// The controllers that the anchors of an operation depend on.
    func names(of operation: Operation) -> [ControllerID] {
        if case .list(let operations) = operation { return names(ofEach: operations) }
        guard case .segue(let source, let identifier, let given) = operation,
            let segue = segue(identifier, from: source), segue.kind == .unwind,
            let destination = (given ?? segue.destination).root
        else { return operation.target.map { [$0] } ?? [] }
        return [source, destination]
    }
}
