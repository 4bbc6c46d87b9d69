// The phases of a transition's life, and the values that exist only in one of them.

extension Transition {
    /// The phases of a transition's life; only the methods under "Phases" change them.
    package enum Phase: Hashable, Sendable {
        /// It waits for its turn. Next: `preparing`, `running` or `ended`.
        case queued(Queued)
        /// It holds its scope and waits for its participants. Next: `running` or `ended`.
        /// If its owner has ended it meanwhile, it completes when it would begin to run.
        case preparing(Grant, completes: Bool)
        /// It holds its scope. Next: `ended`.
        case running(Grant)
        /// It has its one outcome. This is final.
        indirect case ended(Ending)
    }

    /// The values of a queued transition.
    package struct Queued: Hashable, Sendable {
        /// Whether its owner has already ended it: at its turn it is granted and completed in one step.
        package let completesAtGrant: Bool
        private let failed: Shared<FailedExpectation>?

        init(completesAtGrant: Bool = false, unmet: FailedExpectation? = nil) {
            self.completesAtGrant = completesAtGrant
            failed = unmet.map { Shared($0) }
        }

        /// What it waits for outside the line: the condition that failed when it was judged last; `nil` if it stands in the line.
        package var unmet: FailedExpectation? { failed?.value }
        var isSetAside: Bool { failed != nil }
    }

    /// The values that a transition gets at its end.
    package struct Ending: Hashable, Sendable {
        package let outcome: TransitionOutcome
        /// Its grant; `nil` if it ended before its turn.
        package let grant: Grant?
        package let endedAt: Moment
        /// What its operation changed in the hierarchy; `nil` if it was not applied.
        package let change: Change?
        /// Whether it completed without a grant, because its operation would change nothing.
        package let isNoop: Bool
        /// The ticket for which it was ended instead of by its owner; `nil` if it was not interrupted.
        package let interruptedBy: TransitionID?
        /// The appearance events that the views got at the end.
        package let appearance: [AppearanceEvent]
    }

    /// What an operation changed in the hierarchy.
    package struct Change: Hashable, Sendable {
        /// The revision of the hierarchy after the change.
        package let revision: Revision
        /// The controllers inserted; those below them are not listed.
        package let inserted: [ControllerID]
        /// The controllers removed, in the order popped or dismissed; those below them are not listed.
        package let removed: [ControllerID]
    }
}

/// The name of a phase, without its values.
package enum TransitionState: String, Hashable, Sendable, CaseIterable {
    case queued
    case preparing
    case running
    case ended
}
