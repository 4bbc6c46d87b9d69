internal import ArbiterCore

// What commands do to the time of sessions, and to fingers.

extension Simulation {
    /// Follows what a command does to what is momentary.
    mutating func keepVigil(_ command: Command, _ reply: Result<Reply, ArbiterError>) throws(Broken) {
        switch command {
        case .openSession(_, let timeToLive, let id, _):
            if case .success = reply {
                vigils.open(id, timeToLive: timeToLive, at: now)
                statistics.count(.sessionsOpened)
            }
        case .start(let request, let id, _), .serialize(let request, let id, _, _):
            if isNew(id, in: reply), let session = request.session.flatMap({ oracle.sessions[$0] }) {
                vigils.hear(session.id, at: now)
            }
        case .ready(_, _, let token):
            if case .success = reply, let id = oracle.sessions[token]?.id { vigils.hear(id, at: now) }
        case .renewSession(let token): if let id = oracle.sessions[token]?.id { vigils.hear(id, at: now) }
        case .attach(let token):
            if let id = oracle.sessions[token]?.id { vigils.attach(id) }
        case .detach(let id): vigils.detach(id, grace: configuration.limits.grace, at: now)
        case .closeSession(let id, let ending):
            vigils.close(id)
            ledger.close(id, sequence: journal.last)
            if ending == .expired { statistics.count(.sessionsExpired) }
        case .progress(let id, _, let progress):
            if case .success(.progress(_, true)) = reply { ledger.drive(id, to: progress) }
        case .endSession, .await, .end, .revoke, .renew, .release, .declare, .delete, .leave, .drain, .expire, .decide,
            .markReady, .settle, .distrust, .skipFences, .resume, .answer:
            break
        }
        guard case .success(.session(let view)) = reply else { return }
        if case .openSession = command { ledger.open(view.session.id, sequence: journal.last) }
        if case .endSession = command {
            vigils.close(view.session.id)
            ledger.close(view.session.id, sequence: journal.last)
        }
        guard view.remaining == vigils.remaining(of: view.session.id, at: now) else {
            throw Broken(.session, "\(view.session.id) is said to have \(String(describing: view.remaining)) left")
        }
    }

    private func isNew(_ id: TransitionID, in reply: Result<Reply, ArbiterError>) -> Bool {
        switch reply {
        case .success(.transition(let view)): view.transition.id == id
        case .success(.parked): ledger.entries.last?.id == id
        case .success, .failure: false
        }
    }
}
