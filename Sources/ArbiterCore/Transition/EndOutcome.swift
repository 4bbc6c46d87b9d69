/// What an owner may end a transition as.
package enum EndOutcome: String, Hashable, Sendable, CaseIterable {
    case completed
    case cancelled
}
