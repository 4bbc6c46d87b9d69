internal import ArbiterCore

/// The kind of an answer.
enum Verdict: Hashable {
    /// A new transition, as it stands.
    case new
    /// A transition that was known before, as it stands.
    case known(TransitionID)
    case parked
    case progress(isApplied: Bool)
    case session(SessionID)
    case declared(UInt64)
    case done
    case refused(Refusal)

    enum Refusal: Hashable {
        case busy
        case unknownTransition
        case unknownScene
        case unknownSession
        case wrongToken
        case alreadyEnded
        case alreadyDecided
        case decidedOtherwise
        case endedWithoutOwner
        case notInteractive
        case notRunning
        case tooLate
        case notAParticipant
        case holdingGrants
        case keyReused
        case queueFull
        case tooManyTransitions
        case tooManyScenes
        case outOfRoom
        case tooManySessions
        case unknownTransitionType
        case revisionMismatch
        case operationRefused(OperationRefusal.Code)
        case expectationFailed(ArbiterCore.Expectation)
    }

    init(_ reply: Result<Reply, ArbiterError>, to command: Command) {
        switch reply {
        case .success(.transition(let view)):
            self = view.transition.id == command.newID ? .new : .known(view.transition.id)
        case .success(.progress(_, let isApplied)): self = .progress(isApplied: isApplied)
        case .success(.session(let view)): self = .session(view.session.id)
        case .success(.declared(let revision)): self = .declared(revision.rawValue)
        case .success(.parked): self = .parked
        case .success(.done): self = .done
        case .failure(let error): self = .refused(Refusal(error))
        }
    }

    var isRefused: Bool {
        if case .refused = self { true } else { false }
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
        case .decidedOtherwise: self = .decidedOtherwise
        case .endedWithoutOwner: self = .endedWithoutOwner
        case .notInteractive: self = .notInteractive
        case .notRunning: self = .notRunning
        case .tooLate: self = .tooLate
        case .notAParticipant: self = .notAParticipant
        case .holdingGrants: self = .holdingGrants
        case .keyReused: self = .keyReused
        case .queueFull: self = .queueFull
        case .tooManyTransitions: self = .tooManyTransitions
        case .tooManyScenes: self = .tooManyScenes
        case .outOfRoom, .shareUsedUp: self = .outOfRoom
        case .tooManySessions: self = .tooManySessions
        case .unknownTransitionType, .unknownIntroTransitionType: self = .unknownTransitionType
        case .revisionMismatch: self = .revisionMismatch
        case .operationRefused(let refusal): self = .operationRefused(refusal.code)
        case .expectationFailed(let failure): self = .expectationFailed(failure.expectation)
        }
    }

    /// A rejection, where the request could not wait.
    init?(_ outcome: NaiveEnding.Outcome) {
        switch outcome {
        case .scopeGone: self = .operationRefused(.unknownController)
        case .expectationFailed(let expectation): self = .expectationFailed(expectation)
        case .invalidOperation(let code): self = .operationRefused(code)
        case .completed, .cancelled, .expired, .superseded, .revoked: return nil
        }
    }
}

extension Verdict {
    /// Tells verdicts apart, the same in every run.
    var number: UInt64 {
        switch self {
        case .new: 0
        case .known(let id): id.rawValue
        case .parked: 1
        case .progress(let isApplied): isApplied ? 2 : 3
        case .session(let id): id.rawValue
        case .declared(let revision): revision
        case .done: 4
        case .refused(let refusal): "\(refusal)".utf8.reduce(5) { $0 &* 31 &+ UInt64($1) }
        }
    }
}

extension Command {
    /// The id of the transition that it may make.
    var newID: TransitionID? {
        switch self {
        case .start(_, let id, _), .serialize(_, let id, _, _): id
        case .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .skipFences, .resume, .answer:
            nil
        }
    }

    var park: Park? {
        switch self {
        case .serialize(_, _, _, let park), .await(_, _, _, let park): park
        case .start, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .skipFences, .resume, .answer:
            nil
        }
    }
}
