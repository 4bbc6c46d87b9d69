/// A client that a granted transition waits for before it runs.
package struct Participant: Hashable, Sendable {
    package let client: ClientName
    /// Whether the transition waits for it at all.
    package let isRequired: Bool
    package internal(set) var state: State

    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It has said nothing yet.
        case waiting
        case ready
        /// Its session has ended, which counts as ready.
        case gone
    }

    package init(client: ClientName, isRequired: Bool = true) {
        self.client = client
        self.isRequired = isRequired
        state = .waiting
    }

    /// Whether the transition waits for it still.
    var isMissing: Bool { isRequired && state == .waiting }
}

/// What becomes of a transition whose participants are not ready in time.
package enum UnreadyAction: String, Hashable, Sendable, CaseIterable {
    /// It runs without them.
    case proceed
    /// It is given up.
    case abort
}

/// By what a newer ticket and an older one are known to want the same.
package struct Coalescing: Hashable, Sendable {
    package let key: CoalescingKey
    package let keep: Keep

    package init(key: CoalescingKey, keep: Keep) {
        self.key = key
        self.keep = keep
    }

    /// Which of two stays.
    package enum Keep: String, Hashable, Sendable, CaseIterable {
        /// The newer one, in the place of the older.
        case latest
        case first
    }
}
