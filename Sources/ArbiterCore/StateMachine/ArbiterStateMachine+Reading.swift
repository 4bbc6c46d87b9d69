internal import DequeModule

// Questions that change nothing.

extension ArbiterStateMachine {
    /// Whether a remembered transition has the id; then it must not be drawn again.
    package func isInUse(_ id: TransitionID) -> Bool { durable.transitions.contains(id) }

    /// A transition at an instant.
    ///
    /// - Throws: `ArbiterError.unknownTransition`.
    package func view(of id: TransitionID, at now: Instant) throws(ArbiterError) -> TransitionView {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        return view(of: transition, at: now)
    }

    /// The view of a transition, which may be forgotten already.
    func view(of transition: Transition, at now: Instant) -> TransitionView {
        switch transition.phase {
        case .queued:
            let scene = transition.request.scene
            guard !transition.isSetAside else {
                return TransitionView(
                    transition: transition, remaining: remaining(of: transition, at: now),
                    progress: momentary.attention[transition.id]?.progress)
            }
            let blockers =
                durable.scenes[scene]?.queue.blockers(of: transition.place, limit: Limits.blockersShown) ?? []
            return TransitionView(
                transition: transition,
                remaining: remaining(of: transition, at: now),
                position: durable.scenes[scene]?.tickets.rank(of: transition.place),
                blockers: blockers,
                isBlockedBySelf: areOwn(blockers, of: transition.session) {
                    durable.scenes[scene]?.queue.allBlockers(of: transition.place, limit: Limits.blockersLookedAt)
                },
                locks: durable.scenes[scene]?.queue.locks(of: transition.place),
                progress: momentary.attention[transition.id]?.progress
            )
        case .preparing, .running:
            let scene = transition.request.scene
            return TransitionView(
                transition: transition, remaining: remaining(of: transition, at: now),
                locks: transition.scope == .scene ? nil : durable.scenes[scene]?.queue.locks(of: transition.place),
                // Asked so, the queue is not copied.
                waiting: durable.scenes[scene]?.queue.entries.count == 1
                    ? 0 : durable.scenes[scene]?.queue.waiting(for: transition.place, limit: Limits.waitingCounted),
                progress: momentary.attention[transition.id]?.progress)
        case .ended:
            return TransitionView(transition: transition)
        }
    }

    /// Whether there are blockers, and all are bound to a session; they are looked at only if some of them are.
    func areOwn(_ some: [TransitionID], of session: SessionID?, _ all: () -> [TransitionID]?) -> Bool {
        guard let session, !some.isEmpty else { return false }
        func isOwn(_ id: TransitionID) -> Bool { durable.transitions[id]?.session == session }
        return some.allSatisfy(isOwn) && all()?.allSatisfy(isOwn) == true
    }

    /// What is left of a transition's times.
    private func remaining(of transition: Transition, at now: Instant) -> TransitionView.Remaining {
        func left(until deadline: Instant?) -> Duration? { deadline.map { max(.zero, now.duration(to: $0)) } }
        let deadline = momentary.deadlines[.transition(transition.id)]
        var remaining = TransitionView.Remaining()
        switch transition.phase {
        case .queued:
            remaining.ticket = left(until: momentary.attention[transition.id]?.silence)
            // Without any deadline, there is no limit on the time in the queue either.
            remaining.queue = deadline == nil ? nil : left(until: queueTimeout(of: transition))
            remaining.resumption = remainingHold(at: now)
        case .preparing, .running:
            // The lease ends with the longest hold, if that is earlier.
            let lease = left(until: deadline) ?? transition.lease
            if !transition.hasRememberedEnd {
                remaining.lease = min(lease, left(until: momentary.deadlines[.hold(transition.id)]) ?? lease)
            }
            remaining.ready = left(until: momentary.deadlines[.ready(transition.id)])
            if transition.interruption != nil {
                remaining.grace = left(until: momentary.deadlines[.interruption(transition.id)])
            }
        case .ended:
            break
        }
        return remaining
    }

