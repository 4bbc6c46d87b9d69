/// A mistake that a daemon could make, planted around the real engine.
package enum Fault: String, Sendable, CaseIterable {
    // MARK: In the journal

    /// A restart takes the newest snapshot and leaves out the records after it.
    case skippedReplay
    /// After a death of the machine, the rest of the journal is taken for complete.
    case repeatedFence
    /// The journal reports records as committed before they are.
    case answerBeforeCommit
    /// The journal takes an end in and never writes it.
    case forgottenEnd

    // MARK: Between the clients and the engine

    /// Of two tickets requested one after the other, the engine gets the later first.
    case overtakingQueue
    /// An end is answered without ending the transition.
    case unappliedEnd
    /// Tokens are not checked.
    case blindToken
    /// A repeated request has lost its key.
    case lostKey
    /// A parked await is never answered.
    case lostWake
    /// A parked await is answered twice.
    case repeatedWake
    /// A cancelled transition ends as if it was completed.
    case appliedCancellation
    /// An operation is applied twice.
    case repeatedOperation
    /// A transition is not bound to the session of its request.
    case orphanedTransition
    /// A newer ticket ends a transition that runs, and that has the same coalescing key.
    case greedyCoalescing
    /// A transition does not wait for its participants.
    case ignoredParticipant
    /// A session lives on without a sign of life.
    case immortalSession
    /// Two events of a scene have the same number.
    case repeatedEvent

    // MARK: In the engine's clock

    /// The clock is ahead for a moment, and leases end early.
    case hastyExpiry
    /// The clock is behind for a moment, and deadlines are missed.
    case missedDeadline
    /// The clock goes on while the process does not run.
    case countedPause

    // MARK: In the oracle

    // Nothing around the engine can change what it grants. So the oracle gets the fault, and the check has to see the
    // difference.

    /// Only transitions that name the same controllers conflict.
    case ignoredAncestor
    /// After a waiting scope has moved, later tickets that it now conflicts with are not checked again.
    case overlookedMove
    /// No transition waits for a controller that an earlier one brings in.
    case ignoredArrival
    /// A grant that is not claimed takes no silent tickets with it.
    case forgottenRow
    /// A transition overtakes a granted one of a lower priority.
    case overtakenGrant
    /// Priorities do not count.
    case ignoredPriority
    /// A ticket interrupts what it may, although something else is in its way too, or it would be rejected.
    case uselessInterruption
    /// A ticket that is set aside keeps others waiting.
    case blockingAside
    /// Of a list of operations, the last one is not applied.
    case partialList
    /// A column of a collapsed split that is popped is removed, and not set aside.
    case lostColumn
    /// Who guards a controller is not asked when one above it is removed.
    case overlookedGuard
    /// A shared transition runs beside exclusive ones.
    case sharedWithAll
    /// Who gets one of several names keeps the others too.
    case keptName
}
