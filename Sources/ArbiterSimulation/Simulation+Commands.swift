internal import ArbiterCore

// From request to command, to answer, to checks: the part of the engine.

extension Simulation {
    mutating func submit(_ request: Request) throws(Broken) {
        try decide()
        try perform(command(for: request.ask), for: request)
        try decide()
        if chance.isOnce(in: 2) { commitEverything() }
    }

    /// One request right after another.
    mutating func submit(_ first: Request, _ second: Request) throws(Broken) {
        guard configuration.fault == .overtakingQueue else {
            try submit(first)
            return try submit(second)
        }
        try decide()
        let commands = [command(for: first.ask), command(for: second.ask)]
        let later = machine.apply(commands[1], at: moment)
        let earlier = machine.apply(commands[0], at: moment)
        try absorb(commands[0], earlier, for: first)
        try absorb(commands[1], later, for: second)
        try check()
        try decide()
    }

    private mutating func command(for ask: Ask) -> Command {
        switch ask {
        case .start(let request):
            .start(request, id: freshID(), token: freshToken())
        case .serialize(let request, let wait):
            .serialize(request, id: freshID(), token: freshToken(), park: park(for: wait))
        case .await(let id, let token, let milestone, let wait):
            .await(id, token: token, until: milestone, park: park(for: wait))
        case .end(let id, let token, let outcome):
            .end(id, token: token, outcome)
        case .renew(let id, let token):
            .renew(id, token: token)
        }
    }

    private mutating func freshID() -> TransitionID { TransitionID(rawValue: chance.next()) }
    private mutating func freshToken() -> Token { Token(high: chance.next(), low: chance.next()) }

    private mutating func park(for wait: Duration?) -> Park? {
        guard let wait, wait > .zero else { return nil }
        lastWaiter += 1
        return Park(waiter: WaiterID(rawValue: lastWaiter), wait: wait)
    }

    // MARK: - Steps

    /// Applies one command and checks its answer and everything else.
    mutating func perform(_ command: Command, for request: Request? = nil) throws(Broken) {
        let expected = Expectation(ledger: ledger, oracle: oracle, isDraining: isDraining, now: now).verdict(
            on: command)
        let outcome = applied(command)
        let verdict = try absorb(command, outcome, for: request)
        guard verdict == expected else {
            throw Broken(.reply, "\(command) is answered \(verdict), and \(expected) was expected")
        }
        try check()
    }

    /// Does with an outcome what the engine does.
    @discardableResult
    private mutating func absorb(
        _ command: Command, _ outcome: Outcome, for request: Request?
    ) throws(Broken) -> Verdict {
        let verdict = Verdict(outcome.reply, to: command)
        if let record = outcome.record {
            // The fault: applied and answered, but never written down.
            let isForgotten = if configuration.fault == .forgottenEnd, case .end = command { true } else { false }
            if !isForgotten || !chance.isOnce(in: 20) { journal.append(record, at: moment) }
            oracle.apply(record)
            ledger.note(record, at: moment, sequence: journal.last)
            statistics.count(.records)
        }
        note(.applied(command, verdict, isDurable: outcome.isDurable, sequence: journal.last))
        count(verdict, command, isDurable: outcome.isDurable)
        for case .wake(let waiter, let view) in outcome.effects {
            if configuration.fault == .lostWake, chance.isOnce(in: 20) { continue }
            try wake(waiter, view, by: command)
            if configuration.fault == .repeatedWake, chance.isOnce(in: 20) { try wake(waiter, view, by: command) }
        }
        try answer(outcome.reply, to: command, for: request)
        return verdict
    }

    private mutating func wake(_ waiter: WaiterID, _ view: TransitionView, by command: Command) throws(Broken) {
        guard let index = parked.firstIndex(where: { $0.waiter == waiter }) else {
            throw Broken(.wake, "\(waiter) is woken and does not wait")
        }
        let waiting = parked.remove(at: index)
        let isDue = command == .answer(waiter) || command == .drain
        guard view.transition.id == waiting.transition, isDue || view.transition.hasReached(waiting.milestone) else {
            throw Broken(.wake, "\(waiter) is woken for nothing")
        }
        statistics.count(.wakes)
        if waiting.request.ask.isOwners { ledger.hear(waiting.transition, at: now) }
        note(.woken(waiter, view.transition.id, view.transition.state))
        withheld.append(
            Answer(request: waiting.request, view: view, computedAt: now, sequence: journal.last))
    }

    private mutating func answer(
        _ reply: Result<Reply, ArbiterError>, to command: Command, for request: Request?
    ) throws(Broken) {
        guard let request else { return }
        switch reply {
        case .success(.transition(let view)):
            if request.ask.isOwners { ledger.hear(view.transition.id, at: now) }
            withheld.append(Answer(request: request, view: view, computedAt: now, sequence: journal.last))
        case .success(.parked):
            guard let park = command.park else { throw Broken(.reply, "\(command) parks nobody") }
            let target = parkedOn(command)
            guard let target else { throw Broken(.reply, "\(command) parks on nothing") }
            if request.ask.isOwners { ledger.hear(target.id, at: now) }
            parked.append(
                Parked(
                    waiter: park.waiter, request: request, transition: target.id, milestone: target.milestone,
                    until: now.advanced(by: park.wait)))
        case .success(.progress), .success(.session), .success(.declared), .success(.done), .failure:
            var unknown: TransitionID?
            if case .failure(.unknownTransition(let id)) = reply { unknown = id }
            withheld.append(
                Answer(request: request, view: nil, unknown: unknown, computedAt: now, sequence: journal.last))
        }
    }

    private func parkedOn(_ command: Command) -> (id: TransitionID, milestone: Milestone)? {
        switch command {
        case .await(let id, _, let milestone, _):
            (id, milestone)
        case .serialize(let request, let id, _, _):
            (request.idempotencyKey.flatMap { ledger.entry(for: $0, at: now)?.id } ?? id, .granted)
        case .start, .end, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .resume, .answer:
            nil
        }
    }
}
