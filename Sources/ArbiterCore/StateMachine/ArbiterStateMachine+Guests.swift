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
    /// Whether its client has closed its last attached connection, and has said nothing since.
    ///
    /// If it was heard nevertheless, it had closed the connection of each request before that was read.
    package var client: ClientPresence
    /// Who said something in the session, where its shard has no guest and so cannot tell whose it is; `nil` if it can.
    ///
    /// Without the scenes that exist for the caller: they do not decide whose a session is, and there may be many patterns.
    package let caller: Caller?

    package init(_ token: Token, from shard: UInt16, isHeard: Bool, client: ClientPresence, caller: Caller? = nil) {
        (self.token, self.shard) = (token, shard)
        (self.isHeard, self.client) = (isHeard, client)
        self.caller = caller.map { Caller(principal: $0.principal) }
    }

    package func encode(to writer: inout BinaryWriter) {
        writer.write(token)
        writer.write(shard)
        writer.write(isHeard)
        writer.write(client == .gone)
        writer.write(caller)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        token = try reader.read()
        shard = try reader.read()
        isHeard = try reader.readBool()
        client = try reader.readBool() ? .gone : .present
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
        change(session.id) { $0?.note(shard, at: step.now) }
        hear(session.id, in: step)
        return LentSession(session)
    }

    /// At home: takes the report of a guest's shard.
    ///
    /// - Returns: whether the session lives.
    package mutating func take(_ report: GuestReport, in step: inout Step) -> Bool {
        guard let session = try? session(report.token) else { return false }
        // Who speaks where there is no guest may be another caller.
        if let caller = report.caller, own(report.token, of: caller) == nil { return true }
        change(session.id) { life in
            if report.caller == nil { life?.note(report.shard, at: step.now) }
            if report.isHeard || report.caller != nil {
                life?.hear(report.client, at: step.now)
            } else if report.client == .gone {
                life?.leave(at: step.now)
            }
        }
        return true
    }

    /// After the shard has got another owner: any session may have guests, which have not reported here yet, or be one.
    ///
    /// - Parameters:
    ///   - isGuest: whether a session is at home in another shard.
    ///   - step: the turn.
    package mutating func expectGuests(where isGuest: (SessionID) -> Bool, in step: inout Step) {
        for id in durable.sessions.keys {
            // The owner before may have heard the client without having reported it.
            change(id) { $0?.settle(isGuest(id) ? .away(word: .present) : .home(shards: [:]), at: step.now) }
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
        let guest = try openSession(
            client: session.client,
            timeToLive: session.timeToLive + Limits.reportMargin(of: session.timeToLive), by: session.caller,
            id: session.id, token: session.token, in: &step)
        begin(SessionLife(of: guest.session, .away(), since: step.now), of: session.id)
    }

    /// In another shard: the home of a guest knows its session.
    ///
    /// If the client has left only since the report, the next report says so.
    package mutating func confirm(_ report: GuestReport, in step: inout Step) {
        guard let session = try? session(report.token), report.client == .gone, !report.isHeard else { return }
        change(session.id) { $0?.stay(at: step.now) }
    }

    /// In another shard: the client of a guest has said something on this node.
    ///
    /// - Parameters:
    ///   - token: the session.
    ///   - isKnown: whether its home has heard it itself; then there is nothing to report.
    ///   - client: whether it was there.
    ///   - step: the turn.
    package mutating func hear(
        guest token: Token, isKnown: Bool, client: ClientPresence = .present, in step: inout Step
    ) {
        guard let session = sessionID(of: token) else { return }
        change(session) { life in
            life?.hear(client, at: step.now)
            if isKnown { life?.forgetWord() }
        }
    }

    /// In another shard: the home of a guest does not know its session any more.
    package mutating func end(guest token: Token, in step: inout Step) {
        guard let session = try? session(token) else { return }
        end(session.id, because: .expired, in: &step)
    }

    /// In another shard: what there is to report of its guests, whose words are not reported again.
    ///
    /// - Parameter shard: the index of this shard.
    /// - Returns: the reports, with the session that each is about.
    package mutating func takeGuestReports(from shard: UInt16) -> [(report: GuestReport, session: Session)] {
        var reports: [(report: GuestReport, session: Session)] = []
        for session in durable.sessions.values {
            guard let (isHeard, client) = momentary.lives[session.id]?.takeReport() else { continue }
            let report = GuestReport(session.token, from: shard, isHeard: isHeard, client: client)
            reports.append((report, session))
        }
        return reports
    }

    /// The tokens of the sessions that are at home in another shard.
    package var guestTokens: [Token] {
        momentary.lives.compactMap { id, life in life.isGuest ? durable.sessions[id]?.token : nil }
    }

    /// Whether a session is used here.
    package func knows(_ token: Token) -> Bool { sessionID(of: token) != nil }
}
