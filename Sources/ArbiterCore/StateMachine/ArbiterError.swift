/// Why the arbiter refused a command.
///
/// A refused command has changed nothing.
package enum ArbiterError: Error, Hashable, Sendable {
    /// Something unfinished conflicts with a `start`, or with a declaration.
    case busy(Busy)
    /// No transition has this id, or it ended too long ago to be remembered.
    case unknownTransition(TransitionID)
    /// The hierarchy does not allow what a `start` would do, or a scope names what is not there.
    case operationRefused(OperationRefusal)
    /// What a `start` expects does not hold.
    case expectationFailed(FailedExpectation)
    /// The scene knows no transition type of this name.
    case unknownTransitionType(TransitionTypeName)
    /// A controller is to come in by a transition type that the storyboard lacks.
    case unknownIntroTransitionType(TransitionTypeName)
    /// The scene has another revision than the one that was to be replaced.
    case revisionMismatch(expected: Revision, actual: Revision?)
    /// No scene has this name.
    case unknownScene(SceneName)
    /// The token is not the transition's own.
    case wrongToken(TransitionID)
    /// The owner ended it before, and asks for something else now.
    case alreadyEnded(TransitionView)
    /// Its gesture has been decided otherwise.
    case decidedOtherwise(TransitionView)
    /// Nobody drives it.
    case notInteractive(TransitionID)
    /// It does not run yet.
    case notRunning(TransitionView)
    /// It runs already, or is over.
    case tooLate(TransitionView)
    /// No session has this token: it has ended, or never was.
    case unknownSession
    /// The session is another client's than the one it speaks for, or the client does not take part.
    case notAParticipant(ClientName)
    /// There are as many sessions as there may be.
    case tooManySessions(limit: Int)
    /// The owner said before that the ticket is to complete at its turn, and asks for something else now.
    case alreadyDecided(TransitionView)
    /// It ended without its owner.
    case endedWithoutOwner(TransitionView)
    /// Nothing is granted until leases that the journal may not know of are over.
    case holdingGrants(remaining: Duration)
    /// The idempotency key was given with another request.
    case keyReused(IdempotencyKey)
    /// The scene's queue is as long as it may get.
    case queueFull(limit: Int)
    /// There are as many unfinished transitions as there may be, over all scenes.
    case tooManyTransitions(limit: Int)
    /// The state takes as many bytes as it may.
    case outOfRoom(bytes: Int)
    /// Somebody has taken all of the bytes that one may.
    case shareUsedUp(MemoryShare, bytes: Int)
    /// There are as many scenes as there may be, and none of them is idle.
    case tooManyScenes(limit: Int)
}

extension ArbiterError {
    /// Whether the request would be admitted if the arbiter had more room.
    package var isForWantOfRoom: Bool {
        switch self {
        case .queueFull, .tooManyTransitions, .tooManyScenes, .tooManySessions, .outOfRoom, .shareUsedUp: true
        case .busy, .unknownTransition, .operationRefused, .expectationFailed, .unknownTransitionType,
            .unknownIntroTransitionType, .revisionMismatch, .unknownScene, .wrongToken, .alreadyEnded,
            .decidedOtherwise, .notInteractive, .notRunning, .tooLate, .unknownSession, .notAParticipant,
            .alreadyDecided, .endedWithoutOwner, .holdingGrants, .keyReused:
            false
        }
    }
}

/// Who is in the way of a `start`.
package struct Busy: Hashable, Sendable {
    /// The first in the way: one that runs, if any does.
    package let holder: TransitionView
    /// The unfinished transitions in the way, running ones first, `Limits.blockersShown` at most.
    package let blockers: [TransitionID]
}
