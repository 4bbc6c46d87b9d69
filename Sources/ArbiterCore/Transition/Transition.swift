/// One request for the lock, from asking to its one outcome: the durable record.
package struct Transition: Hashable, Sendable {
    package let id: TransitionID
    package let token: Token
    package let order: RequestOrder
    /// Whether it was asked for with `serialize`, not with `start`.
    package let isSerialized: Bool
    package let request: TransitionRequest
    package let requestedAt: Moment
    package internal(set) var phase: Phase

    /// Where a transition is in its life.
    package enum Phase: Hashable, Sendable {
        /// Waits for its turn. Can transition to: `running`, `ended`.
        case queued(Queued)
        /// Holds its scope. Can transition to: `ended`.
        case running(Grant)
        /// Over, with its one outcome. Can transition to: nothing.
        case ended(Ending)
    }

    /// What a queued transition knows.
    package struct Queued: Hashable, Sendable {
        /// Its owner has ended it already: at its turn it is granted and completed in one step.
        package var completesAtGrant = false
    }

    /// What the lock gave.
    package struct Grant: Hashable, Sendable {
        package let fence: Fence
        package let grantedAt: Timestamp
    }

    /// How it ended.
    package struct Ending: Hashable, Sendable {
        package let outcome: TransitionOutcome
        /// The grant, if there ever was one.
        package let grant: Grant?
        package let endedAt: Moment
    }

    package var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    package var state: TransitionState {
        switch phase {
        case .queued: .queued
        case .running: .running
        case .ended: .ended
        }
    }

    package func hasReached(_ milestone: Milestone) -> Bool {
        switch phase {
        case .queued: false
        case .running: milestone != .ended
        case .ended: true
        }
    }
}

/// The name of a phase.
package enum TransitionState: String, Hashable, Sendable, CaseIterable {
    case queued
    case running
    case ended
}

/// The one way in which a transition ended.
package enum TransitionOutcome: Hashable, Sendable {
    /// Its owner finished it.
    case completed
    /// Its owner gave up or undid it.
    case cancelled
    /// Nobody looked after it.
    case expired(ExpiryReason)
}

/// Why the arbiter gave a transition up.
package enum ExpiryReason: String, Hashable, Sendable, CaseIterable {
    /// Its owner was silent for its lease.
    case lease
    /// While it was queued its owner went away, or was silent for too long.
    case abandoned
    /// Its turn came while nobody was looking, and nobody came for it.
    case unclaimed
    /// It waited for as long as it was ready to.
    case queueTimeout = "queue-timeout"
}

/// A transition as it stands at one instant.
package struct TransitionView: Hashable, Sendable {
    package let transition: Transition
    /// What is left of the lease, while it runs.
    package let leaseRemaining: Duration?
    /// Its rank among the scene's queued transitions, from 1, while it is queued.
    package let position: Int?
    /// The unfinished transitions that keep it waiting, running ones first, `Limits.blockersShown` at most.
    package let blockers: [TransitionID]
}
