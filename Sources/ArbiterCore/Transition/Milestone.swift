/// What an await waits for.
package enum Milestone: String, Hashable, Sendable, CaseIterable {
    /// The transition is granted, or has ended.
    case granted
    /// The transition runs, or has ended.
    case running
    /// The interruption of the transition has begun, or it has ended.
    case interrupted
    /// The transition has ended.
    case ended
}
