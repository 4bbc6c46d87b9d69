// Sessions: proofs that clients live, and the end of everything bound to them.

extension ArbiterStateMachine {
    /// A client opens a session.
    ///
    /// - Parameters:
    ///   - client: the name of the client.
    ///   - timeToLive: how long the session lives without a request, within `Limits.sessionDurations`.
    ///   - caller: who opens it; the session belongs to its principal.
    ///   - id: an id that is not in use.
    ///   - token: the token of the session.
    ///   - step: the turn.
    /// - Returns: the session.
    /// - Throws: `tooManySessions`, also if the principal has too many; `lacksStorage`, `outOfRoom`.
    package mutating func openSession(
        client: ClientName?, timeToLive: Duration, by caller: Caller = .anyone, id: SessionID, token: Token,
        in step: inout Step
    ) throws(ArbiterError) -> SessionView {
        guard durable.sessions.count < limits.sessions else { throw .tooManySessions(limit: limits.sessions) }
        try checkStorage()
        try admitSession()
        if let limit = limits.sessionsPerPrincipal, let principal = caller.principal,
            durable.index.uses[principal]?.sessions ?? 0 >= limit
        {
            throw .tooManySessions(limit: limit, of: principal)
        }
        step.keep(
            .openSession(client: client, timeToLive: timeToLive, id: id, token: token, by: caller))
        let session = Session(
            id: id, token: token, client: client, timeToLive: timeToLive, startedAt: step.moment,
            caller: durable.index.shared(caller))
        let previous = durable.sessions.updateValue(session, forKey: id)
        precondition(previous == nil, "\(id) is in use")
        durable.memory.sessionCount += 1
        durable.index.enter(session)
        begin(SessionLife(of: session, .home(), since: step.now), of: id)
        return view(of: session, at: step.now)
    }

    /// The client of a session shows that it is alive: the session's time starts again.
    ///
    /// - Throws: `unknownSession`.
    package mutating func renewSession(_ token: Token, in step: inout Step) throws(ArbiterError) -> SessionView {
        let session = try session(token)
        hear(session.id, in: step)
        return view(of: session, at: step.now)
    }

    /// The client of a session ends it.
    ///
    /// - Returns: the session; or that more is bound to it than ends in one turn, and its end follows.
    /// - Throws: `unknownSession`.
    package mutating func endSession(_ token: Token, in step: inout Step) throws(ArbiterError) -> SessionAnswer {
        guard let session = durable.session(of: token) else { throw .unknownSession }
        end(session.id, because: .ended, in: &step)
        let isOver = !momentary.lives.contains(session.id)
        return isOver ? .over(SessionView(session: session, remaining: .zero)) : .leaving(session.id)
    }

    /// A connection is attached to a session, which has no deadline while one is.
    ///
    /// - Throws: `unknownSession`.
    package mutating func attach(_ token: Token, in step: inout Step) throws(ArbiterError) -> SessionView {
        let session = try session(token)
        change(session.id) { $0?.attach() }
        return view(of: session, at: step.now)
    }

    /// An attached connection has closed.
    ///
    /// After the last one the session expires unless it is used: in `Limits.grace` if its client is gone, else in its full
    /// time. A guest does not: its home is told, and decides.
    package mutating func detach(_ id: SessionID, client: ClientPresence = .gone, in step: inout Step) {
        change(id) { $0?.detach(client, at: step.now) }
    }

    /// Notes a request that names a session, whatever it asks for; nothing if the session is not known.
    package mutating func hear(_ token: Token, in step: inout Step) {
        if let id = sessionID(of: token) { hear(id, in: step) }
    }

    /// Notes a request with the token of a transition: its owner and the session that binds it are alive.
    mutating func hear(ownerOf transition: Transition, in step: borrowing Step) {
        if let session = transition.session { hear(session, in: step) }
        attend(transition.id, at: step.now)
    }

    /// The session of a token.
    ///
    /// - Throws: `ArbiterError.unknownSession`.
    package func session(_ token: Token) throws(ArbiterError) -> Session {
        guard let session = sessionID(of: token).flatMap({ durable.sessions[$0] }) else { throw .unknownSession }
        return session
    }

    /// The session of a token, unless it is ending: then nobody can use it any more.
    func sessionID(of token: Token?) -> SessionID? {
        guard let id = token.flatMap({ durable.index.sessions[$0] }) else { return nil }
        return momentary.lives[id]?.leaving == nil ? id : nil
    }

    /// A request as it is decided and recorded: if it names no client, its client is that of its session.
    ///
    /// A request that is repeated after the end of its session keeps the client that it had.
    package func named(_ request: TransitionRequest) -> TransitionRequest {
        guard request.client == nil, let token = request.session else { return request }
        var named = request
        if let session = try? session(token) {
            named.client = session.client
        } else if let key = request.ownedKey,
            let earlier = durable.keys[key].flatMap({ transition($0) }), earlier.request.session == token
        {
            named.client = earlier.request.client
        }
        return named
    }

    /// Notes a request of a session's client: the session's time starts again, unless a connection is attached.
    ///
    /// A request that is no sign that its client lives is carried out, and the time runs on.
    mutating func hear(_ id: SessionID, in step: borrowing Step) {
        let (client, now) = (step.client, step.now)
        change(id) { $0?.hear(client, at: now) }
    }

    /// Attaches a parked await to the first of some sessions to which its request is a sign that their client lives.
    ///
    /// - Returns: that session.
    mutating func attachAwait(to sessions: [SessionID?], in step: borrowing Step) -> SessionID? {
        let client = step.client
        let kept = sessions.compactMap(\.self).first { momentary.lives[$0]?.counts(wordOf: client) == true }
        if let kept { change(kept) { $0?.attach() } }
        return kept
    }

