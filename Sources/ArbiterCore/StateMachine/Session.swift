/// A client's proof of life: when it ends, everything bound to it ends.
package struct Session: Hashable, Sendable {
    package let id: SessionID
    package let token: Token
    package let client: ClientName?
    /// How long it lives without a request of its client, within `Limits.sessionDurations`.
    package let timeToLive: Duration
    package let startedAt: Moment
    /// Who opened it: a request of another principal does not find it, and in a scene that this one could not use then, it
    /// is no participant's.
    package internal(set) var caller = Caller.anyone
    /// The scenes in which it requested transitions, except forgotten ones; its end is an event of each.
    var scenes: Set<SceneName> = []
}

/// Why a session ended.
package enum SessionEnding: String, Hashable, Sendable, CaseIterable {
    /// Its client ended it.
    case ended
    /// Its client sent no request and had no attached connection for too long.
    case expired
}

/// A session at one instant.
package struct SessionView: Hashable, Sendable {
    package let session: Session
    /// The time until it expires; `nil` while a connection is attached.
    package let remaining: Duration?

    package init(session: Session, remaining: Duration?) {
        self.session = session
        self.remaining = remaining
    }
}
