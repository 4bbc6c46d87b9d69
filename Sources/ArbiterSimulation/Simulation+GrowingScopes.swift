internal import ArbiterCore
internal import ArbiterModel
internal import ArbiterTestKit

// Scopes that grow while they wait: random requests lead to this too rarely.

extension Simulation {
    /// In an idle scene, lets the scope of an earlier ticket grow over a part of a later one while both wait.
    ///
    /// Three stacks are locked. The earlier ticket waits for the first, and presents from a controller that the holder of
    /// the second inserts: after the end of that holder it locks the container of the second stack. The later ticket waits
    /// for the third stack, and lists a free one in the same container. Mostly the holder of the second stack ends first,
    /// and then that of the third.
    mutating func letScopesGrow() throws(Broken) {
        let name = idleScene()
        guard oracle.unfinished(in: name) == 0, let declarer = someClient() else { return }
        try send(.declare(name, chance.storyboard(isWide: true), if: .none), from: declarer)
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
            try send(.serialize(request, wait: .zero), from: client)
        }
        try commit()
        for request in requests[..<2] where !chance.isOnce(in: 8) { try complete(request) }
    }

    /// The owner of a granted request ends it, if it knows of the grant.
    private mutating func complete(_ request: TransitionRequest) throws(Broken) {
        guard let id = oracle.line.first(where: { $0.request == request && $0.isGranted })?.id else { return }
        for (client, process) in clients.enumerated() {
            guard let owned = process.owned.first(where: { $0.id == id }) else { continue }
            holds.relinquish(id)
            return try send(.end(id, token: owned.token, .completed), from: client)
        }
    }
}
