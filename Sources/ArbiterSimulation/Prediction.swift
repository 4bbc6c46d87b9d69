internal import ArbiterCore
internal import ArbiterModel

/// The answer and the record of an ask by the rules, computed from the ledger and the oracle alone.
struct Prediction {
    let verdict: Verdict
    /// The record that it makes; `nil` if it changes nothing durable.
    var record: Record?
    /// The oracle after the record, if it had to be computed.
    var oracle: NaiveOracle?
    /// What the answer to a dry run says.
    var trial: Trial?
}

/// The rules, and the state that they are applied to.
struct Rulebook {
    let ledger: Ledger
    let oracle: NaiveOracle
    let idleTimes: IdleTimes
    let isDraining: Bool
    let now: Instant

    /// Predicts the answer and the record of an ask.
    ///
    /// - Parameters:
    ///   - ask: the request.
    ///   - record: the record that was made, of which only the random ids and tokens are used.
    /// - Returns: the expected answer and record.
    func prediction(on ask: Ask, kept record: Record?) -> Prediction {
        let drawn = Drawn(record)
        return switch ask {
        case .start(let request): start(named(request), drawn)
        case .serialize(let request, let wait):
            serialize(named(request), drawn, mayPark: wait > .zero && !isDraining)
        case .dryRun(let request, let isSerialized): dryRun(request, isSerialized: isSerialized)
        case .await(let id, let token, let milestone, _, let wait):
            owned(id, token: token) { entry in
                let parks = wait > .zero && !isDraining && !entry.hasReached(milestone)
                return Prediction(verdict: parks ? .parked : .transition(id))
            }
        case .awaitIdle(let scene, let quiet, _, let wait): awaitIdle(scene, quiet: quiet, wait: wait)
        case .look(let id): owned(id, token: nil) { _ in Prediction(verdict: .transition(id)) }
        case .end(let id, let token, let outcome): owned(id, token: token) { end($0, outcome, token) }
        case .revoke(let id, let reason): owned(id, token: nil) { revoke($0, reason) }
        case .renew(let id, let token): owned(id, token: token) { renew($0) }
        case .progress(let id, let token, let progress): owned(id, token: token) { self.progress($0, progress) }
        case .release(let id, let token, let release): owned(id, token: token) { self.release($0, release) }
        case .perform(let id, let token, let operation, let expectations):
            owned(id, token: token) { perform($0, operation, expectations) }
        case .ready(let id, let client, let session): ready(id, client, session)
        case .openSession(let client, let timeToLive): openSession(client, timeToLive, drawn)
        case .renewSession(let token):
            Prediction(verdict: oracle.sessions[token].map { .session($0.id) } ?? .refused(.unknownSession))
        case .attach(let token):
            Prediction(verdict: oracle.sessions[token] == nil ? .refused(.unknownSession) : .attached)
        case .endSession(let token):
            oracle.sessions[token].map {
                Prediction(verdict: .session($0.id), record: .endSession($0.id, .ended))
            } ?? refused(.unknownSession)
        case .declare(let scene, let storyboard, let precondition): declare(scene, storyboard, precondition)
        case .patch(let scene, let patch, let precondition): self.patch(scene, patch, precondition)
        case .delete(let scene, let precondition): delete(scene, precondition)
        }
    }

    /// The ids and tokens that the engine has drawn; placeholders if there is no record.
    private struct Drawn {
        var transition = TransitionID(rawValue: 0)
        var session = SessionID(rawValue: 0)
        var token = Token(high: 0, low: 0)

        init(_ record: Record?) {
            switch record {
            case .start(_, let id, let token), .serialize(_, let id, let token): (transition, self.token) = (id, token)
            case .openSession(_, _, let id, let token, _): (session, self.token) = (id, token)
            case .end, .revoke, .decide, .perform, .markReady, .endSession, .declare, .patch, .delete, .expire,
                .expireUnclaimed,
                .timeOutParticipants, .adopt, .distrust, .skipFences, .resume, .stop, nil:
                break
            }
        }
    }

    private func refused(_ refusal: Verdict.Refusal) -> Prediction { Prediction(verdict: .refused(refusal)) }

