/// The parked awaits of conditions on controllers; part of the momentary state.
struct Observing: Sendable {
    private(set) var observers: [WaiterID: Observer] = [:]
    private var scenes: [SceneName: Watched] = [:]

    private struct Watched: Sendable {
        var count = 0
        var controllers = WatchedControllers<WaiterID>()
    }

    /// The parked awaits of a scene.
    func count(of scene: SceneName) -> Int { scenes[scene]?.count ?? 0 }

    mutating func add(_ waiter: WaiterID, _ observer: Observer, in hierarchy: Hierarchy) {
        let previous = observers.updateValue(observer, forKey: waiter)
        precondition(previous == nil, "\(waiter) is already parked")
        scenes[observer.scene, default: Watched()].count += 1
        file(waiter, observer, in: hierarchy)
    }

    private mutating func file(_ waiter: WaiterID, _ observer: Observer, in hierarchy: Hierarchy) {
        scenes[observer.scene]?.controllers.insert(waiter, on: [observer.condition], in: hierarchy)
    }

    mutating func remove(_ waiter: WaiterID) -> Observer? {
        guard let observer = observers.removeValue(forKey: waiter) else { return nil }
        scenes[observer.scene]?.controllers.remove(waiter, on: [observer.condition])
        scenes[observer.scene]?.count -= 1
        if count(of: observer.scene) == 0 { scenes[observer.scene] = nil }
        return observer
    }

    /// Those whose condition holds because of a change, the first one first; the others that it concerns are filed anew.
    mutating func reached(
        by change: TouchedControllers, in scene: SceneName, _ storyboard: Storyboard, at revision: Revision
    ) -> [WaiterID] {
        let concerned = scenes[scene]?.controllers.take(touchedBy: change) ?? []
        return concerned.sorted().filter { waiter in
            guard let observer = observers[waiter] else { return false }
            let holds = storyboard.failure(of: observer.condition, at: revision) == nil
            if !holds { file(waiter, observer, in: storyboard.hierarchy) }
            return holds
        }
    }
}

/// A parked await; it is answered when its condition holds.
struct Observer: Sendable {
    let scene: SceneName
    /// On a controller.
    let condition: Expectation
    /// The session that it keeps alive.
    let session: SessionID?
}

/// Whether a condition holds, for a client that waits for it.
package struct ConditionView: Hashable, Sendable {
    package let holds: Bool
    /// The controller of the condition; `nil` if it does not exist.
    package let controller: ControllerView?
    /// The revision of the hierarchy.
    package let revision: Revision
}
