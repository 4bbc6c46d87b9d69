/// What can be found broken.
package enum Rule: String, Sendable, CaseIterable {
    /// The state contradicts itself.
    case consistency
    /// Two conflicting transitions are held at once.
    case exclusion
    /// Grants do not follow request order.
    case order
    /// The oracle grants something else.
    case oracle
    /// A transition has lost, changed or outlived what it was.
    case life
    /// A parked await is answered never, twice, or for no reason.
    case wake
    /// A fence is not greater than those before.
    case fence
    /// Replaying the journal gives another state.
    case replay
    /// Something that was answered is true no more.
    case promise
    /// An answer is not the one that the rules give.
    case reply
    /// Something was decided too early, too late or for the wrong reason.
    case decision
    /// A hierarchy is not what its completed operations have made of it, or is no tree.
    case hierarchy
    /// What is told of a scene is not what has happened, or its numbers have gaps.
    case event
    /// A session is gone too early, or too late, or has left something behind.
    case session
    /// Participants are not as they said.
    case participants
    /// The journal is given something else than what has happened.
    case record
    /// The arbiter's clock does not go on while its process runs.
    case time
}

/// A rule that does not hold, found by one of the checkers.
struct Broken: Error {
    let rule: Rule
    let what: String

    init(_ rule: Rule, _ what: String) {
        self.rule = rule
        self.what = what
    }
}
