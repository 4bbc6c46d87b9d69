// Waiting for a scene, or a part of it, to be idle: nothing in it is unfinished, and has not been for some time.

/// How a scene, or a part of it, is for a client that waits for it to be idle.
package struct IdleView: Hashable, Sendable {
    /// A scene that does not exist has the numbers with which it would be created.
    package let summary: SceneSummary
    /// The controller below which nothing is to be unfinished; `nil` for the whole scene.
    package let part: ControllerID?
    /// For how long the client wants it to have been idle.
    package let quiet: Duration
    /// How long it has been idle, counted up to the longest `quiet`; `nil` while something is unfinished.
    ///
    /// A part is looked at from the await on.
    package let idleFor: Duration?
    /// Who keeps it busy, running ones first, at most `Limits.blockersShown`.
    package let busy: [Busy]

    /// Whether it is as the client wants it.
    package var isIdle: Bool { idleFor.map { quiet <= $0 } ?? false }

    /// An unfinished transition that keeps it busy.
    package struct Busy: Hashable, Sendable {
        package let id: TransitionID
        package let client: ClientName?
        package let state: TransitionState
    }
}

extension ArbiterStateMachine {
    /// A client asks whether a scene, or a part of it, is idle; with `park`, the await parks until it is, or its wait is over.
    ///
    /// - Parameters:
    ///   - name: the scene; one that does not exist is idle, and is not created.
    ///   - part: the controller below which nothing is to be unfinished, which need not exist; without it, the whole scene counts.
    ///   - quiet: for how long it must have been idle, within `Limits.quietDurations`.
    ///   - session: the session that the request names; it lives while the await is parked.
    ///   - park: how the await parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: how it is, or that the await is parked.
    /// - Throws: `queueFull` if it would park for a part, and as many wait for a state of the scene as may.
    package mutating func awaitIdle(
        _ name: SceneName, below part: ControllerID? = nil, for quiet: Duration, session: Token? = nil, park: Park?,
        in step: inout Step
    ) throws(ArbiterError) -> ObservingAnswer<IdleView> {
        let view = idleView(of: name, below: part, for: quiet, since: step.now, at: step.now)
        guard let park, !momentary.isDraining, !view.isIdle else { return .now(view) }
        if part != nil { try checkMayWaitForState(of: name) }
        let kept = attachAwait(to: [sessionID(of: session)], in: step)
        momentary.idling.add(
            park.waiter, IdleWaiter(scene: name, part: part, quiet: quiet, since: step.now, session: kept))
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        if part == nil {
            scheduleQuiet(of: name)
        } else {
            scheduleQuiet(of: park.waiter, aside: footprintsAside(in: name))
        }
        return .parked
    }

    /// How it is at an instant; a part is looked at since another one.
    private func idleView(
        of name: SceneName, below part: ControllerID?, for quiet: Duration, since: Instant, at now: Instant
    ) -> IdleView {
        let busy = busy(in: name, below: part, limit: Limits.blockersShown)
        let idleFor = (part == nil ? momentary.idling.since(name) : since).duration(to: now)
        return IdleView(
            summary: summary(of: name), part: part, quiet: quiet,
            idleFor: busy.isEmpty ? min(idleFor, Limits.quietDurations.upperBound) : nil,
            busy: busy.compactMap { durable.transitions[$0] }.map {
                IdleView.Busy(id: $0.id, client: $0.request.client, state: $0.state)
            })
    }

    /// The unfinished transitions that conflict with a part of a scene, or all of them: granted ones first, then those in the line,
    /// then those that are set aside.
    private func busy(in name: SceneName, below part: ControllerID?, limit: Int) -> [TransitionID] {
        guard let scene = durable.scenes[name] else { return [] }
        let path = part.map { scene.path(to: $0) } ?? []
        let standing = scene.queue.blockers(of: Claim(part, at: path), at: .end, limit: limit)
        guard !scene.aside.isEmpty, standing.count < limit else { return standing }
        let aside = scene.aside.inOrder.lazy.compactMap { durable.transitions[$0] }.filter { ticket in
            part.map { scene.footprint(of: ticket).meets($0, at: path) } ?? true
        }
        return standing + aside.map(\.id).prefix(limit - standing.count)
    }

    /// What the tickets of a scene that are set aside would lock and bring in.
    private func footprintsAside(in name: SceneName) -> [Footprint] {
        guard let scene = durable.scenes[name], !scene.aside.isEmpty else { return [] }
        return scene.aside.tickets.values.compactMap { durable.transitions[$0] }.map { scene.footprint(of: $0) }
    }

