package import ArbiterCore

/// What a simulation is made of.
package struct Configuration: Sendable {
    /// Small, so that every one of them is reached.
    package var limits: Limits
    package var clients = 6
    /// What is made to go wrong, so that a checker has something to find.
    package var fault: Fault?
    /// Whether the wall clock jumps; nothing but timestamps may depend on it.
    package var jumpsWallClock = true
    /// In how many steps the machine under the process dies once, on average, in units of 500.
    package var machineDeathRarity = 12
    /// Whether the journal is replayed beside the machine, and compared with it.
    package var comparesReplays = true

    package init() {
        limits = Limits()
        limits.queuedPerScene = 6
        limits.unfinished = 16
        limits.scenes = 4
        limits.sessions = 8
        limits.grace = .seconds(1)
        limits.claim = .seconds(2)
        limits.retainedCount = 4
        limits.retainedDuration = .seconds(30)
        limits.retainedMaximum = 16
    }
}

/// A mistake that an arbiter could make, planted around the real one.
package enum Fault: String, Sendable, CaseIterable {
    /// Of two tickets asked for one after the other, the later is served first.
    case overtakingQueue
    /// A restart takes the newest snapshot and leaves out the commands after it.
    case skippedReplay
    /// After the machine died, what is left of the journal is believed to be everything.
    case repeatedFence
    /// Answers go out before what they tell is committed.
    case answerBeforeCommit
    /// An end never reaches the journal.
    case forgottenEnd
    /// An end is answered, and its transition holds on.
    case unappliedEnd
    /// Any token will do.
    case blindToken
    /// A request is not known again by its key.
    case lostKey
    /// A parked await is not told.
    case lostWake
    /// A parked await is told twice.
    case repeatedWake
    /// A lease is taken away before it is over.
    case hastyExpiry
    /// Time is up, and the arbiter does not notice.
    case missedDeadline
    /// Only transitions that name the very same controllers are in each other's way.
    ///
    /// Planted in the oracle, since nothing around the machine can make it grant what it would not: what counts is that
    /// the two are told apart.
    case ignoredAncestor
    /// An operation is applied although its transition is cancelled.
    case appliedCancellation
    /// An operation is applied twice.
    case repeatedOperation
    /// A session ends, and one of its transitions goes on.
    case orphanedTransition
    /// A newer ticket takes the place of a transition that runs.
    case greedyCoalescing
    /// Two events of a scene have the same number.
    case repeatedEvent
    /// A transition does not wait for its participants.
    case ignoredParticipant
    /// A session lives on without a word.
    case immortalSession
    /// The clock runs on while the process does not.
    case countedPause
    /// When a waiting scope has moved, later tickets that it now blocks are not checked again.
    ///
    /// Planted in the oracle, as the queue has no switch for it.
    case overlookedMove
}

/// A broken rule, and all it takes to see it again.
package struct Violation: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let step: Int
    package let rule: Rule
    package let what: String
    /// The last events, oldest first.
    package let transcript: [String]

    package var description: String {
        (["seed \(seed), step \(step): \(rule.rawValue): \(what)"] + transcript.map { "  \($0)" })
            .joined(separator: "\n")
    }
}
