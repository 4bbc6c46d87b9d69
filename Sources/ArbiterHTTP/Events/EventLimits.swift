/// The limits of the event streams.
package struct EventLimits: Hashable, Sendable {
    /// The most events in a topic's ring.
    ///
    /// What was published at once is kept for its readers until more is published, up to
    /// `waitingEvents`.
    package var ringEvents = 1024
    /// The most bytes in a topic's ring; the newest event is kept regardless of its size.
    package var ringBytes = 1 << 20
    /// The most topics with a ring; beyond it, the ring without readers that was used the longest ago is dropped.
    package var rings = 1000
    /// The most bytes in all rings together; beyond it the same happens.
    package var allBytes = 64 << 20
    /// The most events that wait to be encoded; beyond it they are dropped, and their readers get a reset.
    package var waitingEvents = 16_384
    /// The most bytes of events that wait for readers, by the arbiter's estimate of their transitions.
    package var waitingBytes = 32 << 20
    /// The most bytes in the states that resets tell, together, by the arbiter's estimate; the newest is held regardless of
    /// its size.
    ///
    /// A state is held once for all its readers, until they have read it. Beyond the limit, the readers of the oldest are cut
    /// off.
    package var resetBytes = 32 << 20
    /// The most readers that have been woken and have not read yet, so that requests are served in between.
    package var wakesAtOnce = 16
    /// The longest silence of a stream before it sends a comment.
    package var longestSilence = Duration.seconds(15)

    package init() {}
}
