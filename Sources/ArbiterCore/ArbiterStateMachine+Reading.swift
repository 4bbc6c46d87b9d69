// What can be asked without changing anything.

extension ArbiterStateMachine {
    /// Whether the id is one of a remembered transition, and so cannot be given again.
    package func isInUse(_ id: TransitionID) -> Bool { durable.transitions[id] != nil }

    /// A transition as it stands at an instant.
    ///
    /// - Throws: `ArbiterError.unknownTransition`.
    package func view(of id: TransitionID, at now: Instant) throws(ArbiterError) -> TransitionView {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        return view(of: transition, at: now)
    }

    func view(of transition: Transition, at now: Instant) -> TransitionView {
        switch transition.phase {
        case .queued:
            let scene = durable.scenes[transition.request.scene]
            return TransitionView(
                transition: transition,
                leaseRemaining: nil,
                position: scene?.tickets.rank(of: transition.place),
                blockers: scene?.queue.blockers(of: transition.place, limit: Limits.blockersShown) ?? [],
                progress: nil
            )
        case .preparing, .running:
            let deadline = momentary.deadlines[.transition(transition.id)]
            let remaining = deadline.map { max(.zero, now.duration(to: $0)) } ?? transition.lease
            return TransitionView(
                transition: transition, leaseRemaining: remaining, position: nil, blockers: [],
                progress: momentary.attention[transition.id]?.progress)
        case .ended:
            return TransitionView(
                transition: transition, leaseRemaining: nil, position: nil, blockers: [], progress: nil)
        }
    }

    /// The newest transitions that fit, oldest first.
    package func list(_ filter: TransitionFilter, at now: Instant) -> [TransitionView] {
        var found: [TransitionView] = []
        for id in momentary.requested.reversed() {
            guard found.count < filter.limit else { break }
            guard let transition = durable.transitions[id], filter.fits(transition) else { continue }
            found.append(view(of: transition, at: now))
        }
        return found.reversed()
    }

    /// Every scene, by name.
    package func scenes() -> [SceneSummary] {
        durable.scenes
            .map { name, scene in summary(of: scene, named: name) }
            .sorted { $0.name.description < $1.name.description }
    }

    /// A scene with everything unfinished in it.
    ///
    /// - Throws: `ArbiterError.unknownScene`.
    package func scene(_ name: SceneName, at now: Instant) throws(ArbiterError) -> SceneView {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        let unfinished = scene.queue.unfinished.compactMap { durable.transitions[$0] }
        let running = unfinished.filter { $0.state != .queued }
        let queued = unfinished.filter { $0.state == .queued }
        return SceneView(
            summary: summary(of: scene, named: name),
            running: running.prefix(Limits.listedTransitions.upperBound).map { view(of: $0, at: now) },
            queue: queued.prefix(Limits.listedTransitions.upperBound).map { view(of: $0, at: now) },
            storyboard: scene.storyboard
        )
    }

    /// A scene as whoever follows it sees it: one that nobody has used yet is empty, and will go on from here.
    package func followedScene(_ name: SceneName, at now: Instant) -> SceneView {
        if let scene = try? scene(name, at: now) { return scene }
        let numbers = durable.forgotten
        return SceneView(
            summary: SceneSummary(
                name: name, running: 0, queued: 0, revision: numbers.revision, lastEvent: numbers.event),
            running: [], queue: [], storyboard: .empty)
    }

    /// What is declared about a scene, with the hierarchy as it is now, and its revision.
    ///
    /// - Throws: `ArbiterError.unknownScene`.
    package func storyboard(of name: SceneName) throws(ArbiterError) -> (Storyboard, Revision) {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        return (scene.storyboard, scene.numbers.revision)
    }

    /// The newest event of all scenes.
    package var lastEvent: EventNumber { durable.lastEvent }

    /// The newest event of every scene.
    package func lastEvents() -> [SceneName: EventNumber] { durable.scenes.mapValues(\.numbers.event) }

    private func summary(of scene: Scene, named name: SceneName) -> SceneSummary {
        SceneSummary(
            name: name, running: scene.queue.count - scene.tickets.count, queued: scene.tickets.count,
            revision: scene.numbers.revision, lastEvent: scene.numbers.event)
    }
}

/// Which transitions a list shows.
package struct TransitionFilter: Hashable, Sendable {
    package var scene: SceneName?
    package var state: TransitionState?
    package var client: ClientName?
    /// How many at most, within `Limits.listedTransitions`.
    package var limit: Int

    package init(
        scene: SceneName? = nil, state: TransitionState? = nil, client: ClientName? = nil,
        limit: Int = Limits.defaultListedTransitions
    ) {
        self.scene = scene
        self.state = state
        self.client = client
        self.limit = limit
    }

    func fits(_ transition: Transition) -> Bool {
        (scene.map { $0 == transition.request.scene } ?? true)
            && (state.map { $0 == transition.state } ?? true)
            && (client.map { $0 == transition.request.client } ?? true)
    }
}

/// A scene by its counts.
package struct SceneSummary: Hashable, Sendable {
    package let name: SceneName
    package let running: Int
    package let queued: Int
    package let revision: Revision
    package let lastEvent: EventNumber
}

/// A scene with what is unfinished in it, the first `Limits.listedTransitions` of each.
package struct SceneView: Hashable, Sendable {
    package let summary: SceneSummary
    /// In request order.
    package let running: [TransitionView]
    /// In request order.
    package let queue: [TransitionView]
    /// What is declared about it, with the hierarchy as it is now.
    package let storyboard: Storyboard
}