    /// A session at an instant.
    package func view(of session: Session, at now: Instant) -> SessionView {
        SessionView(session: session, remaining: deadline(of: session.id).map { max(.zero, now.duration(to: $0)) })
    }

    /// Whether a living session has the id; then it must not be drawn again.
    package func isInUse(_ id: SessionID) -> Bool { durable.sessions[id] != nil }
}

extension ArbiterStateMachine {
    /// Begins the life of a session.
    mutating func begin(_ life: SessionLife, of id: SessionID) {
        momentary.lives[id] = life
        change(id) { _ in }
    }

    /// Changes the life of a session, and the deadline that follows from it.
    mutating func change<Result>(_ id: SessionID, _ transition: (inout SessionLife?) -> Result) -> Result {
        let result = transition(&momentary.lives[id])
        if let deadline = deadline(of: id) {
            momentary.deadlines.schedule(.session(id), at: deadline)
        } else {
            momentary.deadlines.cancel(.session(id))
        }
        return result
    }

    /// When a session ends unless its client says something.
    func deadline(of id: SessionID) -> Instant? {
        momentary.lives[id]?.deadline(grace: limits.grace, takenOverAt: momentary.takenOverAt)
    }
}

extension DurableState {
    /// The session of a token, also while it is ending.
    func session(of token: Token) -> Session? { index.sessions[token].flatMap { sessions[$0] } }
}

extension DurableState.Index {
    /// Adds a session.
    mutating func enter(_ session: Session) {
        sessions[session.token] = session.id
        selections[session.caller.scenes, default: 0] += 1
        if let client = session.client { clients[client, default: [:]][session.caller.scenes, default: 0] += 1 }
        if let principal = session.caller.principal { change(principal) { $0.sessions += 1 } }
        for scene in session.scenes { visitors[scene, default: []].insert(session.id) }
    }

    /// Removes a session that ends.
    mutating func leave(_ session: Session) {
        sessions.removeValue(forKey: session.token)
        if let same = selections[session.caller.scenes] {
            selections[session.caller.scenes] = same > 1 ? same - 1 : nil
        }
        bound.removeValue(forKey: session.id)
        if let principal = session.caller.principal { change(principal) { $0.sessions -= 1 } }
        for scene in session.scenes { leave(scene, session.id) }
        guard let client = session.client, var sessions = clients[client] else { return }
        let count = sessions[session.caller.scenes] ?? 0
        sessions[session.caller.scenes] = count > 1 ? count - 1 : nil
        clients[client] = sessions.isEmpty ? nil : sessions
    }

    /// The caller with the list of scenes that other sessions have already.
    func shared(_ caller: Caller) -> Caller {
        guard let index = selections.index(forKey: caller.scenes) else { return caller }
        return Caller(principal: caller.principal, scenes: selections[index].key)
    }

    /// Whether a client has a session that counts in a scene.
    func isPresent(_ client: ClientName, in scene: SceneName) -> Bool {
        clients[client]?.keys.contains { $0.contains(scene) } == true
    }

    /// The scenes in which a client's sessions count, without those of one that is ending.
    func selections(of client: ClientName?, besides leaving: SceneSelection? = nil) -> [SceneSelection] {
        let sessions = client.flatMap { clients[$0] } ?? [:]
        return sessions.filter { $0.key != leaving || $0.value > 1 }.map(\.key)
    }

    /// Notes that a session is no longer known in a scene.
    mutating func leave(_ scene: SceneName, _ session: SessionID) {
        visitors[scene]?.remove(session)
        if visitors[scene]?.isEmpty == true { visitors.removeValue(forKey: scene) }
    }

    private mutating func change(_ principal: PrincipalName, _ body: (inout DurableState.Use) -> Void) {
        var use = uses[principal] ?? DurableState.Use()
        body(&use)
        uses[principal] = use == DurableState.Use() ? nil : use
    }

    /// Adds an unfinished transition.
    mutating func enter(_ transition: Transition) {
        if let session = transition.session { bound[session, default: []].insert(transition.id) }
        if let principal = transition.request.principal { change(principal) { $0.unfinished += 1 } }
        enter(transition, of: transition.participatingClients)
        guard let coalescing = transition.request.coalescing else { return }
        let place = DurableState.CoalescingPlace(of: transition.request, coalescing)
        self.coalescing[place, default: RequestLine()].insert(transition.place)
    }

    /// Adds a transition to those in which clients take part.
    mutating func enter(_ transition: Transition, of clients: [ClientName]) {
        for client in clients { participations[client, default: SortedLine()].insert(transition.participation) }
    }

    /// Removes a transition that ends.
    mutating func leave(_ transition: Transition) {
        if let principal = transition.request.principal { change(principal) { $0.unfinished -= 1 } }
        if let session = transition.session {
            bound[session]?.remove(transition.id)
            if bound[session]?.isEmpty == true { bound.removeValue(forKey: session) }
        }
        for client in transition.participatingClients {
            participations[client]?.remove(transition.participation)
            if participations[client]?.isEmpty == true { participations.removeValue(forKey: client) }
        }
        guard let coalescing = transition.request.coalescing else { return }
        let place = DurableState.CoalescingPlace(of: transition.request, coalescing)
        self.coalescing[place]?.remove(transition.place)
        if self.coalescing[place]?.isEmpty == true { self.coalescing.removeValue(forKey: place) }
    }
}
