/// The outcomes that an owner may end its transition with.
package enum EndOutcome: String, Hashable, Sendable, CaseIterable {
    case completed
    case cancelled
}
