/// What the event streams keep and allow.
package struct EventLimits: Hashable, Sendable {
    /// Events of one scene that are kept to resume from.
    package var ringEvents = 1024
    /// Bytes of one scene's events that are kept; the newest event is, however long.
    package var ringBytes = 1 << 20
    /// Scenes whose events are kept; beyond it the one that is idle longest goes, unless somebody reads it.
    package var rings = 1000
    /// Bytes of all scenes' events together; beyond it the same happens.
    package var allBytes = 128 << 20
    /// Events that may wait to be encoded; beyond it they are dropped, and their readers begin anew.
    package var waitingEvents = 16_384
    /// Bytes of what waits to be encoded, by the arbiter's estimate of what its transitions take.
    package var waitingBytes = 64 << 20
    /// Readers that may be woken and have not read yet; the others wait for them, so that requests are served in between.
    package var wakesAtOnce = 16
    /// After how much silence, at the latest, a stream says that it is alive.
    package var longestSilence = Duration.seconds(15)

    package init() {}
}