    private func owned(_ id: TransitionID, token: Token?, _ prediction: (Ledger.Entry) -> Prediction) -> Prediction {
        guard let entry = ledger[id], entry.forgotten == nil else { return refused(.unknownTransition) }
        if let token, token != entry.token { return refused(.wrongToken) }
        return prediction(entry)
    }

    private func openSession(_ client: ClientName?, _ timeToLive: Duration, _ drawn: Drawn) -> Prediction {
        guard oracle.sessions.count < oracle.limits.sessions else { return refused(.tooManySessions) }
        return Prediction(
            verdict: .session(drawn.session),
            record: .openSession(client: client, timeToLive: timeToLive, id: drawn.session, token: drawn.token))
    }

    // MARK: - Scenes

    private func declare(_ name: SceneName, _ storyboard: Storyboard, _ precondition: Precondition) -> Prediction {
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        if oracle.unfinished(in: name) > 0 { return refused(.busy) }
        if let refusal = refusalOfScene(name) { return refused(refusal) }
        return Prediction(
            verdict: .declared(StoryboardVersion(revision: Revision(rawValue: oracle.scene(name).revision + 1))),
            record: .declare(name, storyboard))
    }

    private func patch(_ name: SceneName, _ patch: StoryboardPatch, _ precondition: Precondition) -> Prediction {
        guard oracle.scenes[name] != nil else { return refused(.unknownScene) }
        let scene = oracle.scene(name)
        guard let version = scene.version else { return refused(.undeclared) }
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        guard let patched = scene.patched(by: patch) else { return refused(.invalidStoryboard) }
        let old = scene.storyboard
        if patched.segues == old.segues, patched.transitionTypes == old.transitionTypes,
            patched.defaults == old.defaults
        {
            return Prediction(verdict: .declared(version))
        }
        if oracle.line.contains(where: { $0.scene == name && scene.isInUse(patch, by: $0.request) }) {
            return refused(.inUse)
        }
        return Prediction(
            verdict: .declared(StoryboardVersion(revision: version.revision, patches: version.patches + 1)),
            record: .patch(name, patch))
    }

    private func delete(_ name: SceneName, _ precondition: Precondition) -> Prediction {
        guard oracle.scenes[name] != nil else { return refused(.unknownScene) }
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        return oracle.unfinished(in: name) > 0 ? refused(.busy) : Prediction(verdict: .done, record: .delete(name))
    }

    private func refusal(of precondition: Precondition, in name: SceneName) -> Verdict.Refusal? {
        let actual = oracle.scene(name).version
        return switch precondition {
        case .none: nil
        case .declared: actual == nil ? .versionMismatch : nil
        case .undeclared: actual == nil ? nil : .alreadyDeclared
        case .version(let versions): versions.contains { $0 == actual } ? nil : .versionMismatch
        }
    }

    private func refusalOfScene(_ name: SceneName) -> Verdict.Refusal? {
        guard oracle.scenes[name] == nil, oracle.scenes.count >= oracle.limits.scenes else { return nil }
        return oracle.scenes.keys.contains(where: oracle.isForgettable) ? nil : .tooManyScenes
    }
}

// MARK: - Requests for transitions

extension Rulebook {
    /// The request with the client of its session, unless it names one.
    ///
    /// A request that is repeated after the end of its session has the client that it had.
    private func named(_ request: TransitionRequest) -> TransitionRequest {
        guard request.client == nil, let token = request.session else { return request }
        var named = request
        if let session = oracle.sessions[token] {
            named.client = session.client
        } else if let earlier = ledger.entry(withKeyOf: request, at: now)?.request,
            earlier.session == token
        {
            named.client = earlier.client
        }
        return named
    }

