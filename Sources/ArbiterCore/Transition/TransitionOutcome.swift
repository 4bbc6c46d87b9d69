/// How a transition ended.
package enum TransitionOutcome: Hashable, Sendable {
    /// Its owner ended it as done, or its operation would have changed nothing.
    case completed
    /// Its owner ended it without doing it.
    case cancelled
    /// The arbiter ended it, because its owner or its participants were silent or its session ended.
    case expired(ExpiryReason)
    /// It was not possible when its turn came.
    case rejected(Rejection)
    /// Another ticket with the same coalescing key, newer or older, remained instead.
    case superseded(by: TransitionID)
    /// An administrator ended it.
    case revoked(Revocation)
}

/// Why a transition was not possible when its turn came.
package enum Rejection: Hashable, Sendable {
    case expectationFailed(FailedExpectation)
    case invalidOperation(OperationRefusal)
    /// A controller of its scope no longer exists.
    case scopeGone(ControllerID)
    /// Its scene was deleted while it was set aside.
    case sceneGone
    /// While it prepared, a participant said that it must not run.
    case vetoed(by: ClientName, GivenReason?)

    /// The code that clients see.
    package var reason: String {
        switch self {
        case .expectationFailed: "expectation-failed"
        case .invalidOperation: "invalid-operation"
        case .scopeGone, .sceneGone: "scope-gone"
        case .vetoed: "vetoed"
        }
    }
}

/// Why the arbiter ended a transition without its owner.
package enum ExpiryReason: String, Hashable, Sendable, CaseIterable {
    /// Its owner was silent for the length of the lease.
    case lease
    /// While it was queued, its owner closed the connection or was silent for the ticket's time.
    case abandoned
    /// Its turn came while its owner was not waiting, and the owner did not claim it.
    case unclaimed
    /// It was queued for the longest time that its request allows.
    case queueTimeout = "queue-timeout"
    /// The session that it was bound to ended.
    case sessionLost = "session-lost"
    /// Its participants were not ready in time.
    case participants
    /// It was granted for the longest time that its request allows.
    case hold
}
