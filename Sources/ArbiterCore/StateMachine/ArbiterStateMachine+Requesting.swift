// start and serialize: the requests that create transitions.

extension ArbiterStateMachine {
    /// A client requests a transition that is granted now or refused.
    ///
    /// - Parameters:
    ///   - request: what the client requests.
    ///   - id: an id that is not in use, for the new transition.
    ///   - token: the token of its owner.
    ///   - step: the turn.
    /// - Returns: the transition.
    /// - Throws: `busy` and every other reason why it cannot be granted now; `idempotencyKeyReused`.
    package mutating func start(
        _ request: TransitionRequest, id: TransitionID, token: Token, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        if let unbounded = withoutIdleBound(request) {
            return try start(unbounded, id: id, token: token, in: &step)
        }
        if let session = request.session { hear(session, in: &step) }
        if let earlier = try repeated(request, isSerialized: false, at: step.now) {
            attend(earlier, at: step.now)
            return try view(of: earlier, at: step.now)
        }
        if let token = request.session { _ = try session(token) }
        try checkRules(request.neededRules)
        guard !durable.isHoldingGrants else { throw .recovering(remaining: holdRemaining(at: step.now)) }
        try checkStorage()
        if case .setAside(let unmet) = try checkIsPossible(request, at: step.now) { throw .expectationFailed(unmet) }
        try admit(request)
        step.keep(.start(request, id: id, token: token))
        enter(request, id: id, token: token, isSerialized: false, in: &step)
        settle(request.scene, asker: id, step: &step)
        // Read before pruning: a transition that ended at once is answered even if the limits have it forgotten.
        let view = try view(of: id, at: step.now)
        prune(at: step.now)
        return view
    }

