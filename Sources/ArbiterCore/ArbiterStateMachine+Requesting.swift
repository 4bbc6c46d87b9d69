// start and serialize: how a transition comes to be.

extension ArbiterStateMachine {
    mutating func start(
        _ request: TransitionRequest, id: TransitionID, token: Token, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        if let earlier = try repeated(request, isSerialized: false, at: step.now) {
            attend(earlier, at: step.now)
            return .transition(try view(of: earlier, at: step.now))
        }
        guard !durable.isHoldingGrants else { throw .holdingGrants(remaining: holdRemaining(at: step.now)) }
        if let scene = durable.scenes[request.scene], !scene.queue.isFree(request.scope.paths) {
            let blockers = scene.queue.blockers(of: request.scope.paths, limit: Limits.blockersShown)
            throw .busy(busy(blockers, at: step.now))
        }
        try admit(request)
        enter(request, id: id, token: token, isSerialized: false, in: &step)
        grantWhatIsFree(in: request.scene, asker: id, step: &step)
        return .transition(try view(of: id, at: step.now))
    }

    mutating func serialize(
        _ request: TransitionRequest, id: TransitionID, token: Token, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        if let earlier = try repeated(request, isSerialized: true, at: step.now) {
            return try answerGrant(of: earlier, park: park, in: &step)
        }
        try admit(request)
        if let scene = durable.scenes[request.scene], scene.tickets.count >= limits.queuedPerScene,
            !scene.queue.isFree(request.scope.paths)
        {
            throw .queueFull(limit: limits.queuedPerScene)
        }
        enter(request, id: id, token: token, isSerialized: true, in: &step)
        grantWhatIsFree(in: request.scene, asker: id, step: &step)
        return try answerGrant(of: id, park: park, in: &step)
    }

    /// Answers a serialize: at the grant, where it may park.
    private mutating func answerGrant(
        of id: TransitionID, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        if let park, !momentary.isDraining, transition(id)?.hasReached(.granted) == false {
            self.park(park, on: id, until: .granted, isOwner: true, in: &step)
            return .parked
        }
        attend(id, at: step.now)
        return .transition(try view(of: id, at: step.now))
    }

    /// The transition that the same request with the same key has made before, if one has.
    private func repeated(
        _ request: TransitionRequest, isSerialized: Bool, at now: Instant
    ) throws(ArbiterError) -> TransitionID? {
        guard let key = request.idempotencyKey, let id = durable.keys[key], let earlier = durable.transitions[id],
            now < earlier.requestedAt.instant.advanced(by: Limits.idempotency)
        else { return nil }
        guard earlier.request == request, earlier.isSerialized == isSerialized else { throw .keyReused(key) }
        return id
    }

    private func busy(_ blockers: [TransitionID], at now: Instant) -> Busy {
        guard let first = blockers.first, let holder = durable.transitions[first] else {
            preconditionFailure("a scope is taken by nobody: \(blockers)")
        }
        return Busy(holder: view(of: holder, at: now), blockers: blockers)
    }

    private mutating func admit(_ request: TransitionRequest) throws(ArbiterError) {
        guard durable.unfinishedCount < limits.unfinished else {
            throw .tooManyTransitions(limit: limits.unfinished)
        }
        guard durable.scenes[request.scene] == nil, durable.scenes.count >= limits.scenes else { return }
        guard durable.scenes.values.contains(where: \.queue.isEmpty) else { throw .tooManyScenes(limit: limits.scenes) }
    }

    /// Puts a new transition at the end of its scene's queue.
    private mutating func enter(
        _ request: TransitionRequest, id: TransitionID, token: Token, isSerialized: Bool, in step: inout Step
    ) {
        step.isDurable = true
        let order = RequestOrder(rawValue: durable.lastOrder.rawValue + 1)
        durable.lastOrder = order
        let transition = Transition(
            id: id, token: token, order: order, isSerialized: isSerialized, request: request,
            requestedAt: step.moment, phase: .queued(Transition.Queued())
        )
        let previous = durable.transitions.updateValue(transition, forKey: id)
        precondition(previous == nil, "\(id) is in use")
        if let key = request.idempotencyKey { durable.keys[key] = id }
        makeRoom(for: request.scene)
        durable.scenes[request.scene, default: Scene(lastOrder: order)].enter(transition)
        momentary.attention[id] = Attention()
        remember(id)
    }

    /// Forgets the idle scene that was used longest ago, where a new one would be one too many.
    private mutating func makeRoom(for name: SceneName) {
        guard durable.scenes[name] == nil, durable.scenes.count >= limits.scenes else { return }
        let idle = durable.scenes.filter(\.value.queue.isEmpty).min { $0.value.lastOrder < $1.value.lastOrder }
        if let idle { durable.scenes.removeValue(forKey: idle.key) }
    }
}

extension Scene {
    fileprivate mutating func enter(_ transition: Transition) {
        lastOrder = transition.order
        queue.append(transition)
        tickets.append(transition.order)
    }
}