    private func start(_ request: TransitionRequest, _ drawn: Drawn) -> Prediction {
        if let repeated = repeated(request, isSerialized: false) { return Prediction(verdict: repeated.verdict) }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if oracle.isHoldingGrants { return refused(.recovering) }
        if let refusal = refusalToLock(request) { return refused(refusal) }
        if isBlocked(request) { return refused(.busy) }
        let scope = oracle.scene(request.scene).resolvedScope(of: request)
        if case .rejected(let outcome) = oracle.turn(of: request, scope), let refusal = Verdict.Refusal(outcome) {
            return refused(refusal)
        }
        if let refusal = refusalToAdmit(request) { return refused(refusal) }
        return Prediction(
            verdict: .transition(drawn.transition),
            record: .start(request, id: drawn.transition, token: drawn.token))
    }

    private func serialize(_ request: TransitionRequest, _ drawn: Drawn, mayPark: Bool) -> Prediction {
        if let repeated = repeated(request, isSerialized: true) {
            return Prediction(verdict: mayPark && repeated.entry?.isQueued == true ? .parked : repeated.verdict)
        }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if let refusal = refusalToAdmit(request) ?? refusalToLock(request) { return refused(refusal) }
        let takesOver = request.coalescing?.keep == .latest && !oracle.coalesced(request).isEmpty
        if !takesOver, oracle.queued(in: request.scene) >= oracle.limits.queuedPerScene, isBlocked(request) {
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
        guard entry.request == request, entry.isSerialized == isSerialized else {
            return (.refused(.idempotencyKeyReused), nil)
        }
        return (.transition(entry.id), entry)
    }

    private func isSessionUnknown(_ request: TransitionRequest) -> Bool {
        request.session.map { oracle.sessions[$0] == nil } ?? false
    }

    func isBlocked(_ request: TransitionRequest) -> Bool {
        let scene = oracle.scene(request.scene)
        let scope = scene.resolvedScope(of: request)
        let locked = scene.locked(by: request, scope)
        return oracle.line.contains {
            $0.scene == request.scene
                && (oracle.conflicts($0, locked) || oracle.waits(request, scope, for: $0.request))
        }
    }

    private func refusalToLock(_ request: TransitionRequest) -> Verdict.Refusal? {
        let scene = oracle.scene(request.scene)
        let others = oracle.line.filter { $0.scene == request.scene }.map(\.request)
        let coming = others.reduce(into: Set<ControllerID>()) { $0.formUnion(scene.brought(by: $1)) }
        if case .controllers(let named)? = request.scope,
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

// MARK: - Requests of owners and participants

extension Rulebook {
    private func end(_ entry: Ledger.Entry, _ given: EndOutcome?, _ token: Token) -> Prediction {
        let outcome = given ?? (entry.gesture?.decided.decision == .cancel ? .cancelled : .completed)
        switch (entry.ending?.outcome, outcome) {
        case (.expired, _), (.rejected, _), (.superseded, _), (.revoked, _): return refused(.endedWithoutOwner)
        case (.completed, .cancelled), (.cancelled, .completed): return refused(.alreadyEnded)
        case (.completed, .completed), (.cancelled, .cancelled): return Prediction(verdict: .transition(entry.id))
        case (nil, _): break
        }
        let needed: GestureDecision = outcome == .completed ? .finish : .cancel
        if let decided = entry.gesture?.decided, decided.decision != needed { return refused(.alreadyDecided) }
        if entry.isQueued, entry.remembered != nil {
            return outcome == .cancelled ? refused(.alreadyEnded) : Prediction(verdict: .transition(entry.id))
        }
        return Prediction(verdict: .transition(entry.id), record: .end(entry.id, token: token, outcome))
    }

    private func revoke(_ entry: Ledger.Entry, _ reason: RevocationReason) -> Prediction {
        switch entry.ending?.outcome {
        case .revoked: Prediction(verdict: .transition(entry.id))
        case let outcome?: refused(refusal(after: outcome))
        case nil: Prediction(verdict: .transition(entry.id), record: .revoke(entry.id, Revocation(reason)))
        }
    }

    private func renew(_ entry: Ledger.Entry) -> Prediction {
        entry.ending.map { refused(refusal(after: $0.outcome)) } ?? Prediction(verdict: .transition(entry.id))
    }

    private func refusal(after outcome: TransitionOutcome) -> Verdict.Refusal {
        switch outcome {
        case .completed, .cancelled: .alreadyEnded
        case .expired, .rejected, .superseded, .revoked: .endedWithoutOwner
        }
    }

    private func progress(_ entry: Ledger.Entry, _ progress: GestureProgress) -> Prediction {
        guard entry.request.isInteractive else { return refused(.notInteractive) }
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        guard entry.gesture == nil else { return refused(.alreadyDecided) }
        let isLate =
            if let number = progress.sequence, let last = entry.progress?.sequence { number <= last } else { false }
        return Prediction(verdict: .progress(isApplied: !isLate))
    }

    private func release(_ entry: Ledger.Entry, _ release: GestureRelease) -> Prediction {
        guard entry.request.isInteractive else { return refused(.notInteractive) }
        if let outcome = entry.ending?.outcome, refusal(after: outcome) == .endedWithoutOwner {
            return refused(.endedWithoutOwner)
        }
        if let decided = entry.gesture?.decided.decision {
            let said: GestureDecision? = release.isCancelled ? .cancel : release.decision
            return (said ?? decided) == decided ? Prediction(verdict: .transition(entry.id)) : refused(.alreadyDecided)
        }
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        let decision = decision(of: release, entry)
        if decision == .cancel, entry.remembered != nil, entry.isQueued { return refused(.alreadyEnded) }
        let fraction = entry.isQueued ? 0 : release.fraction ?? entry.progress?.fraction ?? 0
        let gesture = DecidedGesture(
            decision: decision, fraction: fraction, completionSpeed: release.completionSpeed)
        return Prediction(verdict: .transition(entry.id), record: .decide(entry.id, gesture))
    }

    private func perform(
        _ entry: Ledger.Entry, _ operation: Operation, _ expectations: [ArbiterCore.Expectation]
    ) -> Prediction {
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        guard entry.ran != nil, let running = oracle[entry.id] else { return refused(.notRunning) }
        if let performed = running.request.operation {
            return performed == operation
                ? Prediction(verdict: .performed(isNoop: false)) : refused(.alreadyPerformed)
        }
        guard entry.gesture == nil else { return refused(.alreadyDecided) }
        var request = entry.request
        request.operation = operation
        request.expectations = expectations
        if let refusal = refusalToLock(request) { return refused(refusal) }
        switch oracle.turn(of: request, running.scope) {
        case .rejected(let outcome): return refused(Verdict.Refusal(outcome) ?? .outOfRoom)
        case .noop: return Prediction(verdict: .performed(isNoop: true))
        case .granted: break
        }
        guard oracle.holds(running, operation) else { return refused(.outsideScope) }
        return Prediction(verdict: .performed(isNoop: false), record: .perform(entry.id, operation))
    }

    private func decision(of release: GestureRelease, _ entry: Ledger.Entry) -> GestureDecision {
        if release.isCancelled { return .cancel }
        if let decision = release.decision { return decision }
        let isFinished =
            switch entry.request.policy {
            case .fraction(let threshold): (release.fraction ?? entry.progress?.fraction ?? 0) > threshold
            case .velocity: (release.velocity ?? entry.progress?.velocity ?? 0) > 0
            }
        return isFinished ? .finish : .cancel
    }

    private func ready(_ id: TransitionID, _ client: ClientName, _ token: Token) -> Prediction {
        guard let entry = ledger[id], entry.forgotten == nil else { return refused(.unknownTransition) }
        guard let session = oracle.sessions[token] else { return refused(.unknownSession) }
        guard session.client == client, entry.request.participants.contains(where: { $0.client == client }) else {
            return refused(.notAParticipant)
        }
        if entry.isQueued { return refused(.notRunning) }
        let isReady = entry.readied.contains { $0.client == client }
        guard entry.isPreparing else { return isReady ? Prediction(verdict: .transition(id)) : refused(.tooLate) }
        let record = Record.markReady(id, client: client)
        return Prediction(verdict: .transition(id), record: isReady ? nil : record)
    }
}

extension Ledger.Entry {
    func hasReached(_ milestone: Milestone) -> Bool {
        if ending != nil { return true }
        return switch milestone {
        case .granted: grant != nil
        case .running: ran != nil
        case .ended: false
        }
    }
}
