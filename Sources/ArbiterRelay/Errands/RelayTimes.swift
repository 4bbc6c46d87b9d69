/// How long the nodes of a cluster wait for each other.
package struct RelayTimes: Hashable, Sendable {
    /// How long connecting to a node may take.
    package var connecting = Duration.seconds(2)
    /// How long a home may take to lend a session: longer than it may hold that request.
    package var lending = Duration.seconds(5)
    /// How long an answer may take beyond the wait of its request: the node may hold the request, and borrow its session.
    package var answering: Duration
    /// How long a node's part of a list may take.
    package var part = Duration.seconds(3)
    /// How long the stream of another node may be silent: two of its comments are missing then.
    package var silence: Duration
    /// How long a client's request is held until its shard has an owner: longer than another node needs to take over.
    package var holding: Duration
    /// How long a request of another node is held until its shard is served here: it may have been claimed already.
    package var settling = Duration.seconds(3)
    /// After how long an owner that has carried out nothing is asked again: it may begin to serve the shard at any time.
    package var asking = Duration.milliseconds(500)
    /// How long the answers of an earlier owner may be on their way once the map shows another one.
    package var grace = Duration.seconds(1)

    /// How long the stream of another node may be silent before it begins: the node may hold the request, and borrow its session.
    package var silenceBeforeHead: Duration { max(silence, settling + lending + .seconds(1)) }

    /// - Parameters:
    ///   - lease: after how long another node takes over.
    ///   - comments: how often streams have a comment, at least.
    package init(lease: Duration, comments: Duration) {
        (silence, holding) = (comments * 2, lease + .seconds(2))
        answering = settling + lending + .seconds(1)
    }
}
