/// The life of a session: what this process knows of its client, which decides when the session ends.
///
/// A session lives in its home, the shard in which it was opened, and as a guest in others.
struct SessionLife: Sendable {
    enum Place: Sendable {
        /// This shard alone decides when the session ends. `shards` have reported of a guest: none if they are not known yet,
        /// `nil` if there is no guest.
        case home(shards: [Int: GuestShard]? = nil)
        /// The home says when the session ends. `word` is there if the client has said something since the last report: `gone` if
        /// it was gone at every word.
        case away(word: ClientPresence? = nil)
    }

    enum Phase: Sendable {
        /// So many connections are attached. Can transition to: `silent`, `left`, `ending`.
        case attached(Int)
        /// The time of the session runs since then. Can transition to: `attached`, `left`, `ending`.
        case silent(since: Instant)
        /// The client has closed its last connection, and has said nothing since. If its words could not be counted later, the
        /// session has its full time since then. Can transition to: `attached`, `silent`, `ending`.
        case left(at: Instant, unheardUntil: Instant? = nil)
        /// What is bound to the session ends, a portion in each turn. Can transition to: nothing; then the session is over.
        case ending(Leaving)
    }

    private let timeToLive: Duration
    private var place: Place
    private var phase: Phase

    /// The life of a session that begins here, or that is known from the journal.
    init(of session: Session, _ place: Place, since now: Instant) {
        (timeToLive, self.place, phase) = (session.timeToLive, place, .silent(since: now))
    }

    var isGuest: Bool { if case .away = place { true } else { false } }
    var leaving: Leaving? { if case .ending(let leaving) = phase { leaving } else { nil } }

    /// Whether a word of the client shows that it lives: not if it has closed the last connection of the session, and that of
    /// the request too, which a process that was killed may have sent before.
    func counts(wordOf client: ClientPresence) -> Bool {
        switch phase {
        case .attached, .silent: true
        case .left: client == .present
        case .ending: false
        }
    }

    /// When the session ends unless its client says something; `nil` if it does not end by itself.
    ///
    /// A client that has left may have a connection to the process that served before, and not have noticed its end. So after a
    /// takeover its session has its full time at least.
    func deadline(grace: Duration, takenOverAt: Instant?) -> Instant? {
        if case .ending(let leaving) = phase { return leaving.since }
        guard case .home(let shards) = place else { return nil }
        // Words that are said elsewhere are heard of late.
        let full = timeToLive + (shards == nil ? .zero : Limits.reportMargin(of: timeToLive))
        switch phase {
        case .attached, .ending: return nil
        case .silent(let since), .left(_, let since?): return since.advanced(by: full)
        case .left(let left, nil):
            let end = left.advanced(by: grace)
            return takenOverAt.map { max(end, $0.advanced(by: full)) } ?? end
        }
    }
}

// MARK: - Transitions

extension SessionLife {
    mutating func attach() {
        switch phase {
        case .attached(let count): phase = .attached(count + 1)
        case .silent, .left: phase = .attached(1)
        case .ending: break
        }
    }

    /// An attached connection has closed; if the client is gone, and it was the last one, the client has left.
    mutating func detach(_ client: ClientPresence, at now: Instant) {
        guard case .attached(let count) = phase else { return }
        phase = count > 1 ? .attached(count - 1) : .silent(since: now)
        if client == .gone { leave(at: now) }
    }

    /// The client has closed its last connection, here or in a guest's shard.
    mutating func leave(at now: Instant) {
        switch phase {
        case .silent, .left: phase = .left(at: now)
        case .attached, .ending: return
        }
        forgetWord()
    }

    /// The client has said something.
    mutating func hear(_ client: ClientPresence, at now: Instant) {
        guard counts(wordOf: client) else { return }
        if case .away(let word) = place { place = .away(word: word == .present ? word : client) }
        if case .attached = phase { return }
        phase = .silent(since: now)
    }

    /// Words could not be counted until now, so the session has its full time.
    mutating func extend(at now: Instant) {
        switch phase {
        case .silent: phase = .silent(since: now)
        case .left(let left, _): phase = .left(at: left, unheardUntil: now)
        case .attached, .ending: break
        }
    }

    /// It turns out where the session is at home; what is known of its connections stays.
    mutating func settle(_ place: Place, at now: Instant) {
        self.place = place
        extend(at: now)
    }

    mutating func end(_ leaving: Leaving) { phase = .ending(leaving) }

    // MARK: At home

    /// A shard is about to have a guest, or has reported of it.
    mutating func note(_ shard: UInt16, at now: Instant) {
        guard case .home(let shards) = place else { return }
        place = .home(shards: (shards ?? [:]).merging([Int(shard): GuestShard(reportedAt: now)]) { $1 })
    }

    /// Whether the session lives on although its time is over: then it has its full time again, once.
    ///
    /// It does if a shard that has reported of it is silent since: words of the client may have been lost with the shard's
    /// owner. The next owner reports the client as heard, so the session waits for that. If its client has left, and so it
    /// had only `Limits.grace`, every shard must have reported since then, because the client may be connected there.
    mutating func excuse(at now: Instant) -> Bool {
        guard case .home(var shards?) = place else { return false }
        let silent = shards.filter { _, shard in
            guard !shard.isExcused else { return false }
            if case .left(let left, _) = phase { return shard.reportedAt <= left }
            return shard.reportedAt.duration(to: now) >= Limits.reportMargin(of: timeToLive)
        }
        guard !silent.isEmpty else { return false }
        for shard in silent.keys { shards[shard]?.isExcused = true }
        (place, phase) = (.home(shards: shards), .silent(since: now))
        return true
    }

    // MARK: As a guest

    /// The home has been told that the client has left, and says that the session lives.
    mutating func stay(at now: Instant) {
        if case .left = phase, isGuest { phase = .silent(since: now) }
    }

    /// The home knows what the client has said.
    mutating func forgetWord() {
        if isGuest { place = .away() }
    }

    /// What there is to report to the home, which is not reported again; `nil` if there is no guest.
    mutating func takeReport() -> (isHeard: Bool, client: ClientPresence)? {
        guard case .away(let word) = place else { return nil }
        forgetWord()
        return switch phase {
        case .attached: (true, .present)
        case .silent: (word != nil, word ?? .present)
        case .left: (false, .gone)
        case .ending: nil
        }
    }
}
