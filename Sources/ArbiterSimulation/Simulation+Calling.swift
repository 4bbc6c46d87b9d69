internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// The calls of the engine.

extension Simulation {
    mutating func submit(_ request: Request) throws(Broken) {
        try give(request)
        if chance.isOnce(in: 2) { try commitEverything() }
    }

    /// Submits one request right after another.
    mutating func submit(_ first: Request, _ second: Request) throws(Broken) {
        guard configuration.fault == .overtakingQueue else {
            try submit(first)
            return try submit(second)
        }
        for (request, heard) in [(first, second), (second, first)] {
            var pending = pending(for: request)
            pending.waiter = call(heard.ask, number: pending.number)
            try absorb(pending, isTurn: true)
        }
    }

    /// Passes a request to the engine, and checks the records, answers and events that result.
    mutating func give(_ request: Request) throws(Broken) {
        var pending = pending(for: request)
        try interfere(before: request.ask)
        pending.waiter = call(faulty(request.ask), number: pending.number)
        try absorb(pending, isTurn: true)
        try interfere(after: request.ask)
    }

    private mutating func pending(for request: Request) -> Pending {
        lastNumber += 1
        return Pending(request: request, number: lastNumber)
    }

    /// Calls the engine's method for an ask, with a completion that posts the answer under a number.
    ///
    /// - Returns: the waiter that the engine has parked.
    func call(_ ask: Ask, number: Int) -> WaiterID? {
        let (engine, mailbox) = (process.engine, process.mailbox)
        let transition = mailbox.answer(number, Reply.transition)
        switch ask {
        case .start(let request): engine.start(request, completion: transition)
        case .serialize(let request, let wait):
            return engine.serialize(request, wait: wait, completion: transition)
        case .dryRun(let request, let isSerialized):
            engine.dryRun(request, isSerialized: isSerialized, completion: mailbox.answer(number, Reply.dryRun))
        case .await(let id, let token, let milestone, let claims, let wait):
            return engine.wait(
                on: id, token: token, until: milestone, claims: claims, wait: wait, completion: transition)
        case .awaitIdle(let scene, let part, let quiet, let session, let wait):
            return engine.awaitIdle(
                scene, below: part, for: quiet, session: session, wait: wait,
                completion: mailbox.answer(number, Reply.idleness))
        case .look(let id):
            engine.read { machine, now throws(ArbiterError) in
                try machine.view(of: id, at: now)
            } completion: {
                transition($0)
            }
        case .end(let id, let token, let outcome): engine.end(id, token: token, as: outcome, completion: transition)
        case .revoke(let id, let reason): engine.revoke(id, because: reason, completion: transition)
        case .revokeAll(let scene, let client, let reason):
            engine.revokeAll(
                in: scene, of: client, because: reason, completion: mailbox.answer(number, Reply.revoked))
        case .update(let id, let token, let update): engine.update(id, token: token, update, completion: transition)
        case .renew(let id, let token): engine.renew(id, token: token, completion: transition)
        case .progress(let id, let token, let progress):
            engine.progress(id, token: token, progress, completion: mailbox.answer(number, Reply.progress))
        case .release(let id, let token, let release):
            engine.release(id, token: token, release, completion: transition)
        case .perform(let id, let token, let operation, let expectations, let ignoresGuards):
            engine.perform(
                id, token: token, operation, expecting: expectations, ignoresGuards: ignoresGuards,
                completion: mailbox.answer(number, Reply.performed))
        case .report(let readiness, let id, let client, let session):
            engine.report(readiness, on: id, client: client, session: session, completion: transition)
        case .addGuard(let scene, let controllers, let onSilence, let session):
            engine.addGuard(
                of: controllers, in: scene, onSilence: onSilence, session: session,
                completion: mailbox.answer(number, Reply.guarding))
        case .removeGuard(let scene, let id, let session):
            engine.removeGuard(id, of: scene, session: session, completion: mailbox.answer(number) { _ in .done })
        case .openSession, .renewSession, .endSession, .attach: callForSession(ask, number: number)
        case .declare(let scene, let storyboard, let precondition):
            engine.declare(
                scene, storyboard, if: precondition, completion: mailbox.answer(number, Reply.declared))
        case .patch(let scene, let patch, let precondition):
            engine.patch(scene, patch, if: precondition, completion: mailbox.answer(number, Reply.declared))
        case .delete(let scene, let precondition):
            engine.delete(scene, if: precondition, completion: mailbox.answer(number) { _ in .done })
        }
        return nil
    }

