// Gestures that drive interactive transitions: progress and release.

extension ArbiterStateMachine {
    /// The finger that drives a transition has moved; momentary, and so without a record.
    ///
    /// Before the grant it counts only for the decision of a release that names none.
    ///
    /// - Throws: `unknownTransition`, `wrongToken`, `notInteractive`, `alreadyDecided`, `alreadyEnded`,
    ///   `endedWithoutOwner`.
    package mutating func progress(
        _ id: TransitionID, token: Token, _ progress: GestureProgress, in step: inout Step
    ) throws(ArbiterError) -> ProgressAnswer {
        let transition = try interactive(id, token: token, in: step)
        guard !transition.isEnded else { throw .alreadyEnded(view(of: transition, at: step.now)) }
        guard transition.gesture == nil else { throw .alreadyDecided(view(of: transition, at: step.now)) }
        attend(id, at: step.now)
        let last = momentary.attention[id]?.progress
        let isLate = progress.sequence.map { number in last?.sequence.map { number <= $0 } ?? false } ?? false
        guard !isLate else { return ProgressAnswer(view: try view(of: id, at: step.now), isApplied: false) }
        var latest = progress
        latest.velocity = progress.velocity ?? last?.velocity
        latest.sequence = progress.sequence ?? last?.sequence
        momentary.attention[id]?.progress = latest
        step.add(
            .publish(
                SceneEvent(
                    scene: transition.request.scene, number: nil, overall: nil, timestamp: step.moment.timestamp,
                    kind: .progress(id, latest))))
        return ProgressAnswer(view: try view(of: id, at: step.now), isApplied: true)
    }

    /// The finger is released, which decides the gesture.
    ///
    /// Before the grant, `cancel` also ends the transition.
    ///
    /// - Throws: `unknownTransition`, `wrongToken`, `notInteractive`, `alreadyDecided`, `alreadyEnded`,
    ///   `endedWithoutOwner`.
    package mutating func release(
        _ id: TransitionID, token: Token, _ release: GestureRelease, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        let transition = try interactive(id, token: token, in: step)
        let last = momentary.attention[id]?.progress
        if let gesture = transition.gesture {
            guard repeats(gesture, release) else { throw .alreadyDecided(view(of: transition, at: step.now)) }
            attend(id, at: step.now)
            return try view(of: id, at: step.now)
        }
        guard !transition.isEnded else { throw .alreadyEnded(view(of: transition, at: step.now)) }
        let decision = release.decision(by: transition.request.policy, after: last)
        if transition.hasRememberedEnd, decision == .cancel {
            throw .alreadyEnded(view(of: transition, at: step.now))
        }
        let fraction = transition.grant == nil ? 0 : release.fraction ?? last?.fraction ?? 0
        let gesture = DecidedGesture(
            decision: decision, fraction: fraction, completionSpeed: release.completionSpeed)
        attend(id, at: step.now)
        return decide(id, gesture, in: &step) ?? view(of: transition, at: step.now)
    }

    /// Whether a release after the decision agrees with it, and so counts as a repetition.
    private func repeats(_ gesture: DecidedGesture, _ release: GestureRelease) -> Bool {
        if release.isCancelled { return gesture.decision == .cancel }
        return release.decision.map { $0 == gesture.decision } ?? true
    }

    /// Sets the decision of a gesture; a queued transition whose gesture is cancelled ends.
    ///
    /// - Returns: the transition afterwards; `nil` if it had ended or its gesture was decided before.
    @discardableResult
    mutating func decide(_ id: TransitionID, _ gesture: DecidedGesture, in step: inout Step) -> TransitionView? {
        guard var transition = durable.transitions[id], !transition.isEnded, transition.gesture == nil else {
            return nil
        }
        step.keep(.decide(id, gesture))
        transition.decide(gesture)
        durable.transitions[id] = transition
        momentary.attention[id]?.progress = nil
        tell(.released, transition, in: &step)
        // Before the grant there is nothing to undo, so no end of the owner is needed.
        if gesture.decision == .cancel, transition.state == .queued {
            return endAndGrant(id, as: .cancelled, in: &step)
        }
        return view(of: transition, at: step.now)
    }

    /// An interactive transition, unfinished or ended by its owner.
    ///
    /// - Throws: `unknownTransition`, `wrongToken`, `notInteractive`, `endedWithoutOwner`.
    private mutating func interactive(
        _ id: TransitionID, token: Token, in step: borrowing Step
    ) throws(ArbiterError) -> Transition {
        let transition = try owned(id, token: token, in: step)
        guard transition.request.isInteractive else { throw .notInteractive(id) }
        if case .ended(let ending) = transition.phase, !ending.outcome.isOwners {
            throw .endedWithoutOwner(view(of: transition, at: step.now))
        }
        return transition
    }
}

extension TransitionOutcome {
    /// Whether it is an outcome that owners choose, which a no-op gets too.
    var isOwners: Bool {
        switch self {
        case .completed, .cancelled: true
        case .expired, .rejected, .superseded, .revoked: false
        }
    }
}
