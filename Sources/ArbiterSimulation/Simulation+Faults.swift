internal import ArbiterCore

// The machine, with whatever fault is planted in it.

extension Simulation {
    mutating func applied(_ command: Command) -> Outcome {
        switch (configuration.fault, command) {
        case (.unappliedEnd, .end):
            var changed = machine
            let outcome = changed.apply(command, at: moment)
            if !chance.isOnce(in: 20) { machine = changed }
            return outcome
        case (.blindToken, .end(let id, _, let outcome)):
            guard let token = ledger[id]?.token else { break }
            return machine.apply(.end(id, token: token, outcome), at: moment)
        case (.blindToken, .renew(let id, _)):
            guard let token = ledger[id]?.token else { break }
            return machine.apply(.renew(id, token: token), at: moment)
        case (.lostKey, .serialize(var request, let id, let token, let park)):
            // The first time it is taken as it is.
            guard let key = request.idempotencyKey, ledger.entry(for: key, at: now) != nil else { break }
            request.idempotencyKey = nil
            return machine.apply(.serialize(request, id: id, token: token, park: park), at: moment)
        default:
            break
        }
        return machine.apply(command, at: moment)
    }
}