    /// Whether an unfinished transition conflicts with a part of a scene.
    private func isBusy(_ part: ControllerID, of name: SceneName, aside: [Footprint]) -> Bool {
        guard let scene = durable.scenes[name] else { return false }
        let path = scene.path(to: part)
        return !scene.queue.isFree(Claim(part, at: path), at: .end) || aside.contains { $0.meets(part, at: path) }
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

    // MARK: Changes of a part

    /// The awaits of parts with which a transition conflicts that is about to end.
    func partsKeptBusy(by transition: Transition) -> [WaiterID] {
        let name = transition.request.scene
        let parts = momentary.idling.parts(of: name)
        guard !parts.isEmpty, let scene = durable.scenes[name] else { return [] }
        let footprint = scene.footprint(of: transition)
        return parts.filter { footprint.meets($0.part, at: scene.path(to: $0.part)) }.map(\.waiter)
    }

    /// Counts the time for which parts of a scene are idle anew.
    mutating func beginIdling(_ waiters: [WaiterID], of name: SceneName, at now: Instant) {
        guard !waiters.isEmpty else { return }
        let aside = footprintsAside(in: name)
        for waiter in waiters {
            momentary.idling.begin(waiter, at: now)
            scheduleQuiet(of: waiter, aside: aside)
        }
    }

    /// Looks anew at whether the parts of a scene are idle: without an end, transitions may lock something else.
    mutating func scheduleQuietParts(of name: SceneName) {
        let parts = momentary.idling.parts(of: name)
        guard !parts.isEmpty else { return }
        let aside = footprintsAside(in: name)
        for (waiter, _) in parts { scheduleQuiet(of: waiter, aside: aside) }
    }

    /// Sets the deadline for the await of a part, if the part is idle now.
    private mutating func scheduleQuiet(of waiter: WaiterID, aside: [Footprint]) {
        guard let waiting = momentary.idling.waiters[waiter], let part = waiting.part,
            !isBusy(part, of: waiting.scene, aside: aside)
        else { return momentary.deadlines.cancel(.quietPart(waiter)) }
        momentary.deadlines.schedule(.quietPart(waiter), at: waiting.since.advanced(by: waiting.quiet))
    }

    /// Answers the await of a part whose time of quiet is over, unless something has begun meanwhile.
    mutating func wakeIdler(ofPart waiter: WaiterID, in step: inout Step) {
        guard let waiting = momentary.idling.waiters[waiter], let part = waiting.part,
            !isBusy(part, of: waiting.scene, aside: footprintsAside(in: waiting.scene))
        else { return momentary.deadlines.cancel(.quietPart(waiter)) }
        answerIdler(waiter, in: &step)
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
        let view = idleView(
            of: waiting.scene, below: waiting.part, for: waiting.quiet, since: waiting.since, at: step.now)
        step.add(.wakeForState(waiter, .idleness(view)))
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
        if waiting.part == nil {
            scheduleQuiet(of: waiting.scene)
        } else {
            momentary.deadlines.cancel(.quietPart(waiter))
        }
        if let session = waiting.session { detach(session, client: client, in: &step) }
        return waiting
    }

    /// Describes an await that should have been answered, or that would be missed.
    func brokenIdling() -> String? {
        for (waiter, waiting) in momentary.idling.waiters {
            if momentary.deadlines[.waiter(waiter)] == nil { return "\(waiter) waits for ever" }
            guard waiting.part == nil else {
                let due = momentary.deadlines[.quietPart(waiter)]
                let expected = waiting.since.advanced(by: waiting.quiet)
                if busy(in: waiting.scene, below: waiting.part, limit: 1).isEmpty, due != expected {
                    return "\(waiter) waits for quiet at \(expected), and is looked at at \(String(describing: due))"
                }
                continue
            }
            guard let first = momentary.idling.first(of: waiting.scene), first.quiet <= waiting.quiet else {
                return "\(waiter) stands in no line"
            }
            let due = momentary.deadlines[.quiet(waiting.scene)]
            let expected = momentary.idling.since(waiting.scene).advanced(by: first.quiet)
            guard due == (isIdle(waiting.scene) ? expected : nil) else {
                return "\(waiting.scene) is to be quiet at \(expected), and is looked at at \(String(describing: due))"
            }
        }
        return nil
    }
}

/// What a transition locks and brings in, for the question whether it conflicts with a part.
private struct Footprint {
    let paths: [ScopePath]
    let brought: Set<ControllerID>

    /// Whether something at, above or below a controller is locked, or one with its id brought in.
    func meets(_ part: ControllerID, at path: ScopePath) -> Bool {
        brought.contains(part) || paths.contains { $0.starts(with: path) || path.starts(with: $0) }
    }
}

extension Claim {
    /// What conflicts with a part of a scene; without a part, with all of it.
    fileprivate init(_ part: ControllerID?, at path: ScopePath) {
        self.init(paths: [path], arrivals: ScopeQueue.Arrivals(named: part.map { [$0] } ?? []))
    }
}

extension Scene {
    fileprivate func footprint(of transition: Transition) -> Footprint {
        let request = transition.request
        return Footprint(
            paths: storyboard.paths(of: transition.scope, request.operationOutline),
            brought: request.operation.map { storyboard.broughtIDs(by: $0) } ?? [])
    }

    /// Where a controller is, or where it would be looked for.
    fileprivate func path(to part: ControllerID) -> ScopePath { storyboard.hierarchy.path(to: part) ?? [part] }
}
