/// What the shell has to do after the records of a turn are committed.
package enum Effect: Hashable, Sendable {
    /// Answer a parked await.
    case wake(WaiterID, TransitionView)
    /// Answer a parked await of a state.
    case wakeForState(WaiterID, Observation)
    /// Send an event to the event streams.
    case publish(SceneEvent)
    /// Notify the operator.
    case notify(Notice)
}

/// What an await of a state is answered with.
package enum Observation: Hashable, Sendable {
    case idleness(IdleView)
    case condition(ConditionView)
}

/// What an operator has to know, whether or not a client follows the scene.
package enum Notice: Hashable, Sendable {
    /// A transition expired or was revoked.
    case ended(TransitionView)
    case sessionEnded(Session, SessionEnding)
    /// Grants are no longer withheld.
    case resumed
}
