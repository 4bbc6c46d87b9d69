internal import ArbiterCore

/// What the rules say a command comes to, worked out from the ledger and the oracle alone.
struct Prediction {
    let verdict: Verdict
    /// What belongs into the journal, if the command changes anything durable.
    var record: Command?
    /// Everything after it, where that had to be worked out for the verdict.
    var oracle: NaiveOracle?
}

/// What predictions are made from.
struct Rulebook {
    let ledger: Ledger
    let oracle: NaiveOracle
    let isDraining: Bool
    let now: Instant

    func prediction(on command: Command) -> Prediction {
        switch command {
        case .start(let request, let id, let token): start(request, id, token)
        case .serialize(let request, let id, let token, let park):
            serialize(request, id, token, mayPark: park != nil && !isDraining)
        case .await(let id, let token, let milestone, let park):
            owned(id, token: token) { entry in
                Prediction(
                    verdict: park != nil && !isDraining && !entry.hasReached(milestone) ? .parked : .known(id))
            }
        case .end(let id, let token, let outcome): owned(id, token: token) { end($0, outcome, token) }
        case .revoke(let id, _): owned(id, token: nil) { revoke($0, command) }
        case .renew(let id, let token): owned(id, token: token) { renew($0) }
        case .progress(let id, let token, let progress): owned(id, token: token) { self.progress($0, progress) }
        case .release(let id, let token, let release): owned(id, token: token) { self.release($0, release) }
        case .ready(let id, let client, let session): ready(id, client, session)
        case .openSession(_, _, let id, _):
            oracle.sessions.count < oracle.limits.sessions
                ? Prediction(verdict: .session(id), record: command) : refused(.tooManySessions)
        case .renewSession(let token), .attach(let token):
            Prediction(verdict: oracle.sessions[token].map { .session($0.id) } ?? .refused(.unknownSession))
        case .endSession(let token):
            oracle.sessions[token].map {
                Prediction(verdict: .session($0.id), record: .closeSession($0.id, .ended))
            } ?? refused(.unknownSession)
        case .declare(let scene, let storyboard, let revision): declare(scene, storyboard, revision)
        case .delete(let scene, let revision): delete(scene, revision)
        case .expire(let id, _), .decide(let id, _), .settle(let id), .markReady(let id, _):
            Prediction(verdict: .done, record: oracle[id] == nil ? nil : command)
        case .closeSession(let id, _):
            Prediction(verdict: .done, record: oracle.sessions.values.contains { $0.id == id } ? command : nil)
        case .distrust, .skipFences: Prediction(verdict: .done, record: command)
        case .resume: Prediction(verdict: .done, record: oracle.isHoldingGrants ? command : nil)
        case .leave, .detach, .drain, .answer: Prediction(verdict: .done)
        }
    }

    private func refused(_ refusal: Verdict.Refusal) -> Prediction { Prediction(verdict: .refused(refusal)) }

    private func owned(_ id: TransitionID, token: Token?, _ prediction: (Ledger.Entry) -> Prediction) -> Prediction {
        guard let entry = ledger[id], entry.forgotten == nil else { return refused(.unknownTransition) }
        if let token, token != entry.token { return refused(.wrongToken) }
        return prediction(entry)
    }

    // MARK: - Scenes

    private func declare(_ name: SceneName, _ storyboard: Storyboard, _ revision: Revision?) -> Prediction {
        let actual = oracle.scenes[name]?.revision
        if let revision, revision.rawValue != actual { return refused(.revisionMismatch) }
        if oracle.unfinished(in: name) > 0 { return refused(.busy) }
        if let refusal = refusalOfScene(name) { return refused(refusal) }
        let record = Command.declare(name, storyboard, ifMatch: nil)
        return Prediction(verdict: .declared(oracle.scene(name).revision + 1), record: record)
    }

    private func delete(_ name: SceneName, _ revision: Revision?) -> Prediction {
        guard let actual = oracle.scenes[name]?.revision else { return refused(.unknownScene) }
        if let revision, revision.rawValue != actual { return refused(.revisionMismatch) }
        return oracle.unfinished(in: name) > 0 ? refused(.busy) : Prediction(verdict: .done, record: .delete(name))
    }

    private func refusalOfScene(_ name: SceneName) -> Verdict.Refusal? {
        guard oracle.scenes[name] == nil, oracle.scenes.count >= oracle.limits.scenes else { return nil }
        return oracle.scenes.keys.contains(where: oracle.isForgettable) ? nil : .tooManyScenes
    }
}

// MARK: - Asking

extension Rulebook {
    private func start(_ request: TransitionRequest, _ id: TransitionID, _ token: Token) -> Prediction {
        if let repeated = repeated(request, isSerialized: false) { return Prediction(verdict: repeated.verdict) }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if oracle.isHoldingGrants { return refused(.holdingGrants) }
        if let refusal = refusalToLock(request) { return refused(refusal) }
        if isBlocked(request) { return refused(.busy) }
        let scope = oracle.scene(request.scene).resolvedScope(of: request)
        if case .rejected(let outcome) = oracle.turn(of: request, scope), let refusal = Verdict.Refusal(outcome) {
            return refused(refusal)
        }
        if let refusal = refusalToAdmit(request) { return refused(refusal) }
        return Prediction(verdict: .new, record: .start(request, id: id, token: token))
    }

