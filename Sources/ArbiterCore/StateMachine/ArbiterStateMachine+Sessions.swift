// Sessions: proofs of life, and what goes with them.

extension ArbiterStateMachine {
    mutating func performOnSession(_ command: Command, in step: inout Step) throws(ArbiterError) -> Reply {
        switch command {
        case .openSession(let client, let timeToLive, let id, let token):
            return try open(
                Session(id: id, token: token, client: client, timeToLive: timeToLive, startedAt: step.moment), in: &step
            )
        case .renewSession(let token):
            let session = try session(token)
            hear(session.id, at: step.now)
            return .session(view(of: session, at: step.now))
        case .attach(let token):
            let session = try session(token)
            momentary.attachments[session.id, default: 0] += 1
            momentary.deadlines.cancel(.session(session.id))
            return .session(view(of: session, at: step.now))
        case .detach(let id):
            detach(id, at: step.now)
            return .done
        case .endSession(let token):
            let session = try session(token)
            step.record = .closeSession(session.id, .ended)
            close(session, because: .ended, in: &step)
            return .session(view(of: session, at: step.now))
        case .closeSession(let id, let ending):
            if let session = durable.sessions[id] { close(session, because: ending, in: &step) }
            return .done
        case .start, .serialize, .await, .end, .revoke, .renew, .progress, .release, .ready, .declare, .delete, .leave,
            .drain,
            .expire, .decide, .markReady, .settle, .distrust, .skipFences, .resume, .answer:
            preconditionFailure("\(command) is not about a session")
        }
    }

    private mutating func open(_ session: Session, in step: inout Step) throws(ArbiterError) -> Reply {
        guard durable.sessions.count < limits.sessions else { throw .tooManySessions(limit: limits.sessions) }
        try admitSession()
        step.isDurable = true
        let previous = durable.sessions.updateValue(session, forKey: session.id)
        precondition(previous == nil, "\(session.id) is in use")
        durable.memory.sessionCount += 1
        durable.index.enter(session)
        hear(session.id, at: step.now)
        return .session(view(of: session, at: step.now))
    }

    /// The session that a token is of.
    ///
    /// - Throws: `ArbiterError.unknownSession`.
    package func session(_ token: Token) throws(ArbiterError) -> Session {
        guard let session = durable.index.sessions[token].flatMap({ durable.sessions[$0] }) else {
            throw .unknownSession
        }
        return session
    }

    /// Takes note of a word of a session's client.
    mutating func hear(_ id: SessionID, at now: Instant) {
        guard momentary.attachments[id] == nil, let session = durable.sessions[id] else { return }
        momentary.deadlines.schedule(.session(id), at: now.advanced(by: session.timeToLive))
    }

    private mutating func detach(_ id: SessionID, at now: Instant) {
        guard let count = momentary.attachments[id] else { return }
        momentary.attachments[id] = count > 1 ? count - 1 : nil
        guard count == 1, durable.sessions[id] != nil else { return }
        momentary.deadlines.schedule(.session(id), at: now.advanced(by: limits.grace))
    }

    /// Ends a session, and with it all that is bound to it, in request order and before anything else is granted.
    private mutating func close(_ session: Session, because ending: SessionEnding, in step: inout Step) {
        step.isDurable = true
        let bound = (durable.index.bound[session.id] ?? []).compactMap { durable.transitions[$0] }
        let scenes = self.scenes(of: session)
        durable.sessions.removeValue(forKey: session.id)
        durable.memory.sessionCount -= 1
        durable.index.leave(session)
        momentary.deadlines.cancel(.session(session.id))
        momentary.attachments.removeValue(forKey: session.id)
        step.effects.append(.notify(.sessionEnded(session, ending)))
        for transition in bound.sorted(by: { $0.place < $1.place }) {
            close(transition.id, as: .expired(.sessionLost), in: &step)
        }
        if let client = session.client, durable.index.clients[client] == nil { partWith(client, in: &step) }
        for scene in scenes { publish(.sessionEnded(session.id, session.client, ending), in: scene, &step) }
        for scene in scenes { grantWhatIsFree(in: scene, step: &step) }
        prune(at: step.now)
    }

    /// Where a session has a part in anything, by name.
    private func scenes(of session: Session) -> [SceneName] {
        let participations = session.client.flatMap { durable.index.participations[$0] } ?? []
        let joined = participations.compactMap { durable.transitions[$0]?.request.scene }
        return session.scenes.union(joined).sorted { $0.description < $1.description }
    }

    package func view(of session: Session, at now: Instant) -> SessionView {
        let isAttached = momentary.attachments[session.id] != nil
        let deadline = momentary.deadlines[.session(session.id)]
        return SessionView(
            session: session,
            remaining: isAttached ? nil : deadline.map { max(.zero, now.duration(to: $0)) } ?? .zero)
    }

    /// Whether the id is one of a session that lives, and so cannot be given again.
    package func isInUse(_ id: SessionID) -> Bool { durable.sessions[id] != nil }
}

extension DurableState.Index {
    mutating func enter(_ session: Session) {
        sessions[session.token] = session.id
        if let client = session.client { clients[client, default: 0] += 1 }
        for scene in session.scenes { visitors[scene, default: []].insert(session.id) }
    }

    mutating func leave(_ session: Session) {
        sessions.removeValue(forKey: session.token)
        bound.removeValue(forKey: session.id)
        for scene in session.scenes {
            visitors[scene]?.remove(session.id)
            if visitors[scene]?.isEmpty == true { visitors.removeValue(forKey: scene) }
        }
        guard let client = session.client, let count = clients[client] else { return }
        clients[client] = count > 1 ? count - 1 : nil
    }

    /// Takes in a transition that is not over.
    mutating func enter(_ transition: Transition) {
        if let session = transition.session { bound[session, default: []].insert(transition.id) }
        for participant in transition.participants {
            participations[participant.client, default: []].insert(transition.id)
        }
        guard let coalescing = transition.request.coalescing, transition.isSerialized else { return }
        let place = DurableState.CoalescingPlace(scene: transition.request.scene, key: coalescing.key)
        self.coalescing[place, default: []].insert(transition.id)
    }

    /// Forgets a transition that is over.
    mutating func leave(_ transition: Transition) {
        if let session = transition.session { bound[session]?.remove(transition.id) }
        for participant in transition.participants {
            participations[participant.client]?.remove(transition.id)
            if participations[participant.client]?.isEmpty == true {
                participations.removeValue(forKey: participant.client)
            }
        }
        guard let coalescing = transition.request.coalescing else { return }
        let place = DurableState.CoalescingPlace(scene: transition.request.scene, key: coalescing.key)
        self.coalescing[place]?.remove(transition.id)
        if self.coalescing[place]?.isEmpty == true { self.coalescing.removeValue(forKey: place) }
    }
}
