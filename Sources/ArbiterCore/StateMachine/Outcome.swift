/// What applying one command gave: the answer to whoever gave it, and what the shell now has to do.
package struct Outcome: Sendable {
    package let reply: Result<Reply, ArbiterError>
    /// In the order they came about; to be run once the command is committed.
    package let effects: [Effect]
    /// What belongs into the journal, if the durable state changed: what the command came to.
    package let record: Command?

    package var isDurable: Bool { record != nil }
}

/// The answer to a command.
package enum Reply: Hashable, Sendable {
    /// The transition as it stands.
    case transition(TransitionView)
    /// The transition as it stands, and whether the finger's move counted.
    case progress(TransitionView, isApplied: Bool)
    /// The session as it stands.
    case session(SessionView)
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
    /// Tell the operator.
    case notify(Notice)
}

/// What an operator has to know, whether or not anybody follows the scene.
package enum Notice: Hashable, Sendable {
    /// A transition has ended that nobody looked after, or that was revoked.
    case ended(TransitionView)
    case sessionEnded(Session, SessionEnding)
}