    private func serialize(
        _ request: TransitionRequest, _ id: TransitionID, _ token: Token, mayPark: Bool
    ) -> Prediction {
        if let repeated = repeated(request, isSerialized: true) {
            return Prediction(verdict: mayPark && repeated.entry?.isQueued == true ? .parked : repeated.verdict)
        }
        if isSessionUnknown(request) { return refused(.unknownSession) }
        if let refusal = refusalToAdmit(request) ?? refusalToLock(request) { return refused(refusal) }
        let takesOver = request.coalescing?.keep == .latest && oracle.coalesced(request) != nil
        if !takesOver, oracle.queued(in: request.scene) >= oracle.limits.queuedPerScene, isBlocked(request) {
            return refused(.queueFull)
        }
        let record = Command.serialize(request, id: id, token: token, park: nil)
        var after = oracle
        after.apply(record)
        let isQueued = after[id]?.state == .queued
        return Prediction(verdict: mayPark && isQueued ? .parked : .new, record: record, oracle: after)
    }

    private func repeated(
        _ request: TransitionRequest, isSerialized: Bool
    ) -> (verdict: Verdict, entry: Ledger.Entry?)? {
        guard let key = request.idempotencyKey, let entry = ledger.entry(for: key, at: now) else { return nil }
        guard entry.request == request, entry.isSerialized == isSerialized else {
            return (.refused(.keyReused), nil)
        }
        return (.known(entry.id), entry)
    }

    private func isSessionUnknown(_ request: TransitionRequest) -> Bool {
        request.session.map { oracle.sessions[$0] == nil } ?? false
    }

    private func isBlocked(_ request: TransitionRequest) -> Bool {
        let scene = oracle.scene(request.scene)
        let locked = scene.locked(by: request, scene.resolvedScope(of: request))
        return oracle.line.contains { $0.scene == request.scene && oracle.conflicts($0, locked) }
    }

    private func refusalToLock(_ request: TransitionRequest) -> Verdict.Refusal? {
        let scene = oracle.scene(request.scene)
        if case .controllers(let named)? = request.scope, named.contains(where: { scene.tree.nodes[$0] == nil }) {
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

// MARK: - The owner's words, and those of participants

extension Rulebook {
    private func end(_ entry: Ledger.Entry, _ given: EndOutcome?, _ token: Token) -> Prediction {
        let outcome = given ?? (entry.gesture?.decided.decision == .cancel ? .cancelled : .completed)
        switch (entry.ending?.outcome, outcome) {
        case (.expired, _), (.rejected, _), (.superseded, _), (.revoked, _): return refused(.endedWithoutOwner)
        case (.completed, .cancelled), (.cancelled, .completed): return refused(.alreadyEnded)
        case (.completed, .completed), (.cancelled, .cancelled): return Prediction(verdict: .known(entry.id))
        case (nil, _): break
        }
        let needed: GestureDecision = outcome == .completed ? .finish : .cancel
        if let decided = entry.gesture?.decided, decided.decision != needed { return refused(.decidedOtherwise) }
        if entry.isQueued, entry.remembered != nil {
            return outcome == .cancelled ? refused(.alreadyDecided) : Prediction(verdict: .known(entry.id))
        }
        return Prediction(verdict: .known(entry.id), record: .end(entry.id, token: token, outcome))
    }

    private func revoke(_ entry: Ledger.Entry, _ command: Command) -> Prediction {
        switch entry.ending?.outcome {
        case .revoked: Prediction(verdict: .known(entry.id))
        case let outcome?: refused(refusal(after: outcome))
        case nil: Prediction(verdict: .known(entry.id), record: command)
        }
    }

    private func renew(_ entry: Ledger.Entry) -> Prediction {
        entry.ending.map { refused(refusal(after: $0.outcome)) } ?? Prediction(verdict: .known(entry.id))
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
        guard entry.ran != nil else { return refused(.notRunning) }
        guard entry.gesture == nil else { return refused(.decidedOtherwise) }
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
            return (said ?? decided) == decided ? Prediction(verdict: .known(entry.id)) : refused(.decidedOtherwise)
        }
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        let decision = decision(of: release, entry)
        if decision == .cancel, entry.remembered != nil, entry.isQueued { return refused(.alreadyDecided) }
        let fraction = entry.isQueued ? 0 : release.fraction ?? entry.progress?.fraction ?? 0
        let gesture = DecidedGesture(decision: decision, fraction: fraction)
        return Prediction(verdict: .known(entry.id), record: .decide(entry.id, gesture))
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
        guard entry.isPreparing else { return isReady ? Prediction(verdict: .known(id)) : refused(.tooLate) }
        let record = Command.markReady(id, client: client)
        return Prediction(verdict: .known(id), record: isReady ? nil : record)
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
