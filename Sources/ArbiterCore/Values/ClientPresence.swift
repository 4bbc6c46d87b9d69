/// Whether a client may be there, as a request of it or the end of its connection shows.
package enum ClientPresence: Hashable, Sendable {
    /// Nothing shows that it is gone. If its connection was closed, it was answered, or something between closed it, such as a
    /// node that was lost.
    case present
    /// It has closed its connection: that of its request before that was read, or one that was attached or parked.
    case gone
}

/// Who says something, and whether it was there when that was read.
package struct Asker: Hashable, Sendable {
    package let caller: Caller
    package let presence: ClientPresence
    /// The session that the request names; `nil` where its word is heard apart.
    package let session: Token?

    package init(_ caller: Caller, _ presence: ClientPresence = .present, naming session: Token? = nil) {
        (self.caller, self.presence, self.session) = (caller, presence, session)
    }

    /// A client about which nothing has to be known.
    package static let anyone = Asker(.anyone)
}
