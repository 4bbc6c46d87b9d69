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
