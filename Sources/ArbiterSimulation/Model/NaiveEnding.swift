internal import ArbiterCore

/// How a transition is to end, without the words that are only for people.
struct NaiveEnding: Hashable {
    let outcome: Outcome
    var isNoop = false
    /// What it is to have done to the hierarchy.
    var change: Change?

    enum Outcome: Hashable {
        case completed
        case cancelled
        case expired(ExpiryReason)
        case scopeGone(ControllerID)
        case expectationFailed(ArbiterCore.Expectation)
        case invalidOperation(OperationRefusal.Code)
        case superseded(by: TransitionID)
        case revoked(RevocationReason)
    }

    struct Change: Hashable {
        let revision: UInt64
        let inserted: [ControllerID]
        let removed: [ControllerID]
    }
}

extension NaiveEnding {
    init(_ ending: Transition.Ending) {
        outcome = Outcome(ending.outcome)
        isNoop = ending.isNoop
        change = ending.change.map {
            Change(revision: $0.revision.rawValue, inserted: $0.inserted, removed: $0.removed)
        }
    }
}

extension NaiveEnding.Outcome {
    init(_ outcome: TransitionOutcome) {
        switch outcome {
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        case .expired(let reason): self = .expired(reason)
        case .rejected(.scopeGone(let controller)): self = .scopeGone(controller)
        case .rejected(.expectationFailed(let failure)): self = .expectationFailed(failure.expectation)
        case .rejected(.invalidOperation(let refusal)): self = .invalidOperation(refusal.code)
        case .superseded(let other): self = .superseded(by: other)
        case .revoked(let reason): self = .revoked(reason)
        }
    }
}

/// Something that is to be told of a scene, in the words of its events.
struct NaiveEvent: Hashable {
    let scene: SceneName
    let number: UInt64
    let kind: Kind

    enum Kind: Hashable {
        case transition(SceneEvent.Stage, TransitionID)
        case sessionEnded(SessionID, SessionEnding)
        case appearance(ControllerID, AppearanceEvent.Change, TransitionID)
        case changed(revision: UInt64, by: TransitionID?, inserted: [ControllerID], removed: [ControllerID])
    }
}

extension NaiveEvent {
    /// - Returns: `nil` for what is momentary.
    init?(_ event: SceneEvent) {
        guard let number = event.number else { return nil }
        scene = event.scene
        self.number = number.rawValue
        switch event.kind {
        case .transition(let stage, let view):
            kind = .transition(stage, view.transition.id)
        case .progress:
            return nil
        case .sessionEnded(let id, _, let ending):
            kind = .sessionEnded(id, ending)
        case .appearance(let event, let id):
            kind = .appearance(event.controller, event.change, id)
        case .hierarchyChanged(let revision, let id, let inserted, let removed):
            kind = .changed(revision: revision.rawValue, by: id, inserted: inserted, removed: removed)
        }
    }
}