    /// A client requests a transition that may wait in the queue; with `park`, the request parks until the grant.
    ///
    /// - Parameters:
    ///   - request: what the client requests.
    ///   - id: an id that is not in use, for the new transition.
    ///   - token: the token of its owner.
    ///   - park: how the request parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: the transition, or that the request is parked.
    /// - Throws: `queueFull` and every other reason why it cannot wait; `idempotencyKeyReused`.
    package mutating func serialize(
        _ request: TransitionRequest, id: TransitionID, token: Token, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> AwaitAnswer {
        if let unbounded = withoutIdleBound(request) {
            return try serialize(unbounded, id: id, token: token, park: park, in: &step)
        }
        if let session = request.session { hear(session, in: &step) }
        if let earlier = try repeated(request, isSerialized: true, at: step.now) {
            return try answerGrant(of: earlier, park: park, in: &step)
        }
        if let token = request.session { _ = try session(token) }
        try checkRules(request.neededRules)
        try checkStorage()
        try admit(request)
        let coalesced = coalesced(request)
        try checkMayWait(request, insteadOf: coalesced?.replaced ?? [])
        try checkMayWaitForState(request, insteadOf: coalesced)
        step.keep(.serialize(request, id: id, token: token))
        switch coalesced {
        case .takesOver(let older):
            for replaced in older { end(replaced.id, as: .superseded(by: id), in: &step) }
            enter(request, id: id, token: token, isSerialized: true, insteadOf: older.first, in: &step)
        case .givesWay(let older):
            enter(request, id: id, token: token, isSerialized: true, in: &step)
            end(id, as: .superseded(by: older.id), in: &step)
        case nil:
            enter(request, id: id, token: token, isSerialized: true, in: &step)
        }
        grantWhatIsFree(in: request.scene, asker: id, step: &step)
        if let transition = transition(id), transition.isQueued { beginToWait(transition, in: &step) }
        tellContention(in: request.scene, step: &step)
        let answer = try answerGrant(of: id, park: park, in: &step)
        prune(at: step.now)
        return answer
    }

    /// Tells that a new transition waits, unless it interrupts all that is in its way at once.
    private mutating func beginToWait(_ ticket: Transition, in step: inout Step) {
        guard ticket.request.interrupts, let planned = plannedInterruption(for: ticket) else {
            return tell(.queued, ticket, in: &step)
        }
        if !planned.isImmediate { tell(.queued, ticket, in: &step) }
        carryOut(planned, for: ticket, in: &step)
        grantWhatIsFree(in: ticket.request.scene, asker: ticket.id, step: &step)
    }

    /// Answers a `serialize`: now, or at the grant if it parks.
    private mutating func answerGrant(
        of id: TransitionID, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> AwaitAnswer {
        if let park, !momentary.isDraining, transition(id)?.hasReached(.granted) == false {
            self.park(park, on: id, until: .granted, isOwner: true, in: &step)
            return .parked
        }
        attend(id, at: step.now)
        return .now(try view(of: id, at: step.now))
    }

    /// A request without a highest priority, if it has one that does not matter to it; so its record does not name it.
    func withoutIdleBound(_ request: TransitionRequest) -> TransitionRequest? {
        guard let highest = request.highestPriority else { return nil }
        let standard = durable.scenes[request.scene]?.storyboard.defaults.priority ?? .standard
        if request.priority == nil, highest < standard { return nil }
        var unbounded = request
        unbounded.highestPriority = nil
        return unbounded
    }

    /// - Throws: `olderRules` if the rules in force are older than these.
    func checkRules(_ needed: @autoclosure () -> Rules) throws(ArbiterError) {
        guard durable.rules >= .newest || needed() <= durable.rules else { throw .olderRules }
    }

    /// The transition that an earlier request with the same idempotency key created, if any.
    ///
    /// - Throws: `idempotencyKeyReused` if that request was a different one.
    private func repeated(
        _ request: TransitionRequest, isSerialized: Bool, at now: Instant
    ) throws(ArbiterError) -> TransitionID? {
        guard let key = request.ownedKey, let id = durable.keys[key],
            let earlier = durable.transitions[id], now < earlier.requestedAt.instant.advanced(by: Limits.idempotency)
        else { return nil }
        guard earlier.asksTheSame(as: request), earlier.isSerialized == isSerialized else {
            throw .idempotencyKeyReused(key.key)
        }
        return id
    }

    // Scenes are large, and `scenes[name]?.method()` calls the method on a copy. So what most requests need is read from
    // the scene's members alone.

    /// - Returns: what happens to the transition now; it is not rejected.
    /// - Throws: the reason why the transition cannot be granted now.
    @discardableResult
    func checkIsPossible(_ request: TransitionRequest, at now: Instant) throws(ArbiterError) -> Turn {
        if request.isPlain, durable.scenes[request.scene]?.queue.isEmpty ?? true { return .granted(nil) }
        if let blockers = try durable.scenes[request.scene]?.checkedBlockers(of: request, under: durable.rules) {
            guard blockers.isEmpty else { throw .busy(busy(blockers, for: request, at: now)) }
        } else {
            try unusedScene.checkedScope(of: request, under: durable.rules)
        }
        return try possibleTurn(of: request)
    }

    /// What happens to a transition that nothing is in the way of; it is not rejected.
    ///
    /// - Throws: the reason why it would be rejected.
    func possibleTurn(of request: TransitionRequest) throws(ArbiterError) -> Turn {
        if request.isPlain { return .granted(nil) }
        let turn =
            durable.scenes[request.scene]?.turn(of: request, under: durable.rules)
            ?? unusedScene.turn(of: request, under: durable.rules)
        switch turn {
        case .rejected(let rejection): throw ArbiterError(rejection)
        case .setAside, .granted, .noop: return turn
        }
    }

    /// - Throws: the reason why the transition cannot wait.
    func checkMayWait(_ request: TransitionRequest, insteadOf replaced: [Transition]) throws(ArbiterError) {
        guard let count = durable.scenes[request.scene]?.tickets.count else {
            try unusedScene.checkedScope(of: request, under: durable.rules)
            return
        }
        try durable.scenes[request.scene]?.checkedScope(of: request, under: durable.rules)
        // One that is queued makes room, and one that prepares is in nobody's way any more.
        guard count >= limits.queuedPerScene, !replaced.contains(where: \.isQueued),
            let blockers = try durable.scenes[request.scene]?.checkedBlockers(of: request, under: durable.rules),
            !blockers.isEmpty
        else { return }
        if !replaced.isEmpty, let all = durable.scenes[request.scene]?.allBlockers(of: request) {
            guard !Set(all).isSubset(of: replaced.map(\.id)) else { return }
        }
        throw .queueFull(limit: limits.queuedPerScene)
    }

    /// Describes the blockers of a request, or of a change of the scene; there is at least one.
    func busy(_ blockers: [TransitionID], for request: TransitionRequest? = nil, at now: Instant) -> Busy {
        guard let first = blockers.first, let holder = durable.transitions[first] else {
            preconditionFailure("a scope is not free but has no known blocker: \(blockers)")
        }
        let session = sessionID(of: request?.session)
        let isBySelf = areOwn(blockers, of: session) {
            request.flatMap { durable.scenes[$0.scene]?.allBlockers(of: $0) }
        }
        return Busy(holder: view(of: holder, at: now), blockers: blockers, isBySelf: isBySelf)
    }

    /// - Throws: `leaseTooLong`, `tooManyTransitions`, `tooManyScenes`, `outOfRoom`, `shareUsedUp`.
    func admit(_ request: TransitionRequest) throws(ArbiterError) {
        let lease = request.lease ?? durable.scenes[request.scene]?.storyboard.defaults.lease ?? Limits.defaultLease
        try admit(lease, isDefault: request.lease == nil)
        guard durable.unfinishedCount < limits.unfinished else {
            throw .tooManyTransitions(limit: limits.unfinished)
        }
        if let limit = limits.unfinishedPerPrincipal, let principal = request.principal,
            durable.index.uses[principal]?.unfinished ?? 0 >= limit
        {
            throw .tooManyTransitions(limit: limit, of: principal)
        }
        try admitScene(request.scene)
        try admitBytes(of: request)
    }

    /// - Throws: `leaseTooLong`.
    func admit(_ lease: Duration, isDefault: Bool) throws(ArbiterError) {
        guard let limit = limits.longestLease, lease > limit else { return }
        throw .leaseTooLong(limit: limit, isDefault: isDefault)
    }

    /// - Throws: `tooManyScenes` if the scene is new, the limit is reached, and no scene can be forgotten.
    func admitScene(_ name: SceneName) throws(ArbiterError) {
        let limit = retention.scenes
        guard !durable.scenes.contains(name), durable.scenes.count >= limit else { return }
        guard durable.scenes.values.contains(where: \.isForgettable) else { throw .tooManyScenes(limit: limit) }
    }

    /// Creates a transition and queues it, behind all others of its priority unless it takes over the place of one.
    private mutating func enter(
        _ request: TransitionRequest, id: TransitionID, token: Token, isSerialized: Bool,
        insteadOf replaced: Transition? = nil, in step: inout Step
    ) {
        let order = RequestOrder(rawValue: durable.lastOrder.rawValue + 1)
        durable.lastOrder = order
        make(request.scene, at: order, in: &step)
        stopIdling(request.scene)
        let transition = newTransition(
            request, id: id, token: token, isSerialized: isSerialized,
            insteadOf: replaced, at: step.moment)
        precondition(!durable.transitions.contains(id), "\(id) is in use")
        durable.transitions[id] = transition
        durable.file(transition)
        durable.changeScene(request.scene) { $0.enter(transition) }
        durable.memory.queued += 1
        durable.memory.charge(transition.unfinishedByteCount, to: transition.session)
        durable.index.enter(transition)
        if let session = transition.session { durable.visit(request.scene, by: session) }
        momentary.attention[id] = Attention(heardAt: step.now)
        remember(id, at: durable.lastOrder)
    }

    func newTransition(
        _ request: TransitionRequest, id: TransitionID, token: Token, isSerialized: Bool,
        insteadOf replaced: Transition? = nil, at moment: Moment
    ) -> Transition {
        let place = replaced?.place.order ?? durable.lastOrder
        let terms = durable.scenes[request.scene]?.terms(of: request) ?? unusedScene.terms(of: request)
        return Transition(
            id: id, token: token, order: durable.lastOrder, place: LinePlace(place, terms.priority),
            isSerialized: isSerialized, request: request,
            scope: terms.scope, lease: terms.lease, requestedAt: moment, requestedRevision: terms.revision,
            session: sessionID(of: request.session), consent: terms.consent,
            fenceWhenAsked: fenceWhenAsked(request, insteadOf: replaced), participants: request.participants,
            gesture: nil, phase: .queued(Transition.Queued())
        )
    }
}

extension ArbiterStateMachine {
    /// The last fence that was given when a request was asked for; it counts as asked for when a ticket was that it replaces.
    ///
    /// - Returns: `nil` if nothing depends on it.
    private func fenceWhenAsked(_ request: TransitionRequest, insteadOf replaced: Transition?) -> Fence? {
        guard request.interrupts || durable.rules > .first && request.coalescing != nil else { return nil }
        return replaced?.fenceWhenAsked ?? durable.lastFence
    }
}

extension Scene {
    /// The unfinished transitions that are in the way of a new request, at most `Limits.blockersShown`.
    ///
    /// - Throws: as `checkedScope(of:under:)`.
    fileprivate func checkedBlockers(
        of request: TransitionRequest, under rules: Rules
    ) throws(ArbiterError) -> [TransitionID] {
        let claim = storyboard.claim(of: request, scope: try checkedScope(of: request, under: rules))
        let place = lastPlace(for: request)
        guard !queue.isFree(claim, at: place) else { return [] }
        let blockers = queue.blockers(of: claim, at: place, limit: Limits.blockersShown)
        precondition(!blockers.isEmpty, "a scope is not free but has no known blocker")
        return blockers
    }

    /// All unfinished transitions that are in the way of a new request; `nil` if there are more than `Limits.blockersLookedAt`.
    fileprivate func allBlockers(of request: TransitionRequest) -> [TransitionID]? {
        queue.allBlockers(of: claim(of: request), at: lastPlace(for: request), limit: Limits.blockersLookedAt)
    }

    /// What happens if the turn of a request comes with the current hierarchy.
    fileprivate func turn(of request: TransitionRequest, under rules: Rules) -> Turn {
        turn(of: request, scope: resolvedScope(of: request), under: rules)
    }

    /// What a new transition gets from its scene.
    fileprivate func terms(
        of request: TransitionRequest
    ) -> (scope: Scope, priority: Priority, consent: Consent?, lease: Duration, revision: Revision) {
        (
            resolvedScope(of: request), resolvedPriority(of: request), resolvedConsent(of: request),
            request.lease ?? storyboard.defaults.lease, numbers.revision
        )
    }

    /// The scope that a request locks.
    ///
    /// - Throws: `operationRefused`, `unknownTransitionType` or `unknownIntroTransitionType` if the request names
    ///   something that the scene does not have.
    @discardableResult
    func checkedScope(of request: TransitionRequest, under rules: Rules) throws(ArbiterError) -> Scope {
        let scope = resolvedScope(of: request)
        if case .anyOf = scope, !isWithoutHierarchy {
            throw .operationRefused(
                OperationRefusal(
                    code: .unknownController,
                    detail: "One of several names can be locked only in a scene that has no hierarchy."))
        }
        if case .controllers(let named) = scope, !(isWithoutHierarchy && rules > .first),
            let unknown = named.first(where: {
                storyboard.hierarchy[$0] == nil && !queue.coming.isComing($0, before: lastPlace(for: request))
            })
        {
            throw .operationRefused(
                OperationRefusal(code: .unknownController, detail: "There is no controller <\(unknown)> to lock."))
        }
        if let type = request.animation?.type, storyboard.transitionType(type) == nil {
            throw .unknownTransitionType(type)
        }
        for arrival in request.operation?.arrivals ?? [] {
            let unknown = arrival.introTransitionTypes.first { storyboard.transitionType($0) == nil }
            if let unknown { throw .unknownIntroTransitionType(unknown) }
        }
        return scope
    }

    /// Whether the scene is idle: without an unfinished transition, a declaration, a hierarchy and a guard.
    var isForgettable: Bool { queue.isEmpty && aside.isEmpty && !hasStoryboard && guards.isEmpty }
}
