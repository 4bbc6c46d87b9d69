internal import ArbiterCore

// The machine, with whatever fault is planted around it.

extension Simulation {
    mutating func applied(_ command: Command) -> Applied {
        switch (configuration.fault, command) {
        case (.unappliedEnd, .end):
            var changed = machine
            let outcome = changed.apply(command, at: moment)
            if !chance.isOnce(in: 20) { machine = changed }
            return Applied(outcome)
        case (.blindToken, .end(let id, _, let outcome)):
            guard let token = ledger[id]?.token else { break }
            return apply(.end(id, token: token, outcome))
        case (.blindToken, .renew(let id, _)):
            guard let token = ledger[id]?.token else { break }
            return apply(.renew(id, token: token))
        case (.lostKey, .serialize(var request, let id, let token, let park)):
            // The first time it is taken as it is.
            guard let key = request.idempotencyKey, ledger.entry(for: key, at: now) != nil else { break }
            request.idempotencyKey = nil
            return apply(.serialize(request, id: id, token: token, park: park))
        case (.appliedCancellation, .end(let id, _, .cancelled)), (.repeatedOperation, .end(let id, _, .completed)):
            return appliedOnceMore(command, id)
        case (.orphanedTransition, .closeSession(let id, _)):
            return orphaning(command, id)
        case (.orphanedTransition, .endSession(let token)):
            guard let session = oracle.sessions[token] else { break }
            return orphaning(command, session.id)
        case (.greedyCoalescing, .serialize(let request, _, _, _)): takeRunning(like: request)
        case (.repeatedEvent, _): return repeatingEvents(of: command)
        case (.ignoredParticipant, _):
            let outcome = apply(command)
            for entry in ledger.entries where entry.isUnfinished { _ = machine.apply(.settle(entry.id), at: moment) }
            return outcome
        default:
            break
        }
        return apply(command)
    }

    private mutating func apply(_ command: Command) -> Applied {
        Applied(machine.apply(command, at: moment))
    }

    /// Does what the operation of a transition that ends would do, without anybody having asked for it.
    private mutating func appliedOnceMore(_ command: Command, _ id: TransitionID) -> Applied {
        let operation = ledger[id].flatMap { $0.grant != nil && $0.isUnfinished ? $0.request.operation : nil }
        let outcome = apply(command)
        guard let operation, let scene = ledger[id]?.request.scene, outcome.record != nil else { return outcome }
        let request = TransitionRequest(scene: scene, scope: .operation, operation: operation)
        let (secret, token) = (TransitionID(rawValue: chance.next()), Token(high: chance.next(), low: 0))
        var changed = machine
        _ = changed.apply(.start(request, id: secret, token: token), at: moment)
        let isDone = changed.apply(.end(secret, token: token, .completed), at: moment).record != nil
        if isDone { machine = changed }
        return outcome
    }

    /// Ends all that is bound to a session but one, and says that the session is over.
    private mutating func orphaning(_ command: Command, _ id: SessionID) -> Applied {
        let bound = oracle.line.filter { $0.session == id }.map(\.id)
        var pretended = machine
        let outcome = Applied(pretended.apply(command, at: moment))
        guard !bound.isEmpty else {
            machine = pretended
            return outcome
        }
        for orphan in bound.dropLast() { _ = machine.apply(.expire(orphan, .sessionLost), at: moment) }
        return outcome
    }

    /// Ends what runs under the same coalescing key.
    private mutating func takeRunning(like request: TransitionRequest) {
        guard let key = request.coalescing?.key else { return }
        let running = oracle.line.first {
            $0.scene == request.scene && $0.isGranted && $0.request.coalescing?.key == key
        }
        if let running { _ = machine.apply(.expire(running.id, .abandoned), at: moment) }
    }

    private mutating func repeatingEvents(of command: Command) -> Applied {
        var outcome = apply(command)
        guard chance.isOnce(in: 20) else { return outcome }
        outcome.effects = outcome.effects.map { effect in
            guard case .publish(let event) = effect, let number = event.number else { return effect }
            return .publish(
                SceneEvent(
                    scene: event.scene, number: EventNumber(rawValue: number.rawValue - 1),
                    overall: event.overall, timestamp: event.timestamp, kind: event.kind))
        }
        return outcome
    }
}