    /// The newest transitions that match the filter, oldest first.
    package func list(_ filter: TransitionFilter, at now: Instant) -> [TransitionView] {
        var found: [TransitionView] = []
        for requested in momentary.requested(before: filter.before).reversed() {
            guard found.count < filter.limit else { break }
            guard let transition = durable.transitions[requested.id], transition.order == requested.order,
                filter.fits(transition)
            else { continue }
            found.append(view(of: transition, at: now))
        }
        return found.reversed()
    }

    /// The last transitions that fit the filter, in the order of when they were requested; `before` of the filter is not used.
    ///
    /// - Parameters:
    ///   - filter: which ones, and how many at most.
    ///   - time: only those before it.
    ///   - now: the present.
    /// - Returns: the transitions, the oldest one first.
    package func list(
        _ filter: TransitionFilter, requestedBefore time: RequestTime?, at now: Instant
    ) -> [TransitionView] {
        var found: [Transition] = []
        for requested in momentary.requested(before: nil) {
            guard let transition = durable.transitions[requested.id], transition.order == requested.order,
                filter.fits(transition), time.map({ transition.requestTime < $0 }) ?? true
            else { continue }
            found.append(transition)
        }
        return found.sorted { $0.requestTime < $1.requestTime }.suffix(filter.limit).map { view(of: $0, at: now) }
    }

    /// The selected scenes in the order of their names, those after `name` if it is given, at most `limit`.
    package func scenes(
        _ selection: SceneSelection = .all, after name: SceneName? = nil, limit: Int = .max
    ) -> [SceneSummary] {
        durable.index.sceneNames.behind(name).lazy.filter { selection.contains($0) }.prefix(limit)
            .compactMap { name in durable.scenes[name].map { summary(of: $0, named: name) } }
    }

    /// A scene with its first unfinished transitions.
    ///
    /// - Throws: `ArbiterError.unknownScene`.
    package func scene(_ name: SceneName, at now: Instant) throws(ArbiterError) -> SceneView {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        func views(at places: some Sequence<LinePlace>) -> [TransitionView] {
            places.compactMap { scene.queue[$0] }.compactMap { durable.transitions[$0.id] }
                .map { view(of: $0, at: now) }
        }
        let line = scene.tickets.prefix(Limits.transitionsOfScene, before: nil)
        let aside = scene.aside.inOrder.prefix(Limits.transitionsOfScene - line.count)
        return SceneView(
            summary: summary(of: scene, named: name),
            running: views(at: scene.queue.granted.sorted().prefix(Limits.transitionsOfScene)),
            queue: views(at: line) + aside.compactMap { durable.transitions[$0] }.map { view(of: $0, at: now) },
            guards: scene.guards, storyboard: scene.storyboard
        )
    }

    /// A scene for a client that follows its events; if it does not exist, an empty one with the numbers it will have.
    package func followedScene(_ name: SceneName, at now: Instant) -> SceneView {
        if let scene = try? scene(name, at: now) { return scene }
        return SceneView(summary: summary(of: name), running: [], queue: [], guards: [], storyboard: .empty)
    }

    /// The storyboard of a scene with the current hierarchy, and its version.
    ///
    /// - Throws: `unknownScene`; `undeclared` if no client has declared the scene.
    package func storyboard(of name: SceneName) throws(ArbiterError) -> (Storyboard, StoryboardVersion) {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        guard let version = scene.version else { throw .undeclared(name) }
        return (scene.storyboard, version)
    }

    /// The current hierarchy of a scene, declared or not, and its revision; `nil` if the scene does not exist.
    package func hierarchy(of name: SceneName) -> (Hierarchy, Revision)? {
        durable.scenes[name].map { ($0.storyboard.hierarchy, $0.numbers.revision) }
    }

    /// The number of the newest event over all scenes.
    package var lastEvent: EventNumber { durable.lastEvent }

