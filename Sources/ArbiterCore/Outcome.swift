/// What applying one command gave: the answer to whoever gave it, and what the shell now has to do.
package struct Outcome: Sendable {
    package let reply: Result<Reply, ArbiterError>
    /// In the order they came about; to be run once the command is committed.
    package let effects: [Effect]
    /// Whether the durable state changed: if so the command belongs into the journal.
    package let isDurable: Bool
}

/// The answer to a command.
package enum Reply: Hashable, Sendable {
    /// The transition as it stands.
    case transition(TransitionView)
    /// The answer will come as an `Effect.wake`.
    case parked
    /// The scene has been declared, and has this revision now.
    case declared(Revision)
    /// There is nothing to say.
    case done
}

/// What the shell has to do after a command.
package enum Effect: Hashable, Sendable {
    /// Answer the parked await.
    case wake(WaiterID, TransitionView)
    /// Tell whoever follows the scene.
    case publish(SceneEvent)
}
