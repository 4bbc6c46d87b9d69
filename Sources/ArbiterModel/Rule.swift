/// The rules that the simulation checks; each comment says how the rule is broken.
package enum Rule: String, Sendable, CaseIterable {
    /// The state contradicts itself.
    case consistency
    /// Two conflicting transitions are held at once.
    case exclusion
    /// Grants do not follow request order.
    case order
    /// The state machine and the oracle differ, for example in what they grant.
    case oracle
    /// A transition changed, ended or was forgotten in a way that its life does not allow.
    case life
    /// A parked await is never answered, answered twice, or answered without a reason.
    case wake
    /// A fence is not greater than every earlier one.
    case fence
    /// Replaying the journal gives another state.
    case replay
    /// Something that a client was told does not hold any more.
    case promise
    /// An answer differs from the one that the rules require.
    case reply
    /// Something was decided too early, too late or for the wrong reason.
    case decision
    /// A hierarchy is not the result of its completed operations, or is not a tree.
    case hierarchy
    /// The events of a scene are not what has happened, or their numbers have gaps.
    case event
    /// A session ended too early or too late, or something bound to it did not end.
    case session
    /// The participants of a transition are not in the states that they reported.
    case participants
    /// A record in the journal is not what has happened.
    case record
    /// An answer, an event or a notice was sent before everything that it depends on was committed.
    case commit
    /// The arbiter's clock stands still while its process runs.
    case time
}

/// A rule that does not hold, found by one of the checkers.
package struct Broken: Error {
    package let rule: Rule
    package let what: String

    package init(_ rule: Rule, _ what: String) {
        self.rule = rule
        self.what = what
    }
}
