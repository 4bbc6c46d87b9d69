internal import ArbiterCore
internal import ArbiterModel

/// The kind of an answer.
enum Verdict: Hashable {
    /// A transition in its present state.
    case transition(TransitionID)
    case parked
    case progress(isApplied: Bool)
    case performed(isNoop: Bool)
    case session(SessionID)
    case attached
    case declared(StoryboardVersion)
    case done
    case guarding(GuardID)
    case revoked([TransitionID])
    /// What it says is in `Trial`.
    case dryRun
    /// How a scene is; what it says is an `Idleness`.
    case idleness
    case refused(Refusal)
    /// The journal has failed, or the engine is stopped.
    case unavailable

    enum Refusal: Hashable {
        case busy
        case unknownTransition
        case unknownScene
        case unknownSession
        case wrongToken
        case alreadyEnded
        case alreadyDecided
        case alreadyPerformed
        case interrupted
        case outsideScope
        case holdsNoHierarchy
        case olderRules
        case endedWithoutOwner
        case notInteractive
        case notRunning
        case tooLate
        case notAParticipant
        case mayNotVeto
        case namelessSession
        case unknownGuard
        case foreignGuard
        case tooManyGuards
        case guarded
        case recovering
        case idempotencyKeyReused
        case queueFull
        case tooManyTransitions
        case tooManyScenes
        case outOfRoom
        case tooManySessions
        case unknownTransitionType
        case versionMismatch
        case undeclared
        case inUse
        case invalidStoryboard
        case alreadyDeclared
        case operationRefused(OperationRefusal.Code)
        case expectationFailed(ArbiterCore.Expectation)
    }

    init(_ reply: Reply) {
        switch reply {
        case .transition(let view): self = .transition(view.transition.id)
        case .progress(let answer): self = .progress(isApplied: answer.isApplied)
        case .performed(let answer): self = .performed(isNoop: answer.plan == nil)
        case .session(let view): self = .session(view.session.id)
        case .attached: self = .attached
        case .declared(let version): self = .declared(version)
        case .done: self = .done
        case .guarding(let known): self = .guarding(known.id)
        case .revoked(let ids): self = .revoked(ids)
        case .dryRun: self = .dryRun
        case .idleness: self = .idleness
        case .refused(let error): self = .refused(Refusal(error))
        case .unavailable: self = .unavailable
        }
    }
}

extension Verdict.Refusal {
    init(_ error: ArbiterError) {
        switch error {
        case .busy: self = .busy
        case .unknownTransition: self = .unknownTransition
        case .unknownScene: self = .unknownScene
        case .unknownSession: self = .unknownSession
        case .wrongToken: self = .wrongToken
        case .alreadyEnded: self = .alreadyEnded
        case .alreadyDecided: self = .alreadyDecided
        case .alreadyPerformed: self = .alreadyPerformed
        case .interrupted: self = .interrupted
        case .outsideScope: self = .outsideScope
        case .holdsNoHierarchy: self = .holdsNoHierarchy
        case .olderRules: self = .olderRules
        case .endedWithoutOwner: self = .endedWithoutOwner
        case .notInteractive: self = .notInteractive
        case .notRunning: self = .notRunning
        case .tooLate: self = .tooLate
        // The simulation's clients have no principals.
        case .foreignTransition: self = .notAParticipant
        case .notAParticipant: self = .notAParticipant
        case .mayNotVeto: self = .mayNotVeto
        case .namelessSession: self = .namelessSession
        case .unknownGuard: self = .unknownGuard
        case .foreignGuard: self = .foreignGuard
        case .tooManyGuards, .tooManyGuardedScenes: self = .tooManyGuards
        case .guarded: self = .guarded
        case .recovering: self = .recovering
        case .idempotencyKeyReused: self = .idempotencyKeyReused
        case .queueFull: self = .queueFull
        case .tooManyTransitions: self = .tooManyTransitions
        case .tooManyScenes: self = .tooManyScenes
        case .lacksStorage, .outOfRoom, .shareUsedUp, .recordTooLarge, .leaseTooLong: self = .outOfRoom
        case .tooManySessions: self = .tooManySessions
        case .unknownTransitionType, .unknownIntroTransitionType: self = .unknownTransitionType
        case .versionMismatch: self = .versionMismatch
        case .undeclared: self = .undeclared
        case .inUse: self = .inUse
        case .invalidStoryboard: self = .invalidStoryboard
        case .alreadyDeclared: self = .alreadyDeclared
        case .operationRefused(let refusal): self = .operationRefused(refusal.code)
        case .expectationFailed(let failure): self = .expectationFailed(failure.expectation)
        }
    }

    /// The refusal of a `start` for a rejection that a ticket would get at its turn.
    init?(_ outcome: NaiveEnding.Outcome) {
        switch outcome {
        case .scopeGone: self = .operationRefused(.unknownController)
        case .expectationFailed(let expectation): self = .expectationFailed(expectation)
        case .invalidOperation(let code): self = .operationRefused(code)
        case .completed, .cancelled, .expired, .superseded, .revoked, .sceneGone, .vetoed: return nil
        }
    }

    /// Whether the operator gets a notice of it, because a limit was reached.
    var isForWantOfRoom: Bool {
        switch self {
        case .queueFull, .tooManyGuards, .tooManyTransitions, .tooManyScenes, .outOfRoom, .tooManySessions: true
        case .busy, .unknownTransition, .unknownScene, .unknownSession, .wrongToken, .alreadyEnded, .alreadyDecided,
            .alreadyPerformed, .interrupted, .outsideScope, .holdsNoHierarchy, .olderRules, .endedWithoutOwner,
            .notInteractive,
            .notRunning, .tooLate,
            .notAParticipant, .mayNotVeto, .namelessSession, .unknownGuard, .foreignGuard, .guarded, .recovering,
            .idempotencyKeyReused, .unknownTransitionType, .versionMismatch, .alreadyDeclared, .undeclared, .inUse,
            .invalidStoryboard,
            .operationRefused, .expectationFailed:
            false
        }
    }
}

extension Verdict {
    /// A number for the digest, the same in every run.
    var number: UInt64 {
        switch self {
        case .transition(let id): id.rawValue
        case .parked: 1
        case .progress(let isApplied): isApplied ? 2 : 3
        case .performed(let isNoop): isNoop ? 10 : 11
        case .session(let id): id.rawValue
        case .declared(let version): version.revision.rawValue &* 31 &+ version.patches
        case .done: 4
        case .guarding(let id): id.rawValue
        case .revoked(let ids): ids.reduce(12) { $0 &* 31 &+ $1.rawValue }
        case .attached: 6
        case .unavailable: 7
        case .dryRun: 8
        case .idleness: 9
        case .refused(let refusal): "\(refusal)".utf8.reduce(5) { $0 &* 31 &+ UInt64($1) }
        }
    }
}
