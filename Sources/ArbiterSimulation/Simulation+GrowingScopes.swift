internal import ArbiterCore

// Scopes that grow while they wait: chance alone brings the parts of this together too rarely.

extension Simulation {
    /// In an idle scene, makes an earlier ticket's scope ready to grow above a part of a later one while both wait.
    ///
    /// Three stacks are held. The earlier ticket waits for one of them, and presents from a controller that the holder of
    /// another brings in: once that has ended, it locks the container of the stack. The later ticket waits for the third
    /// stack, and names a free one in the same container. Mostly the holder with the arrival ends first, and then that of the
    /// third stack; the rest is left to chance.
    mutating func letScopesGrow() throws(Broken) {
        let name = idleScene()
        guard oracle.unfinished(in: name) == 0, let declarer = someClient() else { return }
        try send(.declare(name, chance.storyboard(isWide: true), ifMatch: nil), from: declarer)
        let tree = oracle.scene(name).tree
        let stacks = tree.nodes.filter { $0.value.kind == .navigation }.keys.sorted { $0.description < $1.description }
        let depths = Dictionary(grouping: stacks.shuffled(using: &chance)) { tree.lineage(of: $0).count }
        guard let outer = depths[2], let inner = depths[3], outer.count > 1, inner.count > 1 else { return }

        let taken = Array(tree.nodes.keys)
        let arrival = chance.overlay(avoiding: taken)
        guard let arriving = arrival.root else { return }
        var requests = [(inner[0], arrival), (outer[0], chance.overlay(avoiding: taken + [arriving]))].map {
            TransitionRequest(scene: name, scope: .operation, operation: .push(navigation: $0, controller: $1))
        }
        requests.append(TransitionRequest(scene: name, scope: .controllers([outer[1]])))
        requests.append(
            TransitionRequest(
                scene: name, scope: .controllers([outer[1]]),
                operation: .present(
                    presenter: arriving, controller: chance.overlay(avoiding: taken + [arriving]))))
        requests.append(TransitionRequest(scene: name, scope: .controllers([outer[0], inner[1]])))
        for request in requests {
            guard let client = someClient() else { return }
            try send(.serialize(request, wait: nil), from: client)
        }
        commit()
        try release()
        for request in requests[..<2] where !chance.isOnce(in: 8) { try complete(request) }
    }

    /// Its owner ends what a request has been granted, if it knows of that.
    private mutating func complete(_ request: TransitionRequest) throws(Broken) {
        guard let id = oracle.line.first(where: { $0.request == request && $0.isGranted })?.id else { return }
        for (client, process) in clients.enumerated() {
            guard let owned = process.owned.first(where: { $0.id == id }) else { continue }
            holds.relinquish(id)
            return try send(.end(id, token: owned.token, .completed), from: client)
        }
    }
}
