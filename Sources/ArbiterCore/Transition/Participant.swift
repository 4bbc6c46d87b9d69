/// A client that a granted transition waits for before it runs.
package struct Participant: Hashable, Sendable {
    package let client: ClientName
    /// Whether the transition waits for it.
    package let isRequired: Bool
    /// Whether it may have the transition rejected while it prepares.
    package let mayVeto: Bool
    package internal(set) var state: State

    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It has not reported that it is ready.
        case waiting
        case ready
        /// The last session of the client has ended; this counts as ready.
        case gone
    }

    package init(client: ClientName, isRequired: Bool = true, mayVeto: Bool = false) {
        self.client = client
        self.isRequired = isRequired
        self.mayVeto = mayVeto
        state = .waiting
    }

    /// The oldest rules that know it.
    var neededRules: Rules { mayVeto ? .second : .first }

    /// Whether the transition still waits for it.
    var isMissing: Bool { isRequired && state == .waiting }
}

/// What a participant says of a transition that prepares.
package enum Readiness: Hashable, Sendable {
    case ready
    /// It must not run, because of this reason, if one is given.
    case veto(GivenReason?)
}

/// What happens to a transition whose participants are not ready in time.
package enum UnreadyAction: String, Hashable, Sendable, CaseIterable {
    /// The transition runs without them.
    case proceed
    /// The transition expires.
    case abort
}

/// Marks tickets with the same key as equivalent: one of them is enough.
package struct Coalescing: Hashable, Sendable {
    package let key: CoalescingKey
    package let keep: Keep

    package init(key: CoalescingKey, keep: Keep) {
        self.key = key
        self.keep = keep
    }

    /// Which of two tickets with the same key remains.
    package enum Keep: String, Hashable, Sendable, CaseIterable {
        /// The newer one, in the place of the older one.
        case latest
        /// The older one.
        case first
    }
}
