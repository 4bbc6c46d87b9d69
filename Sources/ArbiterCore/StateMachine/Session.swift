/// A client's proof of life: when it ends, everything bound to it ends.
package struct Session: Hashable, Sendable {
    package let id: SessionID
    package let token: Token
    package let client: ClientName?
    /// How long it lives without a word, within `Limits.sessionDurations`.
    package let timeToLive: Duration
    package let startedAt: Moment
    /// Where it has asked for anything, and its end is told, as long as the scene is known.
    var scenes: Set<SceneName> = []
}

/// Why a session ended.
package enum SessionEnding: String, Hashable, Sendable, CaseIterable {
    /// Its client said so.
    case ended
    /// Nothing was heard of its client.
    case expired
}

/// A session as it stands at one instant.
package struct SessionView: Hashable, Sendable {
    package let session: Session
    /// What is left of its time; `nil` while a connection is attached to it.
    package let remaining: Duration?
}
