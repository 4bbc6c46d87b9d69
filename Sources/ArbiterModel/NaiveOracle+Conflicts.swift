package import ArbiterCore

// Who is in whose way, and what is locked and on its way.

extension NaiveOracle {
    package func locked(_ entry: Entry) -> [ControllerID]? {
        if keepsNames, let offered = entry.offered { return offered }
        return scene(entry.scene).locked(by: entry.request, entry.scope)
    }

    /// Whether an entry conflicts with another one.
    package func conflicts(_ entry: Entry, _ other: Entry) -> Bool {
        conflicts(entry, locked(other), isShared: other.isShared)
    }

    /// Whether an entry conflicts with one that locks these controllers, or the whole scene.
    package func conflicts(_ entry: Entry, _ controllers: [ControllerID]?, isShared: Bool) -> Bool {
        guard stands(entry), !(sharesWithAll ? entry.isShared || isShared : entry.isShared && isShared) else {
            return false
        }
        return scene(entry.scene).conflict(locked(entry), controllers, ignoringAncestors: ignoresAncestors)
    }

    /// Whether a request has to wait for an earlier one, because it names what that would bring in.
    package func waits(_ request: TransitionRequest, _ scope: Scope, for earlier: TransitionRequest) -> Bool {
        let scene = scene(request.scene)
        return !ignoresArrivals && !scene.named(by: request, scope).isDisjoint(with: scene.brought(by: earlier))
    }

    func waits(_ later: Entry, for earlier: Entry) -> Bool {
        stands(earlier) && waits(later.request, later.scope, for: earlier.request)
    }

    /// Whether a granted transition locks everything that an operation touches.
    package func holds(_ entry: Entry, _ operation: Operation) -> Bool {
        guard let held = locked(entry) else { return true }
        let scene = scene(entry.scene)
        let touched = scene.locked(by: TransitionRequest(scene: entry.scene, operation: operation), .operation)
        return touched?.allSatisfy { scene.tree.lineage(of: $0).contains(where: held.contains) } ?? false
    }

    /// The unfinished transitions of a scene that conflict with what is below a controller, or all of them.
    package func busy(in name: SceneName, below part: ControllerID?) -> Set<TransitionID> {
        let scene = scene(name)
        let busy = line.filter { entry in
            entry.scene == name && (part.map { scene.conflicts(entry, with: $0) } ?? true)
        }
        return Set(busy.map(\.id))
    }

    package func unfinished(in scene: SceneName) -> Int { line.count { $0.scene == scene } }
    package func queued(in scene: SceneName) -> Int { line.count { $0.scene == scene && !$0.isGranted } }

    /// The controllers that the granted operations of a scene will insert.
    package func reserved(in name: SceneName) -> Set<ControllerID> {
        let scene = scene(name)
        var arriving: Set<ControllerID> = []
        for entry in line where entry.scene == name && entry.isGranted {
            guard let operation = entry.request.operation,
                case .done(let change) = scene.tree.outcome(of: operation, segues: scene.segues, reserved: [])
            else { continue }
            arriving.formUnion(change.arrived.union(change.tree.nodes.keys).filter { scene.tree.nodes[$0] == nil })
        }
        return arriving
    }

    /// The controllers that the granted transitions of a scene lock; none for one that locks the whole scene.
    package func held(in name: SceneName) -> [ControllerID] {
        line.filter { $0.scene == name && $0.isGranted }.flatMap { locked($0) ?? [] }
    }

    /// The controllers that the queued transitions of a scene lock and that do not exist.
    package func missing(in name: SceneName) -> [ControllerID] {
        let scene = scene(name)
        let locked = line.filter { $0.scene == name && !$0.isGranted }.flatMap { self.locked($0) ?? [] }
        return locked.filter { scene.tree.nodes[$0] == nil }
    }
}
