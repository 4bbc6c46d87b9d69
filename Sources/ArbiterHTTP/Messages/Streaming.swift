/// Where a body comes from that is not there as a whole; it is pulled, piece by piece.
package protocol StreamSource: AnyObject, Sendable {
    /// Takes what comes next, at most so many bytes; called by one thread at a time.
    ///
    /// After `nothing` it is called again only once the outlet has been woken.
    func read(upTo count: Int) -> StreamPiece

    /// Whether it may have nothing for a while; then its client is watched, and a client that closes its side ends it.
    var maySleep: Bool { get }

    /// The client has closed its side, or the connection is over; called exactly once, from any thread.
    func close()
}

extension StreamSource {
    package var maySleep: Bool { true }
}

/// What a source has to give.
package enum StreamPiece: Hashable, Sendable {
    /// At least one byte.
    case bytes(ArraySlice<UInt8>)
    /// Nothing yet.
    case nothing
    /// Nothing ever again: the body ends as it should.
    case end
    /// The body cannot go on: the connection is closed, so that nobody takes this for its end.
    case cut
}

/// Where a body goes to, seen from its source.
package protocol StreamOutlet: AnyObject, Sendable {
    /// Has the source read again; may be called at any time, and never waits.
    func wake()

    /// Closes the connection, whether or not the client takes what is under way; may be called at any time.
    func cut()
}

/// A body that cannot be sent: the connection is closed.
final class CutSource: StreamSource {
    func read(upTo count: Int) -> StreamPiece { .cut }

    func close() {}
}

/// A body that is over before it has begun: what `HEAD` leaves of a stream.
final class EmptySource: StreamSource {
    func read(upTo count: Int) -> StreamPiece { .end }

    func close() {}
}
