package import ArbiterCore

/// The other nodes, as far as sessions are concerned.
package protocol Peers: Sendable {
    /// Borrows a session from its home.
    ///
    /// - Parameters:
    ///   - word: the session, where it is used, and by whom.
    ///   - node: the address of the node of the home.
    ///   - patience: how long the answer is waited for.
    ///   - completion: called once, with `nil` only if the home has said that there is no such session.
    func lend(
        _ word: GuestReport, by node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<LentSession?, PeerFailure>) -> Void)

    /// Reports to homes what was heard of their sessions.
    ///
    /// - Parameters:
    ///   - reports: what was heard.
    ///   - node: the address of the node of the homes.
    ///   - patience: how long the answer is waited for.
    ///   - completion: called once.
    func report(
        _ reports: [GuestReport], to node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<TakenReports, PeerFailure>) -> Void)
}

/// What a node has done with reports.
package struct TakenReports: Hashable, Sendable {
    /// The sessions that have ended; that is certain.
    package var ended: [Token]
    /// The shards of the homes that it does not serve, whose reports it has not taken.
    package var missing: Set<Int>

    package init(ended: [Token], missing: Set<Int> = []) { (self.ended, self.missing) = (ended, missing) }
}

/// Another node did not answer what was asked.
package struct PeerFailure: Error {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
