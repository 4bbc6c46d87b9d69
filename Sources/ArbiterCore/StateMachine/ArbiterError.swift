/// Why the arbiter refused an event; a case is named like the code that clients see, if there is one.
///
/// A refused event has changed nothing.
package enum ArbiterError: Error, Hashable, Sendable {
    /// An unfinished transition conflicts with a `start`, or is in the scene that is to be declared or deleted.
    case busy(Busy)
    /// No transition has this id, or it ended too long ago to be remembered.
    case unknownTransition(TransitionID)
    /// The hierarchy does not allow the operation of a `start`, or a scope names a controller that does not exist.
    case operationRefused(OperationRefusal)
    /// An expectation of a `start` does not hold.
    case expectationFailed(FailedExpectation)
    /// The storyboard has no transition type of this name.
    case unknownTransitionType(TransitionTypeName)
    /// A controller to be inserted names a transition type that the storyboard does not have.
    case unknownIntroTransitionType(TransitionTypeName)
    /// The precondition is not met: the storyboard has another version, or nobody has declared one.
    case versionMismatch(expected: Precondition, actual: StoryboardVersion?)
    /// A client has declared the scene already.
    case alreadyDeclared(SceneName)
    /// No client has declared the scene.
    case undeclared(SceneName)
    /// An unfinished transition names what a patch replaces or removes.
    case inUse(StoryboardEntry, by: Busy)
    /// A patch would leave a storyboard that is invalid.
    case invalidStoryboard(StoryboardFault)
    /// No scene has this name.
    case unknownScene(SceneName)
    /// The token is not that of the transition.
    case wrongToken(TransitionID)
    /// The transition has ended, or its owner ended it before its turn, so that the event is no longer possible.
    case alreadyEnded(TransitionView)
    /// The gesture has been decided, and the event contradicts the decision or comes too late for it.
    case alreadyDecided(TransitionView)
    /// The transition has an operation already, and another one than the event gives it.
    case alreadyPerformed(TransitionView)
    /// The transition is being interrupted, and begins nothing any more.
    case interrupted(TransitionView)
    /// The operation that a running transition is given touches what it does not hold.
    case outsideScope(TransitionID)
    /// The transition is shared, or locks names in a scene that has no hierarchy: it can be given no operation.
    case holdsNoHierarchy(TransitionID)
    /// The rules of the journal, which nodes of an earlier version keep to, do not know what is asked for.
    case olderRules
    /// The transition is not interactive, so it has no gesture.
    case notInteractive(TransitionID)
    /// The transition does not run yet, or is not granted yet.
    case notRunning(TransitionView)
    /// A participant reports that it is ready after the transition ran or ended without it.
    case tooLate(TransitionView)
    /// The transition is that of another principal, and only an administrator ends those.
    case foreignTransition(TransitionID)
    /// No session has this token: it has ended or never existed.
    case unknownSession
    /// The session belongs to another client than the one named, or to none, or that client does not take part.
    case notAParticipant(ClientName?)
    /// The participant may only say that it is ready.
    case mayNotVeto(ClientName)
    /// Who guards controllers has to have a name, and the session has none.
    case namelessSession
    /// The scene has no guard with this id.
    case unknownGuard(GuardID)
    /// The guard is that of another session.
    case foreignGuard(GuardID)
    /// The limit of guarded controllers of the scene is reached.
    case tooManyGuards(limit: Int)
    /// The session guards something in as many scenes as it may.
    case tooManyGuardedScenes(limit: Int)
    /// An operation would remove what these guards are for, and nobody can be asked any more.
    case guarded([Guard])
    /// The limit of sessions is reached, in all or for a principal.
    case tooManySessions(limit: Int, of: PrincipalName? = nil)
    /// The transition ended, but not by its owner.
    case endedWithoutOwner(TransitionView)
    /// Grants are withheld until every lease that the journal may have lost has run out.
    case recovering(remaining: Duration)
    /// The idempotency key was used with a different request.
    case idempotencyKeyReused(IdempotencyKey)
    /// The limit of tickets in the scene is reached, or of those tickets and awaits that wait for a state of it.
    case queueFull(limit: Int, isForStates: Bool = false)
    /// The limit of unfinished transitions over all scenes is reached, in all or for a principal.
    case tooManyTransitions(limit: Int, of: PrincipalName? = nil)
    /// Hardly any room is left where the state is stored.
    case lacksStorage
    /// The lease of a request, or the default lease of its scene, is longer than the longest one.
    case leaseTooLong(limit: Duration, isDefault: Bool)
    /// The memory limit is reached.
    case outOfRoom(bytes: Int)
    /// The journal does not take a declaration of this size.
    case recordTooLarge(bytes: Int, limit: Int)
    /// A share of the memory is used up, while others are not.
    case shareUsedUp(MemoryShare, bytes: Int)
    /// The limit of scenes is reached, and no scene is idle.
    case tooManyScenes(limit: Int)
}

extension ArbiterError {
    /// Whether the request would be admitted if the arbiter had more room.
    package var isForWantOfRoom: Bool {
        switch self {
        case .queueFull, .tooManyGuards, .tooManyGuardedScenes, .tooManyTransitions, .tooManyScenes, .tooManySessions,
            .lacksStorage, .outOfRoom, .shareUsedUp:
            true
        case .busy, .unknownTransition, .operationRefused, .expectationFailed, .unknownTransitionType,
            .unknownIntroTransitionType, .versionMismatch, .alreadyDeclared, .undeclared, .inUse, .invalidStoryboard,
            .unknownScene, .wrongToken, .alreadyEnded, .alreadyDecided, .alreadyPerformed, .interrupted, .outsideScope,
            .holdsNoHierarchy,
            .olderRules,
            .notInteractive, .notRunning, .tooLate,
            .foreignTransition, .unknownSession, .notAParticipant, .mayNotVeto, .namelessSession, .unknownGuard,
            .foreignGuard, .guarded,
            .endedWithoutOwner, .recovering, .idempotencyKeyReused, .recordTooLarge, .leaseTooLong:
            false
        }
    }
}

extension ArbiterError {
    /// The refusal of a request for what would reject its transition at its turn.
    init(_ rejection: Rejection) {
        switch rejection {
        case .expectationFailed(let failure): self = .expectationFailed(failure)
        case .invalidOperation(let refusal): self = .operationRefused(refusal)
        // Only a ticket that is set aside ends so.
        case .sceneGone: preconditionFailure("a request is refused because its scene was deleted")
        case .vetoed: preconditionFailure("a request is refused because of a veto")
        case .scopeGone(let controller):
            self = .operationRefused(
                OperationRefusal(code: .unknownController, detail: "There is no controller <\(controller)>."))
        }
    }
}

/// An entry of a storyboard.
package enum StoryboardEntry: Hashable, Sendable {
    case segue(SegueIdentifier, source: ControllerID)
    case transitionType(TransitionTypeName)
}

/// The transitions that block a `start`, or a declaration, a patch or a deletion of a scene.
package struct Busy: Hashable, Sendable {
    /// The first of the blockers; a granted one, if there is any.
    package let holder: TransitionView
    /// The unfinished transitions that conflict, granted ones first, at most `Limits.blockersShown`.
    package let blockers: [TransitionID]
    /// Whether they, and all others in the way, are at most `Limits.blockersLookedAt`, and of the session of the request.
    package let isBySelf: Bool
}