    /// The number of the newest event of each scene.
    package func lastEvents() -> [SceneName: EventNumber] {
        durable.scenes.reduce(into: [:]) { $0[$1.key] = $1.value.numbers.event }
    }

    /// A scene in brief; if it does not exist, with the numbers that it will have.
    func summary(of name: SceneName) -> SceneSummary {
        if let scene = durable.scenes[name] { return summary(of: scene, named: name) }
        let numbers = durable.forgotten
        return SceneSummary(
            name: name, running: 0, queued: 0, revision: numbers.revision, lastEvent: numbers.event)
    }

    private func summary(of scene: Scene, named name: SceneName) -> SceneSummary {
        SceneSummary(
            name: name, running: scene.queue.count - scene.tickets.count,
            queued: scene.tickets.count + scene.aside.tickets.count,
            revision: scene.numbers.revision, lastEvent: scene.numbers.event)
    }
}

extension MomentaryState {
    /// The entries before an order, found by bisection; all entries without an order.
    fileprivate func requested(before order: RequestOrder?) -> Deque<Requested>.SubSequence {
        guard let order else { return requested[...] }
        var (low, high) = (0, requested.count)
        while low < high {
            let middle = (low + high) / 2
            if requested[middle].order < order { low = middle + 1 } else { high = middle }
        }
        return requested[..<low]
    }
}

/// The conditions and the length of a list of transitions.
package struct TransitionFilter: Hashable, Sendable {
    package var scene: SceneName?
    package var state: TransitionState?
    package var client: ClientName?
    /// Only transitions in these scenes.
    package var scenes: SceneSelection
    /// Only transitions requested before this order.
    package var before: RequestOrder?
    /// The most transitions in the list.
    package var limit: Int

    package init(
        scene: SceneName? = nil, state: TransitionState? = nil, client: ClientName? = nil,
        scenes: SceneSelection = .all, before: RequestOrder? = nil, limit: Int = Limits.defaultListed
    ) {
        self.scene = scene
        self.state = state
        self.client = client
        self.scenes = scenes
        self.before = before
        self.limit = limit
    }

    /// Whether a transition matches `scene`, `state` and `client`; `before` is not checked.
    func fits(_ transition: Transition) -> Bool {
        (scene.map { $0 == transition.request.scene } ?? true)
            && (state.map { $0 == transition.state } ?? true)
            && (client.map { $0 == transition.request.client } ?? true)
            && scenes.contains(transition.request.scene)
    }
}

/// The place of a transition in a list of several shards: when it was requested, and then its id.
package struct RequestTime: Hashable, Comparable, Sendable {
    package let timestamp: Timestamp
    package let id: TransitionID

    package init(timestamp: Timestamp, id: TransitionID) {
        (self.timestamp, self.id) = (timestamp, id)
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.timestamp.milliseconds, one.id.rawValue) < (other.timestamp.milliseconds, other.id.rawValue)
    }
}

extension Transition {
    /// Its place in a list of several shards.
    package var requestTime: RequestTime { RequestTime(timestamp: requestedAt.timestamp, id: id) }
}

/// A scene with counts instead of transitions.
package struct SceneSummary: Hashable, Sendable {
    package let name: SceneName
    /// The number of granted transitions, preparing or running.
    package let running: Int
    package let queued: Int
    package let revision: Revision
    package let lastEvent: EventNumber
}

/// A scene with its first unfinished transitions, at most `Limits.transitionsOfScene` granted and as many queued.
package struct SceneView: Hashable, Sendable {
    package let summary: SceneSummary
    /// The granted transitions, preparing or running, in the order of their places.
    package let running: [TransitionView]
    /// The transitions in the line, in the order of their places, and then those that are set aside.
    package let queue: [TransitionView]
    /// Who is asked before which controllers are removed, in the order in which they were set.
    package let guards: [Guard]
    /// What is declared about the scene, with the current hierarchy.
    package let storyboard: Storyboard
}
