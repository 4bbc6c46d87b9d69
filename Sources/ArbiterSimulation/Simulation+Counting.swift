internal import ArbiterCore
internal import ArbiterModel

// The figures of the statistics.

extension Simulation {
    mutating func count(_ outcome: TransitionOutcome, _ transition: Transition, _ ending: Transition.Ending) {
        switch outcome {
        case .completed: statistics.count(ending.isNoop ? .noops : .completed)
        case .cancelled: statistics.count(.cancelled)
        case .expired(.lease): statistics.count(.expiredLease)
        case .expired(.hold): statistics.count(.expiredHold)
        case .expired(.abandoned): statistics.count(.expiredAbandoned)
        case .expired(.unclaimed): statistics.count(.expiredUnclaimed)
        case .expired(.queueTimeout): statistics.count(.expiredQueueTimeout)
        case .expired(.sessionLost): statistics.count(.expiredSessionLost)
        case .expired(.participants): statistics.count(.expiredParticipants)
        case .rejected(.expectationFailed): statistics.count(.rejectedExpectation)
        case .rejected(.invalidOperation): statistics.count(.rejectedOperation)
        case .rejected(.scopeGone): statistics.count(.rejectedScope)
        case .rejected(.sceneGone): statistics.count(.rejectedScene)
        case .rejected(.vetoed): statistics.count(.vetoed)
        case .superseded(let other):
            let isNewer = ledger.index(of: other) ?? 0 > ledger.index(of: transition.id) ?? 0
            statistics.count(isNewer ? .supersededByNewer : .supersededByOlder)
            if ending.grant != nil { statistics.count(.replacedPreparing) }
            if !isNewer, ledger[other]?.grant != nil { statistics.count(.gaveWayToGranted) }
        case .revoked: statistics.count(.revoked)
        }
        if ending.interruptedBy != nil { statistics.count(.interrupted) }
        guard ending.change != nil, let operation = transition.request.operation else { return }
        for type in operation.parts.compactMap(\.type) { statistics.countDone(type) }
        if operation.type == nil { statistics.count(.lists) }
        if case .expired = outcome { statistics.count(.appliedAtExpiry) }
    }

    mutating func count(_ verdict: Verdict, _ ask: Ask, isNew: Bool) {
        statistics.count(.asks)
        switch verdict {
        case .done:
            if case .removeGuard = ask { statistics.count(.guardsRemoved) } else { statistics.count(.deleted) }
        case .guarding: statistics.count(.guardsSet)
        case .revoked: if isNew { statistics.count(.scenesCleared) }
        case .declared: statistics.count(.declared)
        case .session, .attached: countSession(ask)
        case .progress(let isApplied): statistics.count(isApplied ? .progress : .lateProgress)
        case .performed(let isNoop): statistics.count(isNoop ? .performedNothing : isNew ? .performed : .performedAgain)
        case .parked: statistics.count(.parked)
        case .dryRun: statistics.count(.dryRuns)
        case .idleness: statistics.count(.idleAnswers)
        case .transition(let id): countTransition(id, ask, isNew: isNew)
        case .refused(let refusal):
            statistics.count(.refusals)
            if let figure = Statistics.Figure(refusal) { statistics.count(figure) }
        case .unavailable: break
        }
    }

    private mutating func countSession(_ ask: Ask) {
        switch ask {
        case .openSession: statistics.count(.sessionsOpened)
        case .renewSession: statistics.count(.sessionsRenewed)
        case .attach: statistics.count(.attachments)
        case .endSession: statistics.count(.sessionsEnded)
        case .start, .serialize, .dryRun, .await, .awaitIdle, .look, .end, .renew, .progress, .release, .perform,
            .report, .addGuard, .removeGuard,
            .revoke, .revokeAll, .update,
            .declare, .patch,
            .delete:
            break
        }
    }

    /// Counts an answer; the oracle is still in the state before its record.
    private mutating func countTransition(_ id: TransitionID, _ ask: Ask, isNew: Bool) {
        switch ask {
        case .start(let request), .serialize(let request, _):
            if !isNew { statistics.count(.repeatedRequests) }
            if isNew, ledger.hasKey(of: request, elsewhereAt: now) { statistics.count(.keysElsewhere) }
        case .end: if isNew, oracle[id]?.mustWaitToComplete == true { statistics.count(.rememberedEnds) }
        case .release: statistics.count(oracle[id]?.isGranted == true ? .released : .releasedEarly)
        case .report(.ready, _, _, _): statistics.count(.readied)
        case .report: break
        case .look: statistics.count(.looks)
        case .update: if isNew { statistics.count(.updates) }
        case .dryRun, .await, .awaitIdle, .renew, .progress, .perform, .addGuard, .removeGuard, .openSession,
            .renewSession, .endSession,
            .revoke, .revokeAll, .attach,
            .declare, .patch,
            .delete:
            break
        }
    }
}

extension Statistics.Figure {
    fileprivate init?(_ refusal: Verdict.Refusal) {
        switch refusal {
        case .busy: self = .busy
        case .unknownTransition: self = .unknown
        case .unknownScene: self = .unknownScenes
        case .unknownSession: self = .unknownSessions
        case .wrongToken: self = .wrongTokens
        case .alreadyEnded, .endedWithoutOwner: self = .lateEnds
        case .alreadyDecided: self = .contradictions
        case .alreadyPerformed: self = .secondOperations
        case .interrupted: self = .operationsInGrace
        // All calls are known under the first rules.
        case .olderRules: return nil
        case .notInteractive: self = .notInteractive
        case .notRunning: self = .tooEarly
        case .tooLate: self = .tooLate
        case .notAParticipant: self = .strangers
        case .mayNotVeto: self = .vetoesWithoutRight
        case .namelessSession, .unknownGuard, .foreignGuard: self = .foreignGuards
        case .tooManyGuards: self = .tooManyGuards
        case .guarded: self = .guardedPerforms
        case .recovering: self = .recovering
        case .idempotencyKeyReused: self = .reusedKeys
        case .queueFull: self = .queueFull
        case .tooManyTransitions: self = .tooManyTransitions
        case .tooManyScenes: self = .tooManyScenes
        // The simulation does not limit memory.
        case .outOfRoom: return nil
        case .tooManySessions: self = .tooManySessions
        case .unknownTransitionType: self = .unknownTypes
        case .versionMismatch: self = .versionMismatches
        case .undeclared: self = .undeclared
        case .inUse: self = .inUse
        case .invalidStoryboard: self = .invalidStoryboard
        case .alreadyDeclared: self = .alreadyDeclared
        case .operationRefused, .outsideScope, .holdsNoHierarchy: self = .operationsRefused
        case .expectationFailed: self = .expectationsFailed
        }
    }
}
