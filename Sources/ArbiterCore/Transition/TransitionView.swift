/// A transition at one instant, with the momentary values that answers show.
///
/// A class, because it is large, and passed on many times from the turn to the answer and to the readers of events.
package final class TransitionView: Sendable {
    package let transition: Transition
    /// What is left of its times at this instant.
    package let remaining: Remaining
    /// Its position among the scene's queued transitions, from 1, while it is queued.
    package let position: Int?
    /// The unfinished transitions that it waits for, granted ones first, at most `Limits.blockersShown`.
    package let blockers: [TransitionID]
    /// Whether it waits only for transitions of its own session, of at most `Limits.blockersLookedAt`.
    package let isBlockedBySelf: Bool
    /// The controllers that it locks or waits to lock, each with all below it; `nil` if that is the whole scene, or if it has
    /// ended.
    package let locks: [ControllerID]?
    /// How many transitions wait for it, counted to `Limits.waitingCounted`; `nil` unless it is granted.
    package let waiting: Int?
    /// The last position of the finger that drives it, until the gesture is decided.
    package let progress: GestureProgress?

    init(
        transition: Transition, remaining: Remaining = Remaining(), position: Int? = nil, blockers: [TransitionID] = [],
        isBlockedBySelf: Bool = false, locks: [ControllerID]? = nil, waiting: Int? = nil,
        progress: GestureProgress? = nil
    ) {
        self.transition = transition
        self.remaining = remaining
        self.position = position
        self.blockers = blockers
        self.isBlockedBySelf = isBlockedBySelf
        self.locks = locks
        self.waiting = waiting
        self.progress = progress
    }

    /// The same view without momentary values, which a replay of the journal does not have.
    package var lasting: TransitionView {
        TransitionView(
            transition: transition, position: position, blockers: blockers, isBlockedBySelf: isBlockedBySelf,
            locks: locks, waiting: waiting)
    }

    /// What is left of its lease, while it is granted.
    package var leaseRemaining: Duration? { remaining.lease }

    /// What is left of its times; each is `nil` if it does not run.
    package struct Remaining: Hashable, Sendable {
        /// Of the lease, while it is granted.
        package var lease: Duration?
        /// Of the ticket's time, while it is queued and its owner's silence is counted.
        package var ticket: Duration?
        /// Of the longest time in the queue, while it is queued and has such a limit.
        package var queue: Duration?
        /// Of the participants' time, while it is preparing.
        package var ready: Duration?
        /// Of the grace, while it is being interrupted.
        package var grace: Duration?
        /// Of the time for which nothing is granted, while it is queued and grants are withheld.
        package var resumption: Duration?

        package init(
            lease: Duration? = nil, ticket: Duration? = nil, queue: Duration? = nil, ready: Duration? = nil,
            grace: Duration? = nil, resumption: Duration? = nil
        ) {
            self.lease = lease
            self.ticket = ticket
            self.queue = queue
            self.ready = ready
            self.grace = grace
            self.resumption = resumption
        }
    }
}

extension TransitionView: Hashable {
    package static func == (first: TransitionView, second: TransitionView) -> Bool {
        first === second
            || first.transition == second.transition && first.remaining == second.remaining
                && first.position == second.position && first.blockers == second.blockers
                && first.isBlockedBySelf == second.isBlockedBySelf && first.locks == second.locks
                && first.waiting == second.waiting && first.progress == second.progress
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(transition)
        hasher.combine(remaining)
        hasher.combine(position)
        hasher.combine(blockers)
        hasher.combine(isBlockedBySelf)
        hasher.combine(locks)
        hasher.combine(waiting)
        hasher.combine(progress)
    }
}
