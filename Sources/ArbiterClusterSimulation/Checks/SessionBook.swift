internal import ArbiterCore

/// What clients know of their sessions.
struct SessionBook {
    struct Known {
        let id: SessionID
        let token: Token
        let client: String
        let timeToLive: Duration
        /// Until when its client believes that it lives.
        var believed: Instant
        /// Whether its client has closed a connection and has no other one: then it may have only its grace.
        var isDoubtful = false
        /// When its client sent its end, closed its last stream, or died.
        var endedAt: Instant?
    }

    private(set) var known: [SessionID: Known] = [:]

    mutating func open(_ session: Session, by client: String, sent: Instant) {
        known[session.id] = Known(
            id: session.id, token: session.token, client: client, timeToLive: session.timeToLive,
            believed: sent.advanced(by: session.timeToLive))
    }

    /// A word of its client is acknowledged, by its home or by a guest.
    ///
    /// A guest hears a little later than its home that a session is over; so what it answers tells nothing to a client that
    /// had to take its session for lost when it asked.
    mutating func noteWord(in id: SessionID, sent: Instant, byHome: Bool = true) {
        guard let session = known[id], byHome || sent < session.believed else { return }
        known[id]?.believed = max(session.believed, sent.advanced(by: session.timeToLive))
    }

    mutating func doubt(_ id: SessionID, _ isDoubtful: Bool) { known[id]?.isDoubtful = isDoubtful }

    mutating func noteEnd(of id: SessionID, at now: Instant) {
        if known[id]?.endedAt == nil { known[id]?.endedAt = now }
    }

    /// A record or an answer says that a session has ended.
    func checkEnd(of id: SessionID, at now: Instant, as told: String) throws(Broken) {
        guard let session = known[id], session.endedAt == nil, !session.isDoubtful, now < session.believed else {
            return
        }
        throw Broken(
            .session,
            "the session of \(session.client) has ended (\(told)), and its client may believe in it for "
                + "\(now.duration(to: session.believed)) more")
    }

    /// The tokens of the sessions that must have ended everywhere, if nothing has been wrong since an instant.
    func over(at now: Instant, quietSince: Instant) -> [Known] {
        known.values.filter { session in
            guard let ended = session.endedAt else { return false }
            // The slowest clock, the loss of a shard's owner, and the last reports.
            let longest = session.timeToLive * 5 / 4 + .seconds(12)
            return max(ended, quietSince).advanced(by: longest) < now
        }.sorted { $0.id < $1.id }
    }
}
