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
        try absorb(commands[0], Applied(earlier), rulebook.prediction(on: commands[0]), for: first)
        try absorb(commands[1], Applied(later), rulebook.prediction(on: commands[1]), for: second)
        try check()
        try decide()
    }

    private mutating func command(for ask: Ask) -> Command {
        switch ask {
        case .start(let request):
            .start(request, id: TransitionID(rawValue: chance.next()), token: freshToken())
        case .serialize(let request, let wait):
            .serialize(
                request, id: TransitionID(rawValue: chance.next()), token: freshToken(), park: park(for: wait))
        case .await(let id, let token, let milestone, let wait):
            .await(id, token: token, until: milestone, park: park(for: wait))
        case .end(let id, let token, let outcome): .end(id, token: token, outcome)
        case .revoke(let id, let reason): .revoke(id, reason)
        case .renew(let id, let token): .renew(id, token: token)
        case .progress(let id, let token, let progress): .progress(id, token: token, progress)
        case .release(let id, let token, let release): .release(id, token: token, release)
        case .ready(let id, let client, let session): .ready(id, client: client, session: session)
        case .openSession(let client, let timeToLive):
            .openSession(
                client: client, timeToLive: timeToLive, id: SessionID(rawValue: chance.next()), token: freshToken())
        case .renewSession(let token): .renewSession(token)
        case .endSession(let token): .endSession(token)
        case .attach(let token): .attach(token)
        case .declare(let scene, let storyboard, let revision): .declare(scene, storyboard, ifMatch: revision)
        case .delete(let scene, let revision): .delete(scene, ifMatch: revision)
        }
    }

    private mutating func freshToken() -> Token { Token(high: chance.next(), low: chance.next()) }

    private mutating func park(for wait: Duration?) -> Park? {
        guard let wait, wait > .zero else { return nil }
        lastWaiter += 1
        return Park(waiter: WaiterID(rawValue: lastWaiter), wait: wait)
    }

    private var rulebook: Rulebook { Rulebook(ledger: ledger, oracle: oracle, isDraining: isDraining, now: now) }

    // MARK: - Steps

    /// Applies one command and checks its answer and everything else.
    mutating func perform(_ command: Command, for request: Request? = nil) throws(Broken) {
        let prediction = rulebook.prediction(on: command)
        let applied = applied(command)
        let verdict = Verdict(applied.reply, to: command)
        guard verdict == prediction.verdict else {
            note(.applied(command, verdict, isDurable: applied.record != nil, sequence: journal.last))
            throw Broken(.reply, "\(command) is answered \(verdict), and \(prediction.verdict) was expected")
        }
        try absorb(command, applied, prediction, for: request)
        // Whatever a refused one may have changed all the same is found after the next that is not refused.
        guard !verdict.isRefused || !applied.effects.isEmpty else { return }
        let events = applied.record == nil ? [] : oracle.events
        try check(isDurable: applied.record != nil)
        try check(applied.events, against: events, of: command)
    }

    /// Does with an outcome what the engine does.
    private mutating func absorb(
        _ command: Command, _ applied: Applied, _ prediction: Prediction, for request: Request?
    ) throws(Broken) {
        let verdict = Verdict(applied.reply, to: command)
        guard applied.record == prediction.record else {
            throw Broken(
                .record,
                "\(command) is kept as \(String(describing: applied.record)), not \(String(describing: prediction.record))"
            )
        }
        let events = applied.events
        if let record = applied.record {
            // The fault: applied and answered, but never written down.
            let isForgotten = if configuration.fault == .forgottenEnd, case .end = command { true } else { false }
            if !isForgotten || !chance.isOnce(in: 20) { journal.append(record, at: moment, events) }
            follow(record, to: prediction.oracle)
            statistics.count(.records)
        }
        note(.applied(command, verdict, isDurable: applied.record != nil, sequence: journal.last))
        count(verdict, command)
        for case .wake(let waiter, let view) in applied.effects {
            if configuration.fault == .lostWake, chance.isOnce(in: 20) { continue }
            try wake(waiter, view, by: command)
            if configuration.fault == .repeatedWake, chance.isOnce(in: 20) { try wake(waiter, view, by: command) }
        }
        try keepVigil(command, applied.reply)
        try answer(applied.reply, to: command, for: request)
    }

    /// Takes note of a record everywhere beside the machine.
    mutating func follow(_ record: Command, to predicted: NaiveOracle? = nil) {
        if case .closeSession(let id, _) = record {
            for bound in oracle.line where bound.session == id { holds.relinquish(bound.id) }
        }
        // Whoever gives up for its participants never ran.
        if case .settle(let id) = record, oracle[id]?.request.onUnready == .abort { holds.relinquish(id) }
        if let predicted { oracle = predicted } else { oracle.apply(record) }
        let lease = record.request.map { oracle.scene($0.scene).storyboard.defaults.lease } ?? .zero
        ledger.note(record, at: moment, sequence: journal.last, lease: lease)
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
        withhold(.transition(view), for: waiting.request)
    }

    private mutating func withhold(_ content: Answer.Content, for request: Request) {
        withheld.append(Answer(request: request, content: content, computedAt: outside, sequence: journal.last))
    }

    private mutating func answer(
        _ reply: Result<Reply, ArbiterError>, to command: Command, for request: Request?
    ) throws(Broken) {
        guard let request else { return }
        switch reply {
        case .success(.transition(let view)), .success(.progress(let view, _)):
            if request.ask.isOwners { ledger.hear(view.transition.id, at: now) }
            withhold(.transition(view), for: request)
        case .success(.parked):
            guard let park = command.park else { throw Broken(.reply, "\(command) parks nobody") }
            guard let target = parkedOn(command) else { throw Broken(.reply, "\(command) parks on nothing") }
            if request.ask.isOwners { ledger.hear(target.id, at: now) }
            parked.append(
                Parked(
                    waiter: park.waiter, request: request, transition: target.id, milestone: target.milestone,
                    until: now.advanced(by: park.wait)))
        case .success(.session(let view)):
            if case .attach = command {
                connections.append(
                    Connection(session: view.session.id, client: request.client, life: request.life))
            }
            withhold(.session(view), for: request)
        case .failure(.unknownTransition(let id)): withhold(.unknown(id), for: request)
        case .failure(.unknownSession): withhold(.unknownSession, for: request)
        case .success(.declared), .success(.done), .failure: withhold(.nothing, for: request)
        }
    }

    private func parkedOn(_ command: Command) -> (id: TransitionID, milestone: Milestone)? {
        switch command {
        case .await(let id, _, let milestone, _):
            (id, milestone)
        case .serialize(let request, let id, _, _):
            (request.idempotencyKey.flatMap { ledger.entry(for: $0, at: now)?.id } ?? id, .granted)
        case .start, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .skipFences, .resume, .answer:
            nil
        }
    }
}

extension Command {
    /// What it asks for, if it is to make a transition.
    var request: TransitionRequest? {
        switch self {
        case .start(let request, _, _), .serialize(let request, _, _, _): request
        case .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .skipFences, .resume, .answer:
            nil
        }
    }
}
