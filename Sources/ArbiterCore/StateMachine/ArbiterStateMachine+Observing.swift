// Waiting for a condition on a controller, without a lock.

/// The answer to an await of a state.
package enum ObservingAnswer<View: Sendable>: Sendable {
    case now(View)
    /// The request is parked; an effect will answer it.
    case parked
}

extension ArbiterStateMachine {
    /// A client asks whether a controller is so; with `park`, the await parks until it is, or its wait is over.
    ///
    /// - Parameters:
    ///   - condition: the condition, on a controller; neither that nor the scene need exist, and the scene is not created.
    ///   - name: the scene.
    ///   - session: the session that the request names; it lives while the await is parked.
    ///   - park: how the await parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: whether it holds, or that the await is parked.
    /// - Throws: `queueFull` if it would park, and as many wait for a state of the scene as may.
    package mutating func observe(
        _ condition: Expectation, of name: SceneName, session: Token? = nil, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> ObservingAnswer<ConditionView> {
        let view = conditionView(of: condition, in: name)
        guard let park, !momentary.isDraining, !view.holds else { return .now(view) }
        try checkMayWaitForState(of: name)
        let kept = attachAwait(to: [sessionID(of: session)], in: step)
        let storyboard = durable.scenes[name]?.storyboard ?? .empty
        momentary.observing.add(
            park.waiter, Observer(scene: name, condition: condition, session: kept), in: storyboard.hierarchy)
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        return .parked
    }

    private func conditionView(of condition: Expectation, in name: SceneName) -> ConditionView {
        let storyboard = durable.scenes[name]?.storyboard ?? .empty
        let revision = summary(of: name).revision
        var controller: ControllerView?
        if case .controller(let id, _, _) = condition { controller = (try? self.controller(id, of: name)) ?? nil }
        return ConditionView(
            holds: storyboard.failure(of: condition, at: revision) == nil, controller: controller, revision: revision)
    }

    /// Answers the awaits of a scene whose condition holds because of a change.
    mutating func wakeObservers(of name: SceneName, _ change: TouchedControllers, in step: inout Step) {
        guard momentary.observing.count(of: name) > 0 else { return }
        let storyboard = durable.scenes[name]?.storyboard ?? .empty
        let reached = momentary.observing.reached(by: change, in: name, storyboard, at: summary(of: name).revision)
        for waiter in reached { answerObserver(waiter, in: &step) }
    }

    /// Answers a parked await with its condition as it is.
    ///
    /// - Returns: whether the waiter awaits a condition.
    @discardableResult
    mutating func answerObserver(_ waiter: WaiterID, in step: inout Step) -> Bool {
        guard let observer = unparkObserver(waiter, in: &step) else { return false }
        step.add(.wakeForState(waiter, .condition(conditionView(of: observer.condition, in: observer.scene))))
        return true
    }

    /// Ends a parked await whose connection has closed: no answer follows.
    ///
    /// - Returns: whether the waiter awaits a condition.
    mutating func leaveObserver(_ waiter: WaiterID, _ client: ClientPresence, in step: inout Step) -> Bool {
        unparkObserver(waiter, client, in: &step) != nil
    }

    private mutating func unparkObserver(
        _ waiter: WaiterID, _ client: ClientPresence = .present, in step: inout Step
    ) -> Observer? {
        guard let observer = momentary.observing.remove(waiter) else { return nil }
        momentary.deadlines.cancel(.waiter(waiter))
        if let session = observer.session { detach(session, client: client, in: &step) }
        return observer
    }

    /// Describes an await that should have been answered, or that never will be.
    func brokenObserving() -> String? {
        for (waiter, observer) in momentary.observing.observers {
            guard !conditionView(of: observer.condition, in: observer.scene).holds else {
                return "\(waiter) waits for what holds"
            }
            if momentary.deadlines[.waiter(waiter)] == nil { return "\(waiter) waits for ever" }
        }
        return nil
    }
}
