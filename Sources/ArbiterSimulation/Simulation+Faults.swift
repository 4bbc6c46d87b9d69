internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// The planted faults between the clients and the engine, and in the engine's clock.

extension Simulation {
    /// The ask as the engine gets it, with the planted fault.
    mutating func faulty(_ ask: Ask) -> Ask {
        switch ask {
        case .serialize(let request, let wait): .serialize(faulty(request), wait: wait)
        case .end(let id, let token, let outcome): faultyEnd(of: id, token, outcome)
        case .renew(let id, let token): .renew(id, token: heard(token, of: id))
        case .start, .dryRun, .await, .awaitIdle, .look, .progress, .release, .perform, .report, .addGuard,
            .removeGuard,
            .openSession,
            .renewSession,
            .endSession,
            .revoke, .revokeAll, .update,
            .attach, .declare, .patch, .delete:
            ask
        }
    }

    private func faulty(_ request: TransitionRequest) -> TransitionRequest {
        guard let fault = configuration.fault else { return request }
        var heard = request
        switch fault {
        case .lostKey:
            // Only a repeated request loses its key.
            if ledger.entry(withKeyOf: request, at: now) != nil { heard.idempotencyKey = nil }
        case .orphanedTransition: heard.session = nil
        case .ignoredParticipant: heard.participants = []
        case .overtakingQueue, .skippedReplay, .repeatedFence, .answerBeforeCommit, .forgottenEnd, .unappliedEnd,
            .blindToken, .lostWake, .repeatedWake, .hastyExpiry, .missedDeadline, .ignoredAncestor,
            .appliedCancellation, .repeatedOperation, .greedyCoalescing, .repeatedEvent, .immortalSession,
            .countedPause, .overlookedMove, .ignoredArrival, .forgottenRow, .overtakenGrant, .ignoredPriority,
            .uselessInterruption, .blockingAside, .partialList, .lostColumn, .overlookedGuard, .sharedWithAll,
            .keptName:
            break
        }
        return heard
    }

    private mutating func faultyEnd(of id: TransitionID, _ token: Token, _ outcome: EndOutcome?) -> Ask {
        let isUnapplied = configuration.fault == .unappliedEnd && ledger[id]?.token == token && chance.isOnce(in: 20)
        if isUnapplied { return .look(id) }
        let isTurned = configuration.fault == .appliedCancellation && outcome == .cancelled
        return .end(id, token: heard(token, of: id), isTurned ? .completed : outcome)
    }

    /// The token as the engine gets it.
    private func heard(_ token: Token, of id: TransitionID) -> Token {
        configuration.fault == .blindToken ? ledger[id]?.token ?? token : token
    }

    /// Calls the engine before an ask, without the oracle's knowledge.
    mutating func interfere(before ask: Ask) throws(Broken) {
        if configuration.fault == .missedDeadline, chance.isOnce(in: 20) { process.time.skew(by: .seconds(-5)) }
        if configuration.fault == .hastyExpiry, chance.isOnce(in: 50), oracle.line.contains(where: \.isGranted) {
            process.time.skew(by: .seconds(10))
            defer { process.time.resetSkew() }
            try callSecretly(.look(TransitionID(rawValue: 0)))
        }
        if configuration.fault == .greedyCoalescing, case .serialize(let request, _) = ask {
            let running = oracle.line.first {
                $0.scene == request.scene && $0.isGranted && $0.request.coalescing?.key == request.coalescing?.key
            }
            guard request.coalescing != nil, let running, let reason = GivenReason("greed") else { return }
            try callSecretly(.revoke(running.id, reason))
        }
    }

    /// Calls the engine after an ask, without the oracle's knowledge.
    mutating func interfere(after ask: Ask) throws(Broken) {
        if configuration.fault == .missedDeadline { process.time.resetSkew() }
        if configuration.fault == .repeatedOperation, case .end(let id, _, .completed) = ask {
            guard let entry = ledger[id], entry.grant != nil, entry.ending != nil,
                let operation = entry.request.operation
            else { return }
            try callSecretly(
                .start(TransitionRequest(scene: entry.request.scene, scope: .operation, operation: operation)))
        }
    }

    /// Renews the sessions that expire before an instant, without the knowledge of the checks.
    mutating func renewSessionsSecretly(before target: Instant) throws(Broken) {
        guard configuration.fault == .immortalSession else { return }
        for (token, session) in oracle.sessions where vigils.isDue(session.id, at: target) {
            try callSecretly(.renewSession(token))
        }
    }

    private mutating func callSecretly(_ ask: Ask) throws(Broken) {
        _ = call(ask, number: 0)
        try absorb(isTurn: true)
    }
}
