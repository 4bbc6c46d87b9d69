// Storyboards: what is declared about a scene.

extension ArbiterStateMachine {
    /// A client declares a scene's hierarchy, segues, transition types and defaults.
    ///
    /// - Returns: the scene's new revision.
    /// - Throws: `revisionMismatch`, `alreadyDeclared`, `busy`, `tooManyScenes`, `outOfRoom`, `shareUsedUp`.
    package mutating func declare(
        _ name: SceneName, _ storyboard: Storyboard, if precondition: Precondition, in step: inout Step
    ) throws(ArbiterError) -> Revision {
        try precondition.check(durable.scenes[name], named: name)
        try checkIsIdle(name, at: step.now)
        try admitScene(name)
        try admitBytes(of: storyboard, in: name)
        step.keep(.declare(name, storyboard))
        make(name, at: durable.lastOrder)
        let next = Revision(rawValue: (durable.scenes[name]?.numbers.revision.rawValue ?? 0) + 1)
        durable.changeScene(name) { scene in
            scene.numbers.revision = next
            scene.storyboard = storyboard
            scene.isDeclared = true
        }
        beginIdling(name, at: step.now)
        publish(.hierarchyChanged(next, by: nil, inserted: [], removed: []), in: name, &step)
        return next
    }

    /// A client deletes a scene and everything declared about it.
    ///
    /// - Throws: `unknownScene`, `revisionMismatch`, `busy`.
    package mutating func delete(
        _ name: SceneName, if precondition: Precondition, in step: inout Step
    ) throws(ArbiterError) {
        guard durable.scenes[name] != nil else { throw .unknownScene(name) }
        try precondition.check(durable.scenes[name], named: name)
        try checkIsIdle(name, at: step.now)
        step.keep(.delete(name))
        beginIdling(name, at: step.now)
        forget(name)
    }

    /// - Throws: `busy` if the scene has an unfinished transition.
    private func checkIsIdle(_ name: SceneName, at now: Instant) throws(ArbiterError) {
        guard let queue = durable.scenes[name]?.queue, !queue.isEmpty else { return }
        throw .busy(busy(queue.blockers(of: [[]], limit: Limits.blockersShown), at: now))
    }
}
