internal import ArbiterCore

// How much of everything there was.

extension Simulation {
    mutating func count(_ outcome: TransitionOutcome, _ transition: Transition, _ ending: Transition.Ending) {
        switch outcome {
        case .completed: statistics.count(ending.isNoop ? .noops : .completed)
        case .cancelled: statistics.count(.cancelled)
        case .expired(.lease): statistics.count(.expiredLease)
        case .expired(.abandoned): statistics.count(.expiredAbandoned)
        case .expired(.unclaimed): statistics.count(.expiredUnclaimed)
        case .expired(.queueTimeout): statistics.count(.expiredQueueTimeout)
        case .expired(.sessionLost): statistics.count(.expiredSessionLost)
        case .expired(.participants): statistics.count(.expiredParticipants)
        case .rejected(.expectationFailed): statistics.count(.rejectedExpectation)
        case .rejected(.invalidOperation): statistics.count(.rejectedOperation)
        case .rejected(.scopeGone): statistics.count(.rejectedScope)
        case .superseded(let other):
            let isNewer = ledger.index(of: other) ?? 0 > ledger.index(of: transition.id) ?? 0
            statistics.count(isNewer ? .supersededByNewer : .supersededByOlder)
        case .revoked: statistics.count(.revoked)
        }
        guard ending.change != nil, let operation = transition.request.operation else { return }
        statistics.count(Statistics.Figure(operation.type))
        if case .expired = outcome { statistics.count(.appliedAtExpiry) }
    }

    mutating func count(_ verdict: Verdict, _ command: Command) {
        statistics.count(.commands)
        switch verdict {
        case .new: break
        case .done: if case .delete = command { statistics.count(.deleted) }
        case .declared: statistics.count(.declared)
        case .session: countSession(command)
        case .progress(let isApplied): statistics.count(isApplied ? .progress : .lateProgress)
        case .parked: statistics.count(.parked)
        case .known(let id): countKnown(id, command)
        case .refused(let refusal):
            statistics.count(.refusals)
            if let figure = Statistics.Figure(refusal) { statistics.count(figure) }
        }
        if case .settle(let id) = command, oracle[id]?.state == .running { statistics.count(.ranWithoutLaggards) }
    }

    private mutating func countSession(_ command: Command) {
        switch command {
        case .renewSession: statistics.count(.sessionsRenewed)
        case .attach: statistics.count(.attachments)
        case .endSession: statistics.count(.sessionsEnded)
        default: break
        }
    }

    private mutating func countKnown(_ id: TransitionID, _ command: Command) {
        switch command {
        case .start, .serialize: statistics.count(.repeatedRequests)
        case .end(_, _, .completed): if oracle[id]?.completesAtGrant == true { statistics.count(.rememberedEnds) }
        case .release: statistics.count(oracle[id]?.isGranted == true ? .released : .releasedEarly)
        case .ready: statistics.count(.readied)
        default: break
        }
    }
}

extension Statistics.Figure {
    fileprivate init(_ operation: OperationType) {
        switch operation {
        case .present: self = .presented
        case .dismiss: self = .dismissed
        case .push: self = .pushed
        case .pop: self = .popped
        case .popTo: self = .poppedTo
        case .popToRoot: self = .poppedToRoot
        case .setStack: self = .stackSet
        case .select: self = .selected
        case .showDetail: self = .detailShown
        case .segue: self = .segued
        }
    }

    fileprivate init?(_ refusal: Verdict.Refusal) {
        switch refusal {
        case .busy: self = .busy
        case .unknownTransition: self = .unknown
        case .unknownScene: self = .unknownScenes
        case .unknownSession: self = .unknownSessions
        case .wrongToken: self = .wrongTokens
        case .alreadyEnded, .alreadyDecided, .endedWithoutOwner: self = .lateEnds
        case .decidedOtherwise: self = .contradictions
        case .notInteractive: self = .notInteractive
        case .notRunning: self = .tooEarly
        case .tooLate: self = .tooLate
        case .notAParticipant: self = .strangers
        case .holdingGrants: self = .holdingGrants
        case .keyReused: self = .reusedKeys
        case .queueFull: self = .queueFull
        case .tooManyTransitions: self = .tooManyTransitions
        case .tooManyScenes: self = .tooManyScenes
        // The simulation limits no memory.
        case .outOfRoom: return nil
        case .tooManySessions: self = .tooManySessions
        case .unknownTransitionType: self = .unknownTypes
        case .revisionMismatch: self = .revisionMismatches
        case .operationRefused: self = .operationsRefused
        case .expectationFailed: self = .expectationsFailed
        }
    }
}
