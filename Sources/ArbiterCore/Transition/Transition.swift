/// One request for the lock, from asking to its one outcome: the durable record.
package struct Transition: Hashable, Sendable {
    private let asked: Shared<Asked>
    /// Whoever must be ready before it runs, and how they stand.
    package internal(set) var participants: [Participant]
    /// What was decided of its gesture.
    package internal(set) var gesture: DecidedGesture?
    package internal(set) var phase: Phase

    /// What never changes about it; large, and so shared by its many copies.
    private struct Asked: Hashable, Sendable {
        let id: TransitionID
        let token: Token
        let order: RequestOrder
        let place: RequestOrder
        let isSerialized: Bool
        let request: TransitionRequest
        let scope: Scope
        let lease: Duration
        let requestedAt: Moment
        let requestedRevision: Revision
        let session: SessionID?
    }

    package var id: TransitionID { asked.value.id }
    package var token: Token { asked.value.token }
    package var order: RequestOrder { asked.value.order }
    /// Its place in line: its order, or that of the one which it took over from.
    package var place: RequestOrder { asked.value.place }
    /// Whether it was asked for with `serialize`, not with `start`.
    package var isSerialized: Bool { asked.value.isSerialized }
    package var request: TransitionRequest { asked.value.request }
    /// What it locks, its operation's own controllers included.
    package var scope: Scope { asked.value.scope }
    /// How long the granted transition may go without a word from its owner.
    package var lease: Duration { asked.value.lease }
    package var requestedAt: Moment { asked.value.requestedAt }
    /// Of the hierarchy as it was when the transition was asked for.
    package var requestedRevision: Revision { asked.value.requestedRevision }
    /// The session that it is bound to.
    package var session: SessionID? { asked.value.session }

    init(
        id: TransitionID, token: Token, order: RequestOrder, place: RequestOrder, isSerialized: Bool,
        request: TransitionRequest, scope: Scope, lease: Duration, requestedAt: Moment, requestedRevision: Revision,
        session: SessionID?, participants: [Participant], gesture: DecidedGesture?, phase: Phase
    ) {
        asked = Shared(
            Asked(
                id: id, token: token, order: order, place: place, isSerialized: isSerialized, request: request.packed,
                scope: scope, lease: lease, requestedAt: requestedAt, requestedRevision: requestedRevision,
                session: session))
        self.participants = participants
        self.gesture = gesture
        self.phase = phase
    }

    /// Where a transition is in its life.
    package indirect enum Phase: Hashable, Sendable {
        /// Waits for its turn. Can transition to: `preparing`, `running`, `ended`.
        case queued(Queued)
        /// Holds its scope and waits for its participants. Can transition to: `running`, `ended`.
        case preparing(Grant)
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
        /// Of the hierarchy as its owner finds it.
        package let revision: Revision
        /// The controller that really presents, or presented until now.
        package let presenter: ControllerID?
        /// As it was settled, where there is anything to animate.
        package let animation: Animation?
        /// What the views are told when it starts to run.
        package let appearance: [AppearanceEvent]

        /// The same for one that never ran.
        var untold: Grant {
            Grant(
                fence: fence, grantedAt: grantedAt, revision: revision, presenter: presenter, animation: animation,
                appearance: [])
        }
    }

    /// How it ended.
    package struct Ending: Hashable, Sendable {
        package let outcome: TransitionOutcome
        /// The grant, if there ever was one.
        package let grant: Grant?
        package let endedAt: Moment
        /// What it has done to the hierarchy, if anything.
        package let change: Change?
        /// Its operation would have done nothing, and so it locked nothing.
        package let isNoop: Bool
        /// What the views were told when it ended.
        package let appearance: [AppearanceEvent]
    }

    /// What an operation has done.
    package struct Change: Hashable, Sendable {
        /// Of the hierarchy as it has become.
        package let revision: Revision
        /// What came in; what is in it came along, and is not listed.
        package let inserted: [ControllerID]
        /// What went, in the order popped or dismissed; what is in it went along, and is not listed.
        package let removed: [ControllerID]
    }

    package var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    package var state: TransitionState {
        switch phase {
        case .queued: .queued
        case .preparing: .preparing
        case .running: .running
        case .ended: .ended
        }
    }

    /// What the lock gave, once it has.
    package var grant: Grant? {
        switch phase {
        case .queued: nil
        case .preparing(let grant), .running(let grant): grant
        case .ended(let ending): ending.grant
        }
    }

    /// Whoever was still missing when it ran without them, or was given up for them.
    package var laggards: [ClientName] {
        switch phase {
        case .queued, .preparing: []
        case .running, .ended: grant == nil ? [] : participants.filter(\.isMissing).map(\.client)
        }
    }

    package func hasReached(_ milestone: Milestone) -> Bool {
        switch phase {
        case .queued: false
        case .preparing: milestone == .granted
        case .running: milestone != .ended
        case .ended: true
        }
    }
}

/// The name of a phase.
package enum TransitionState: String, Hashable, Sendable, CaseIterable {
    case queued
    case preparing
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
    /// At its turn it was no longer possible.
    case rejected(Rejection)
    /// A newer one, or else an older one, with the same coalescing key is there in its stead.
    case superseded(by: TransitionID)
    /// An administrator took it from its owner.
    case revoked(RevocationReason)
}

/// Why a transition was not possible when its turn came.
package enum Rejection: Hashable, Sendable {
    case expectationFailed(FailedExpectation)
    case invalidOperation(OperationRefusal)
    /// A controller of its scope is not there any more.
    case scopeGone(ControllerID)

    package var reason: String {
        switch self {
        case .expectationFailed: "expectation-failed"
        case .invalidOperation: "invalid-operation"
        case .scopeGone: "scope-gone"
        }
    }
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
    /// The session that it was bound to ended.
    case sessionLost = "session-lost"
    /// Its participants were not ready in time.
    case participants
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
    /// Where the finger is that drives it, while it is not decided.
    package let progress: GestureProgress?
}
