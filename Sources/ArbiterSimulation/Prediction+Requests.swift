internal import ArbiterCore
internal import ArbiterModel

// Requests for transitions.

extension Rulebook {
    /// The request with the client of its session, unless it names one.
    ///
    /// A request that is repeated after the end of its session has the client that it had.
    ///
    /// Without a highest priority too, if it has one that does not matter to it.
    func named(_ request: TransitionRequest) -> TransitionRequest {
        var named = request
        let standard = oracle.scene(request.scene).storyboard.defaults.priority
        if request.priority != nil || request.highestPriority.map({ standard <= $0 }) ?? true {
            named.highestPriority = nil
        }
        guard request.client == nil, let token = request.session else { return named }
        if let session = oracle.sessions[token] {
            named.client = session.client
        } else if let earlier = ledger.entry(withKeyOf: request, at: now)?.request,
            earlier.session == token
        {
            named.client = earlier.client
        }
        return named
    }

    func start(_ request: TransitionRequest, _ drawn: Drawn) -> Prediction {
        if let repeated = repeated(request, isSerialized: false) { return Prediction(verdict: repeated.verdict) }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if oracle.isHoldingGrants { return refused(.recovering) }
        if let refusal = refusalToLock(request) { return refused(refusal) }
        if isBlocked(request) { return refused(.busy) }
        let scope = oracle.scene(request.scene).resolvedScope(of: request)
        switch oracle.turn(of: request, scope) {
        case .rejected(let outcome): if let refusal = Verdict.Refusal(outcome) { return refused(refusal) }
        case .setAside(let unmet): return refused(.expectationFailed(unmet))
        case .granted, .noop: break
        }
        if let refusal = refusalToAdmit(request) { return refused(refusal) }
        return Prediction(
            verdict: .transition(drawn.transition),
            record: .start(request, id: drawn.transition, token: drawn.token))
    }

    func serialize(_ request: TransitionRequest, _ drawn: Drawn, mayPark: Bool) -> Prediction {
        if let repeated = repeated(request, isSerialized: true) {
            return Prediction(verdict: mayPark && repeated.entry?.isQueued == true ? .parked : repeated.verdict)
        }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if let refusal = refusalToAdmit(request) ?? refusalToLock(request) { return refused(refusal) }
        let replaced = request.coalescing?.keep == .latest ? oracle.coalesced(request).map { oracle.line[$0] } : []
        let makesRoom = replaced.contains { !$0.isGranted }
        if !makesRoom, oracle.standing(in: request.scene) >= oracle.limits.queuedPerScene,
            isBlocked(request, besides: replaced.map(\.id))
        {
            return refused(.queueFull)
        }
        let record = Record.serialize(request, id: drawn.transition, token: drawn.token)
        var after = oracle
        after.apply(record)
        let isQueued = after[drawn.transition]?.state == .queued
        return Prediction(
            verdict: mayPark && isQueued ? .parked : .transition(drawn.transition), record: record, oracle: after)
    }

    private func repeated(
        _ request: TransitionRequest, isSerialized: Bool
    ) -> (verdict: Verdict, entry: Ledger.Entry?)? {
        guard let entry = ledger.entry(withKeyOf: request, at: now) else { return nil }
        var asked = request
        asked.highestPriority = entry.request.highestPriority
        guard entry.request == asked, entry.isSerialized == isSerialized else {
            return (.refused(.idempotencyKeyReused), nil)
        }
        return (.transition(entry.id), entry)
    }

    private func isSessionUnknown(_ request: TransitionRequest) -> Bool {
        request.session.map { oracle.sessions[$0] == nil } ?? false
    }

    func isBlocked(_ request: TransitionRequest, besides replaced: [TransitionID] = []) -> Bool {
        let scene = oracle.scene(request.scene)
        let scope = scene.resolvedScope(of: request)
        let others = inFront(of: request).filter { $0.scene == request.scene && !replaced.contains($0.id) }
        let alternatives: [[ControllerID]?] =
            if case .anyOf(let names) = scope { names.map { [$0] } } else { [scene.locked(by: request, scope)] }
        return alternatives.allSatisfy { locked in
            others.contains {
                oracle.conflicts($0, locked, isShared: request.mode == .shared)
                    || oracle.waits(request, scope, for: $0.request)
            }
        }
    }

    /// The unfinished transitions that are granted or stand before a new request in the line.
    private func inFront(of request: TransitionRequest) -> [NaiveOracle.Entry] {
        let priority = oracle.priority(of: request)
        return oracle.line.filter { $0.isGranted || $0.priority >= priority && oracle.stands($0) }
    }

    func refusalToLock(_ request: TransitionRequest) -> Verdict.Refusal? {
        let scene = oracle.scene(request.scene)
        let others = inFront(of: request).filter { $0.scene == request.scene }.map(\.request)
        let coming = others.reduce(into: Set<ControllerID>()) { $0.formUnion(scene.brought(by: $1)) }
        if case .anyOf? = request.scope, !scene.tree.nodes.isEmpty { return .operationRefused(.unknownController) }
        if case .controllers(let named)? = request.scope, !scene.tree.nodes.isEmpty,
            named.contains(where: { scene.tree.nodes[$0] == nil && !coming.contains($0) })
        {
            return .operationRefused(.unknownController)
        }
        let arriving =
            request.operation?.arrivals.flatMap { arrival in arrival.preorder.map(\.introTransitionType) } ?? []
        let types = Set(scene.storyboard.transitionTypes.map(\.name))
        let isKnown = (arriving + [request.animation?.type]).allSatisfy { $0.map(types.contains) ?? true }
        return isKnown ? nil : .unknownTransitionType
    }

    private func refusalToAdmit(_ request: TransitionRequest) -> Verdict.Refusal? {
        oracle.line.count >= oracle.limits.unfinished ? .tooManyTransitions : refusalOfScene(request.scene)
    }
}
