/// The answer to a `serialize` or an `await`.
package enum AwaitAnswer: Hashable, Sendable {
    /// The transition at this instant.
    case now(TransitionView)
    /// The request is parked; an `Effect.wake` will answer it.
    case parked
}

/// The answer to a gesture's progress.
package struct ProgressAnswer: Hashable, Sendable {
    package let view: TransitionView
    /// False if it was ignored because a progress with a later sequence had arrived before.
    package let isApplied: Bool
}

/// The answer to a `perform`.
package struct PerformAnswer: Hashable, Sendable {
    package let view: TransitionView
    /// What the operation changes when the transition completes; `nil` if nothing, so that the transition still has none.
    package let plan: OperationPlan?
}

/// How an await parks.
package struct Park: Hashable, Sendable {
    package let waiter: WaiterID
    /// The longest it stays parked, within `Limits.waitDurations`.
    package let wait: Duration

    package init(waiter: WaiterID, wait: Duration) {
        self.waiter = waiter
        self.wait = wait
    }
}
