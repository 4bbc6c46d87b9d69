// Storyboards: what is declared about a scene.

extension ArbiterStateMachine {
    mutating func declare(
        _ name: SceneName, _ storyboard: Storyboard, ifMatch revision: Revision?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        let actual = durable.scenes[name]?.numbers.revision
        if let revision, revision != actual { throw .revisionMismatch(expected: revision, actual: actual) }
        try checkIsIdle(name, at: step.now)
        try admitScene(name)
        try admitBytes(of: storyboard, in: name)
        step.isDurable = true
        make(name, at: durable.lastOrder)
        let next = Revision(rawValue: (durable.scenes[name]?.numbers.revision.rawValue ?? 0) + 1)
        durable.changeScene(name) { scene in
            scene.numbers.revision = next
            scene.storyboard = storyboard
            scene.isDeclared = true
        }
        publish(.hierarchyChanged(next, by: nil, inserted: [], removed: []), in: name, &step)
        return .declared(next)
    }

    mutating func delete(
        _ name: SceneName, ifMatch revision: Revision?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        guard let actual = durable.scenes[name]?.numbers.revision else { throw .unknownScene(name) }
        if let revision, revision != actual { throw .revisionMismatch(expected: revision, actual: actual) }
        try checkIsIdle(name, at: step.now)
        step.isDurable = true
        forget(name)
        return .done
    }

    /// - Throws: `busy` if something is unfinished in the scene.
    private func checkIsIdle(_ name: SceneName, at now: Instant) throws(ArbiterError) {
        guard let queue = durable.scenes[name]?.queue, !queue.isEmpty else { return }
        throw .busy(busy(queue.blockers(of: [[]], limit: Limits.blockersShown), at: now))
    }
}
