// Waiting for a scene to be idle: nothing in it is unfinished, and has not been for some time.

/// How a scene is, for a client that waits for it to be idle.
package struct IdleView: Hashable, Sendable {
    /// A scene that does not exist has the numbers with which it would be created.
    package let summary: SceneSummary
    /// For how long the client wants it to have been idle.
    package let quiet: Duration
    /// How long it has been idle, counted up to the longest `quiet`; `nil` while something is unfinished.
    package let idleFor: Duration?

    /// Whether it is as the client wants it.
    package var isIdle: Bool { idleFor.map { quiet <= $0 } ?? false }
}

extension ArbiterStateMachine {
    /// A client asks whether a scene is idle; with `park`, the await parks until it is, or its wait is over.
    ///
    /// - Parameters:
    ///   - name: the scene; one that does not exist is idle, and is not created.
    ///   - quiet: for how long it must have been idle, within `Limits.quietDurations`.
    ///   - session: the session that the request names; it lives while the await is parked.
    ///   - park: how the await parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: how the scene is, or that the await is parked.
    package mutating func awaitIdle(
        _ name: SceneName, for quiet: Duration, session: Token? = nil, park: Park?, in step: inout Step
    ) -> ObservingAnswer<IdleView> {
        let view = idleView(of: name, for: quiet, at: step.now)
        guard let park, !momentary.isDraining, !view.isIdle else { return .now(view) }
        let kept = attachAwait(to: [sessionID(of: session)], in: step)
        momentary.idling.add(park.waiter, IdleWaiter(scene: name, quiet: quiet, session: kept))
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        scheduleQuiet(of: name)
        return .parked
    }

    private func idleView(of name: SceneName, for quiet: Duration, at now: Instant) -> IdleView {
        let idleFor = momentary.idling.since(name).duration(to: now)
        return IdleView(
            summary: summary(of: name), quiet: quiet,
            idleFor: isIdle(name) ? min(idleFor, Limits.quietDurations.upperBound) : nil)
    }

    private func isIdle(_ name: SceneName) -> Bool {
        (durable.scenes[name]?.queue.isEmpty ?? true) && (durable.scenes[name]?.aside.isEmpty ?? true)
    }

    // MARK: Changes of a scene

    /// Counts the time for which a scene is idle anew, if it is.
    mutating func beginIdling(_ name: SceneName, at now: Instant) {
        guard isIdle(name) else { return }
        momentary.idling.begin(name, at: now)
        scheduleQuiet(of: name)
    }

    /// A transition was requested: nobody is answered until the scene is idle again.
    mutating func stopIdling(_ name: SceneName) {
        momentary.deadlines.cancel(.quiet(name))
    }

    /// A scene no longer exists; the time for which it has been idle is still known.
    mutating func noteGone(_ name: SceneName) {
        if let first = momentary.idling.note(gone: name), !durable.scenes.contains(first.scene) {
            momentary.idling.drop(first)
        }
    }

    /// Sets the deadline for the first await that will be answered if the scene stays idle.
    ///
    /// That await is answered when the deadline is reached, and not before, also if it is reached already: within a step
    /// a scene may be without a transition for a moment.
    private mutating func scheduleQuiet(of name: SceneName) {
        guard isIdle(name), let first = momentary.idling.first(of: name) else {
            return momentary.deadlines.cancel(.quiet(name))
        }
        momentary.deadlines.schedule(.quiet(name), at: momentary.idling.since(name).advanced(by: first.quiet))
    }

    // MARK: Answers

    /// Answers the awaits of a scene that has been idle for long enough, as many as the portion of the turn allows.
    mutating func wakeIdlers(of name: SceneName, in step: inout Step) {
        let idleFor = momentary.idling.since(name).duration(to: step.now)
        while step.portion > 0, let first = momentary.idling.first(of: name), first.quiet <= idleFor {
            answerIdler(first.waiter, in: &step)
            step.spend(1)
        }
        scheduleQuiet(of: name)
    }

    /// Answers a parked await with its scene as it is.
    ///
    /// - Returns: whether the waiter awaits an idle scene.
    @discardableResult
    mutating func answerIdler(_ waiter: WaiterID, in step: inout Step) -> Bool {
        guard let waiting = unparkIdler(waiter, in: &step) else { return false }
        step.add(.wakeForState(waiter, .idleness(idleView(of: waiting.scene, for: waiting.quiet, at: step.now))))
        return true
    }

    /// Ends a parked await whose connection has closed: no answer follows.
    ///
    /// - Returns: whether the waiter awaits an idle scene.
    mutating func leaveIdler(_ waiter: WaiterID, _ client: ClientPresence, in step: inout Step) -> Bool {
        unparkIdler(waiter, client, in: &step) != nil
    }

    private mutating func unparkIdler(
        _ waiter: WaiterID, _ client: ClientPresence = .present, in step: inout Step
    ) -> IdleWaiter? {
        guard let waiting = momentary.idling.remove(waiter) else { return nil }
        momentary.deadlines.cancel(.waiter(waiter))
        scheduleQuiet(of: waiting.scene)
        if let session = waiting.session { detach(session, client: client, in: &step) }
        return waiting
    }

    /// Describes an await that should have been answered, or that would be missed.
    func brokenIdling() -> String? {
        for (waiter, waiting) in momentary.idling.waiters {
            guard let first = momentary.idling.first(of: waiting.scene), first.quiet <= waiting.quiet else {
                return "\(waiter) stands in no line"
            }
            let due = momentary.deadlines[.quiet(waiting.scene)]
            let expected = momentary.idling.since(waiting.scene).advanced(by: first.quiet)
            guard due == (isIdle(waiting.scene) ? expected : nil) else {
                return "\(waiting.scene) is to be quiet at \(expected), and is looked at at \(String(describing: due))"
            }
            if momentary.deadlines[.waiter(waiter)] == nil { return "\(waiter) waits for ever" }
        }
        return nil
    }
}
