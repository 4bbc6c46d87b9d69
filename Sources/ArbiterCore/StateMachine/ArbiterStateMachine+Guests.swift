// Sessions that are used in several shards.
//
// A session is at home in the shard in which it was opened, which alone decides how long it lives. Where it is used besides,
// there is a guest: a session with the same id and token. Its shard reports the words of its client to the home, and learns
// there whether the session lives; what the home does not know has ended.

/// What a guest's shard reports of a session.
package struct GuestReport: BinaryCodable, Hashable, Sendable {
    package let token: Token
    /// The index of the shard that reports.
    package let shard: UInt16
    /// Whether its client was heard since the last report, or has a connection attached.
    package var isHeard: Bool
    /// Whether its client closed its last attached connection, and has said nothing since.
    ///
    /// If it was heard nevertheless, it had closed the connection of each request before that was read.
    package var hasLeft: Bool
    /// Who said something in the session, where its shard has no guest and so cannot tell whose it is; `nil` if it can.
    package var caller: Caller?

    package init(_ token: Token, from shard: UInt16, isHeard: Bool, hasLeft: Bool, caller: Caller? = nil) {
        (self.token, self.shard) = (token, shard)
        (self.isHeard, self.hasLeft, self.caller) = (isHeard, hasLeft, caller)
    }

    package func encode(to writer: inout BinaryWriter) {
        writer.write(token)
        writer.write(shard)
        writer.write(isHeard)
        writer.write(hasLeft)
        writer.write(caller)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        token = try reader.read()
        shard = try reader.read()
        isHeard = try reader.readBool()
        hasLeft = try reader.readBool()
        caller = try reader.readOptional()
    }
}

/// A session as its home lends it to another shard.
package struct LentSession: BinaryCodable, Hashable, Sendable {
    package let id: SessionID
    package let token: Token
    package let client: ClientName?
    package let timeToLive: Duration
    /// Who opened it.
    package let caller: Caller

    fileprivate init(_ session: Session) {
        (id, token, client) = (session.id, session.token, session.client)
        (timeToLive, caller) = (session.timeToLive, session.caller)
    }

    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(token)
        writer.write(client)
        writer.write(timeToLive)
        writer.write(caller)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        id = try reader.read()
        token = try reader.read()
        client = try reader.readOptional()
        timeToLive = try reader.read()
        caller = try reader.read()
    }
}

/// A shard that has reported of a guest.
struct GuestShard: Hashable, Sendable {
    let reportedAt: Instant
    /// Whether its silence has been taken into account.
    var isExcused = false
}

extension Limits {
    /// The longest time between two reports of a guest.
    package static let longestReportPause = Duration.seconds(1)
    /// How many reports there are within the time to live of a session, at least.
    private static let reportsInLife = 4
    /// A session with guests lives longer than its time to live by so many pauses between reports: two until a word of its
    /// client is reported, and one more if the guest's node has changed meanwhile.
    private static let pausesOfMargin = 3

    /// By how much later than a word of its client the home of a session may hear of it.
    static func reportMargin(of timeToLive: Duration) -> Duration {
        min(longestReportPause, timeToLive / reportsInLife) * pausesOfMargin
    }

    /// The time between two reports of a guest that lives so long, its margin included.
    package static func reportPause(ofGuestFor timeToLive: Duration) -> Duration {
        min(longestReportPause, timeToLive / (reportsInLife + pausesOfMargin))
    }
}

extension ArbiterStateMachine {
    /// At home: a session is about to have a guest, so words of its client may be heard of late.
    ///
    /// - Parameters:
    ///   - token: the token of the session.
    ///   - shard: the index of the other shard.
    ///   - step: the turn.
    /// - Returns: the session.
    /// - Throws: `unknownSession`.
    package mutating func lend(
        _ token: Token, to shard: UInt16, in step: inout Step
    ) throws(ArbiterError) -> LentSession {
        let session = try session(token)
        note(shard, of: session.id, at: step.now)
        hear(session.id, in: step)
        return LentSession(session)
    }

    /// At home: takes the report of a guest's shard.
    ///
    /// - Returns: whether the session lives.
    package mutating func take(_ report: GuestReport, in step: inout Step) -> Bool {
        guard let session = try? session(report.token) else { return false }
        if let caller = report.caller {
            // There is no guest.
            if own(report.token, of: caller) != nil { hear(session.id, isGone: report.hasLeft, at: step.now) }
            return true
        }
        note(report.shard, of: session.id, at: step.now)
        if report.isHeard {
            hear(session.id, isGone: report.hasLeft, at: step.now)
        } else if report.hasLeft, momentary.attachments[session.id] == nil {
            momentary.leftAt[session.id] = step.now
            momentary.deadlines.schedule(.session(session.id), at: endOfGrace(of: session, from: step.now))
        }
        return true
    }

    private mutating func note(_ shard: UInt16, of session: SessionID, at now: Instant) {
        momentary.guestShards[session, default: [:]][Int(shard)] = GuestShard(reportedAt: now)
    }

