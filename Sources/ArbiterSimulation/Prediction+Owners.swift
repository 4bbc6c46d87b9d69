internal import ArbiterCore
internal import ArbiterModel

// Requests of owners.

extension Rulebook {
    func end(_ entry: Ledger.Entry, _ given: EndOutcome?, _ token: Token) -> Prediction {
        let outcome = given ?? (entry.gesture?.decided.decision == .cancel ? .cancelled : .completed)
        switch (entry.ending?.outcome, outcome) {
        case (.expired, _), (.rejected, _), (.superseded, _), (.revoked, _): return refused(.endedWithoutOwner)
        case (.completed, .cancelled), (.cancelled, .completed): return refused(.alreadyEnded)
        case (.completed, .completed), (.cancelled, .cancelled): return Prediction(verdict: .transition(entry.id))
        case (nil, _): break
        }
        let needed: GestureDecision = outcome == .completed ? .finish : .cancel
        if let decided = entry.gesture?.decided, decided.decision != needed { return refused(.alreadyDecided) }
        if oracle[entry.id]?.hasRememberedEnd == true {
            return outcome == .cancelled ? refused(.alreadyEnded) : Prediction(verdict: .transition(entry.id))
        }
        return Prediction(verdict: .transition(entry.id), record: .end(entry.id, token: token, outcome))
    }

    func revoke(_ entry: Ledger.Entry, _ reason: GivenReason) -> Prediction {
        switch entry.ending?.outcome {
        case .revoked: Prediction(verdict: .transition(entry.id))
        case let outcome?: refused(refusal(after: outcome))
        case nil: Prediction(verdict: .transition(entry.id), record: .revoke(entry.id, Revocation(reason)))
        }
    }

    func revokeAll(in name: SceneName, of client: ClientName?, _ reason: GivenReason) -> Prediction {
        guard oracle.scenes[name] != nil else { return refused(.unknownScene) }
        let meant = oracle.line.filter { $0.scene == name && (client == nil || $0.request.client == client) }
        let ids = (meant.filter { $0.unmet == nil } + meant.filter { $0.unmet != nil }).map(\.id)
        let record = Record.revokeAll(name, client: client, ownedBy: nil, Revocation(reason))
        return Prediction(verdict: .revoked(ids), record: ids.isEmpty ? nil : record)
    }

    func update(_ entry: Ledger.Entry, _ update: AnimationUpdate) -> Prediction {
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        let known = oracle[entry.id]?.update
        let changes = update.following(known) != known ?? AnimationUpdate()
        return Prediction(verdict: .transition(entry.id), record: changes ? .update(entry.id, update) : nil)
    }

    func renew(_ entry: Ledger.Entry) -> Prediction {
        entry.ending.map { refused(refusal(after: $0.outcome)) } ?? Prediction(verdict: .transition(entry.id))
    }

    private func refusal(after outcome: TransitionOutcome) -> Verdict.Refusal {
        switch outcome {
        case .completed, .cancelled: .alreadyEnded
        case .expired, .rejected, .superseded, .revoked: .endedWithoutOwner
        }
    }

    func progress(_ entry: Ledger.Entry, _ progress: GestureProgress) -> Prediction {
        guard entry.request.isInteractive else { return refused(.notInteractive) }
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        guard entry.gesture == nil else { return refused(.alreadyDecided) }
        let isLate =
            if let number = progress.sequence, let last = entry.progress?.sequence { number <= last } else { false }
        return Prediction(verdict: .progress(isApplied: !isLate))
    }

    func release(_ entry: Ledger.Entry, _ release: GestureRelease) -> Prediction {
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
        if decision == .cancel, oracle[entry.id]?.hasRememberedEnd == true { return refused(.alreadyEnded) }
        let fraction = entry.isQueued ? 0 : release.fraction ?? entry.progress?.fraction ?? 0
        let gesture = DecidedGesture(
            decision: decision, fraction: fraction, completionSpeed: release.completionSpeed)
        return Prediction(verdict: .transition(entry.id), record: .decide(entry.id, gesture))
    }

    func perform(
        _ entry: Ledger.Entry, _ operation: Operation, _ expectations: [ArbiterCore.Expectation], ignoresGuards: Bool
    ) -> Prediction {
        if let ending = entry.ending { return refused(refusal(after: ending.outcome)) }
        guard entry.ran != nil, let running = oracle[entry.id] else { return refused(.notRunning) }
        if let performed = running.request.operation {
            return performed == operation
                ? Prediction(verdict: .performed(isNoop: false)) : refused(.alreadyPerformed)
        }
        guard running.interruption == nil else { return refused(.interrupted) }
        guard entry.gesture == nil else { return refused(.alreadyDecided) }
        if case .controllers = running.scope, oracle.scene(entry.request.scene).tree.nodes.isEmpty {
            return refused(.holdsNoHierarchy)
        }
        guard !running.isShared else { return refused(.holdsNoHierarchy) }
        var request = entry.request
        request.operation = operation
        request.expectations = expectations
        if let refusal = refusalToLock(request) { return refused(refusal) }
        let change: NaiveChange?
        switch oracle.turn(of: request, running.scope) {
        case .rejected(let outcome): return refused(Verdict.Refusal(outcome) ?? .outOfRoom)
        case .setAside(let unmet): return refused(.expectationFailed(unmet))
        case .noop: return Prediction(verdict: .performed(isNoop: true))
        case .granted(let granted): change = granted
        }
        guard oracle.holds(running, operation) else { return refused(.outsideScope) }
        if !ignoresGuards, oracle.isGuarded(change, from: running) { return refused(.guarded) }
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
}

extension Ledger.Entry {
    func hasReached(_ milestone: Milestone, in oracle: NaiveOracle) -> Bool {
        if ending != nil { return true }
        return switch milestone {
        case .granted: grant != nil
        case .running: ran != nil
        case .interrupted: oracle[id]?.interruption != nil
        case .ended: false
        }
    }
}
