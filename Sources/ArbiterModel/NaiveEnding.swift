package import ArbiterCore

/// The expected end of a transition, without the texts that only people read.
package struct NaiveEnding: Hashable {
    package let outcome: Outcome
    package var isNoop = false
    /// The ticket for which it was interrupted.
    package var interruptedBy: TransitionID?
    /// The expected change of the hierarchy.
    package var change: Change?

    package enum Outcome: Hashable {
        case completed
        case cancelled
        case expired(ExpiryReason)
        case scopeGone(ControllerID)
        case sceneGone
        case vetoed(by: ClientName, GivenReason?)
        case expectationFailed(ArbiterCore.Expectation)
        case invalidOperation(OperationRefusal.Code)
        case superseded(by: TransitionID)
        case revoked(Revocation)
    }

    package struct Change: Hashable {
        package let revision: UInt64
        package let inserted: [ControllerID]
        package let removed: [ControllerID]
    }
}

extension NaiveEnding {
    /// Whether it ended for a client that knows nothing of its owner, before it ran.
    package var mayEndHold: Bool {
        switch outcome {
        case .vetoed, .superseded: true
        case .completed, .cancelled, .expired, .scopeGone, .sceneGone, .expectationFailed, .invalidOperation, .revoked:
            false
        }
    }

    package init(_ ending: Transition.Ending) {
        outcome = Outcome(ending.outcome)
        isNoop = ending.isNoop
        interruptedBy = ending.interruptedBy
        change = ending.change.map {
            Change(revision: $0.revision.rawValue, inserted: $0.inserted, removed: $0.removed)
        }
    }
}

extension NaiveEnding.Outcome {
    package init(_ outcome: TransitionOutcome) {
        switch outcome {
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        case .expired(let reason): self = .expired(reason)
        case .rejected(.sceneGone): self = .sceneGone
        case .rejected(.vetoed(let client, let reason)): self = .vetoed(by: client, reason)
        case .rejected(.scopeGone(let controller)): self = .scopeGone(controller)
        case .rejected(.expectationFailed(let failure)): self = .expectationFailed(failure.expectation)
        case .rejected(.invalidOperation(let refusal)): self = .invalidOperation(refusal.code)
        case .superseded(let other): self = .superseded(by: other)
        case .revoked(let revocation): self = .revoked(revocation)
        }
    }
}

/// An expected event of a scene.
package struct NaiveEvent: Hashable {
    package let scene: SceneName
    package let number: UInt64
    /// Its place among the events of all scenes.
    package let overall: UInt64
    package let kind: Kind

    package enum Kind: Hashable {
        case transition(SceneEvent.Stage, TransitionID)
        case sessionEnded(SessionID, SessionEnding)
        case sceneDeleted
        case appearance(ControllerID, AppearanceEvent.Change, TransitionID)
        case changed(revision: UInt64, by: TransitionID?, inserted: [ControllerID], removed: [ControllerID])
    }
}

extension NaiveEvent {
    /// Makes a comparable copy of an event; `nil` for a momentary one, which the oracle does not expect.
    package init?(_ event: SceneEvent) {
        guard let number = event.number, let overall = event.overall else { return nil }
        scene = event.scene
        self.number = number.rawValue
        self.overall = overall.rawValue
        switch event.kind {
        case .transition(let stage, let view):
            kind = .transition(stage, view.transition.id)
        case .progress:
            return nil
        case .sessionEnded(let id, _, let ending):
            kind = .sessionEnded(id, ending)
        case .appearance(let event, let id):
            kind = .appearance(event.controller, event.change, id)
        case .sceneDeleted:
            kind = .sceneDeleted
        case .hierarchyChanged(let news):
            kind = .changed(
                revision: news.revision.rawValue, by: news.transition, inserted: news.inserted, removed: news.removed)
        }
    }
}