    private func callForSession(_ ask: Ask, number: Int) {
        let (engine, mailbox) = (process.engine, process.mailbox)
        let session = mailbox.answer(number, Reply.session)
        switch ask {
        case .openSession(let client, let timeToLive):
            engine.openSession(client: client, timeToLive: timeToLive, completion: session)
        case .renewSession(let token): engine.renewSession(token, completion: session)
        case .endSession(let token): engine.endSession(token, completion: session)
        case .attach(let token): engine.attach(token, completion: mailbox.answer(number, Reply.attached))
        case .start, .serialize, .dryRun, .await, .awaitIdle, .look, .end, .renew, .progress, .release, .perform,
            .report, .addGuard, .removeGuard,
            .revoke, .revokeAll, .update,
            .declare, .patch,
            .delete:
            preconditionFailure("\(ask) is not about a session")
        }
    }

    // MARK: - Calls without an answer

    /// The connection of a parked await closes.
    ///
    /// What is due comes first, and finds the await parked; it may even be answered, but nobody hears that.
    mutating func leave(_ leaving: Parked) throws(Broken) {
        statistics.count(.leaves)
        guard let waiter = leaving.waiter else { preconditionFailure("\(leaving.number) waits and has not parked") }
        process.engine.leave(waiter)
        note(.left(waiter))
        leavingAwait = leaving.number
        try absorb(isTurn: true)
        finishLeaving()
        leavingAwait = nil
    }

    /// The await whose connection closes in this turn is no longer parked, unless it was answered before.
    mutating func finishLeaving() {
        guard let index = parked.firstIndex(where: { $0.number == leavingAwait }) else { return }
        let left = parked.remove(at: index)
        // The time of a lease, or of a ticket whose request had a key, begins when its owner is no longer parked.
        let isExpected = oracle[left.transition].map { $0.isGranted || $0.request.idempotencyKey != nil } ?? false
        if isExpected, left.request.ask.isOwners { ledger.hear(left.transition, at: now, isWord: false) }
        if let session = left.session { vigils.detach(session, grace: configuration.limits.grace, at: now) }
    }

    /// A connection attached to a session closes.
    mutating func close(_ connection: Connection) throws(Broken) {
        statistics.count(.hangups)
        process.engine.detach(connection.attachment)
        note(.hungUp(connection.session))
        // The engine ignores connections from before it opened the journal again.
        let isKnown = connection.era == process.era && !isDown
        try absorb(isTurn: isKnown)
        // What is due comes first: connections of the session that are answered in this turn close before this one.
        if isKnown { vigils.detach(connection.session, grace: configuration.limits.grace, at: now) }
    }

    /// A client names its session in a request that needs none.
    mutating func hear(_ token: Token) throws(Broken) {
        guard let session = oracle.sessions[token]?.id, !isDown else { return }
        statistics.count(.sessionWords)
        process.engine.hear(token)
        note(.heard(session))
        try absorb(isTurn: true)
        // A session that was due has ended before.
        if !isDown, oracle.sessions[token] != nil { vigils.hear(session, at: now) }
    }

    mutating func drain() throws(Broken) {
        statistics.count(.drains)
        process.engine.drain()
        isDraining = true
        note(.drained)
        try absorb(isTurn: true)
        guard parked.isEmpty, idlers.isEmpty else {
            throw Broken(.wake, "\(parked.count + idlers.count) awaits wait through a drain")
        }
    }

    /// Rings the first bell of the alarm that is due.
    ///
    /// - Returns: whether one was due.
    mutating func ring() throws(Broken) -> Bool {
        guard let bell = process.alarm.takeDue() else { return false }
        statistics.count(.alarms)
        let before = observed
        bell()
        note(.rang)
        try absorb(isTurn: true)
        if observed == before { statistics.count(.idleAlarms) }
        return true
    }
}
