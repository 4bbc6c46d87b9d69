// Fingers that drive transitions: where they are, and what their going decides.

extension ArbiterStateMachine {
    mutating func progress(
        _ id: TransitionID, token: Token, _ progress: GestureProgress, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        let transition = try interactive(id, token: token, at: step.now)
        switch transition.phase {
        case .queued, .preparing: throw .notRunning(view(of: transition, at: step.now))
        case .running: break
        case .ended: throw .alreadyEnded(view(of: transition, at: step.now))
        }
        guard transition.gesture == nil else { throw .decidedOtherwise(view(of: transition, at: step.now)) }
        attend(id, at: step.now)
        let last = momentary.attention[id]?.progress
        let isLate = progress.sequence.map { number in last?.sequence.map { number <= $0 } ?? false } ?? false
        guard !isLate else { return .progress(try view(of: id, at: step.now), isApplied: false) }
        var latest = progress
        latest.velocity = progress.velocity ?? last?.velocity
        latest.sequence = progress.sequence ?? last?.sequence
        momentary.attention[id]?.progress = latest
        step.effects.append(
            .publish(
                SceneEvent(
                    scene: transition.request.scene, number: nil, overall: nil, timestamp: step.moment.timestamp,
                    kind: .progress(id, latest))))
        return .progress(try view(of: id, at: step.now), isApplied: true)
    }

    mutating func release(
        _ id: TransitionID, token: Token, _ release: GestureRelease, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        let transition = try interactive(id, token: token, at: step.now)
        let last = momentary.attention[id]?.progress
        if let gesture = transition.gesture {
            guard repeats(gesture, release) else { throw .decidedOtherwise(view(of: transition, at: step.now)) }
            attend(id, at: step.now)
            return .transition(try view(of: id, at: step.now))
        }
        guard !transition.isEnded else { throw .alreadyEnded(view(of: transition, at: step.now)) }
        let decision = release.decision(by: transition.request.policy, after: last)
        if case .queued(let queued) = transition.phase, queued.completesAtGrant, decision == .cancel {
            throw .alreadyDecided(view(of: transition, at: step.now))
        }
        let fraction = transition.grant == nil ? 0 : release.fraction ?? last?.fraction ?? 0
        let gesture = DecidedGesture(decision: decision, fraction: fraction)
        step.record = .decide(id, gesture)
        attend(id, at: step.now)
        return decide(id, gesture, in: &step)
    }

    /// Whether a release that comes after the decision says nothing against it.
    private func repeats(_ gesture: DecidedGesture, _ release: GestureRelease) -> Bool {
        if release.isCancelled { return gesture.decision == .cancel }
        return release.decision.map { $0 == gesture.decision } ?? true
    }

    mutating func decide(_ id: TransitionID, _ gesture: DecidedGesture, in step: inout Step) -> Reply {
        guard var transition = durable.transitions[id], !transition.isEnded else { return .done }
        step.isDurable = true
        transition.gesture = gesture
        durable.transitions[id] = transition
        momentary.attention[id]?.progress = nil
        tell(.released, transition, in: &step)
        // Before the grant there is nothing to undo.
        if gesture.decision == .cancel, transition.state == .queued {
            return .transition(finish(id, as: .cancelled, in: &step))
        }
        return .transition(view(of: transition, at: step.now))
    }

    /// A transition that its owner drives, or has ended.
    ///
    /// - Throws: if it is not one, or ended without its owner.
    private func interactive(_ id: TransitionID, token: Token, at now: Instant) throws(ArbiterError) -> Transition {
        let transition = try owned(id, token: token)
        guard transition.request.isInteractive else { throw .notInteractive(id) }
        if case .ended(let ending) = transition.phase, !ending.outcome.isOwners {
            throw .endedWithoutOwner(view(of: transition, at: now))
        }
        return transition
    }
}

extension TransitionOutcome {
    /// Whether its owner ended it so.
    var isOwners: Bool {
        switch self {
        case .completed, .cancelled: true
        case .expired, .rejected, .superseded, .revoked: false
        }
    }
}
