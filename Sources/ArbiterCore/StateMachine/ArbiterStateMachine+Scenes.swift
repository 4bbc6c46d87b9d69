// Creating and forgetting scenes.

extension ArbiterStateMachine {
    /// Creates a scene, if it does not exist.
    mutating func make(_ name: SceneName, at order: RequestOrder, in step: inout Step) {
        guard !durable.scenes.contains(name) else { return }
        makeRoom(in: &step)
        let scene = Scene(lastOrder: order, numbers: durable.forgotten)
        durable.scenes[name] = scene
        durable.index.sceneNames.insert(name)
        durable.count(scene)
        momentary.mayHaveIdleScenes = true
    }

    /// A scene that does not exist yet, as it would be created now.
    var unusedScene: Scene {
        Scene(lastOrder: durable.lastOrder, numbers: durable.forgotten)
    }

    /// Forgets the idle scene that was used longest ago, if the limit is reached.
    private mutating func makeRoom(in step: inout Step) {
        guard durable.scenes.count >= retention.scenes else { return }
        let idle = durable.scenes.filter(\.value.isForgettable).min { $0.value.lastOrder < $1.value.lastOrder }
        if let idle { forget(idle.key, in: &step) }
    }

    /// Removes a scene; its numbers are kept, so that a later scene of this name continues after them.
    mutating func forget(_ name: SceneName, in step: inout Step) {
        publish(.sceneDeleted, in: name, &step)
        forget(durable.scenes[name]?.guards ?? [], of: name)
        guard let scene = durable.scenes.removeValue(forKey: name) else { return }
        noteGone(name)
        wakeObservers(of: name, .all, in: &step)
        durable.index.sceneNames.remove(name)
        durable.uncount(scene)
        durable.forgotten.revision = max(durable.forgotten.revision, scene.numbers.revision)
        // The number after the deletion is never used: a follower misses it when the scene is there again, and gets a reset.
        let last = scene.numbers.event.rawValue + 1
        durable.forgotten.event = max(durable.forgotten.event, EventNumber(rawValue: last))
        for session in durable.index.visitors.removeValue(forKey: name) ?? [] {
            durable.sessions[session]?.scenes.remove(name)
            durable.memory.visits -= 1
        }
    }
}