    /// Whether a session whose time is over lives on.
    ///
    /// A guest does, because its home alone decides when it ends. At home a session does if a shard that has reported of it is
    /// silent since: words of the client may have been lost with the shard's owner. Its next owner reports the client as heard,
    /// so the session waits for that: it has its full time again, once. If its client has left, and so it had only
    /// `Limits.grace`, every shard must have reported since then, because the client may be connected there.
    mutating func excuse(_ id: SessionID, at now: Instant) -> Bool {
        if momentary.guests.contains(id) {
            extend(id, at: now)
            return true
        }
        guard let session = durable.sessions[id], var shards = momentary.guestShards[id] else { return false }
        let margin = Limits.reportMargin(of: session.timeToLive)
        let silent = shards.filter { _, shard in
            guard !shard.isExcused else { return false }
            return momentary.leftAt[id].map { shard.reportedAt <= $0 } ?? (shard.reportedAt.duration(to: now) >= margin)
        }
        guard !silent.isEmpty else { return false }
        for shard in silent.keys { shards[shard]?.isExcused = true }
        momentary.guestShards[id] = shards
        momentary.leftAt.removeValue(forKey: id)
        extend(id, at: now)
        return true
    }

    /// After the shard has got another owner: any session may have guests, which have not reported here yet, or be one.
    ///
    /// - Parameters:
    ///   - isGuest: whether a session is at home in another shard.
    ///   - step: the turn.
    package mutating func expectGuests(where isGuest: (SessionID) -> Bool, in step: inout Step) {
        momentary.guests = Set(durable.sessions.keys.filter(isGuest))
        for (id, session) in durable.sessions {
            momentary.guestShards[id] = [:]
            momentary.deadlines.schedule(.session(id), at: step.now.advanced(by: timeLeft(for: session)))
        }
    }

    /// In another shard: a session of another home is used here from now on; nothing if it is already.
    ///
    /// - Parameters:
    ///   - session: the session, as its home lent it.
    ///   - step: the turn.
    /// - Throws: `tooManySessions`; `outOfRoom`.
    package mutating func admit(guest session: LentSession, in step: inout Step) throws(ArbiterError) {
        guard durable.index.sessions[session.token] == nil else { return }
        _ = try openSession(
            client: session.client,
            timeToLive: session.timeToLive + Limits.reportMargin(of: session.timeToLive), by: session.caller,
            id: session.id, token: session.token, in: &step)
        momentary.guests.insert(session.id)
    }

    /// In another shard: the home of a guest knows its session.
    ///
    /// A client that has left since the report has the time that it had; the next report says so.
    package mutating func confirm(_ report: GuestReport, in step: inout Step) {
        guard let session = try? session(report.token),
            report.hasLeft && !report.isHeard || momentary.leftAt[session.id] == nil
        else { return }
        momentary.leftAt.removeValue(forKey: session.id)
        extend(session.id, at: step.now)
    }

    /// In another shard: the client of a guest has said something on this node.
    ///
    /// - Parameters:
    ///   - token: the session.
    ///   - isKnown: whether its home has heard it itself; then there is nothing to report.
    ///   - isGone: whether it had closed its connection when that was read.
    ///   - step: the turn.
    package mutating func hear(guest token: Token, isKnown: Bool, isGone: Bool = false, in step: inout Step) {
        guard let session = try? session(token) else { return }
        hear(session.id, isGone: isGone, at: step.now)
        if isKnown { momentary.spoken.removeValue(forKey: session.id) }
    }

    /// In another shard: the home of a guest does not know its session any more.
    package mutating func end(guest token: Token, in step: inout Step) {
        guard let session = try? session(token) else { return }
        end(session.id, because: .expired, in: &step)
    }

    /// In another shard: what there is to report of its guests, whose words are not reported again.
    ///
    /// - Parameters:
    ///   - shard: the index of this shard.
    ///   - isGuest: whether a session is at home in another one.
    /// - Returns: the reports, with the session that each is about.
    package mutating func takeGuestReports(
        from shard: UInt16, where isGuest: (SessionID) -> Bool
    ) -> [(report: GuestReport, session: Session)] {
        let spoken = momentary.spoken
        momentary.spoken = [:]
        return durable.sessions.values.filter { isGuest($0.id) }.map { session in
            let isAttached = momentary.attachments[session.id] != nil
            let wasGone = isAttached ? false : spoken[session.id]
            let report = GuestReport(
                session.token, from: shard, isHeard: isAttached || wasGone != nil,
                hasLeft: wasGone ?? (momentary.leftAt[session.id] != nil))
            return (report, session)
        }
    }

    /// The tokens of the sessions that are at home in another shard.
    package var guestTokens: [Token] { momentary.guests.compactMap { durable.sessions[$0]?.token } }

    /// Whether a session is used here.
    package func knows(_ token: Token) -> Bool { durable.index.sessions[token] != nil }
}
