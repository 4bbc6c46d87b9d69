internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine

/// A mistake that a node could make, planted around the real code.
package enum ClusterFault: String, Sendable, CaseIterable {
    /// There is none.
    case none
    /// Transactions compare the value of the owner's key, which is the node's address, and not its tenure.
    case guardByValue
    /// A commit without an answer is taken for refused if its records are not in etcd.
    case absenceForFailure
    /// Answers that no commit proves leave at once.
    case unprovenAnswers
    /// A new owner's clock does not go back to the instant of the last record.
    case clampedClock
    /// The end of a guest is told by its home, and not asked for.
    case guestsWaitToBeTold
    /// The loss of a relay is taken for a client that has closed its connection.
    case graceAfterLoss
    /// The records that a snapshot has are deleted before it is the newest one.
    case trimBeforeManifest
}

extension ClusterFault {
    /// The way to etcd, with what is wrong about it.
    func planted(in etcd: EtcdLink, keys: ClusterKeys) -> any Etcd {
        switch self {
        case .guardByValue: EtcdByValue(etcd, keys: keys)
        case .absenceForFailure: HastyEtcd(etcd, keys: keys)
        case .trimBeforeManifest: TrimmingEtcd(etcd, keys: keys)
        case .none, .unprovenAnswers, .clampedClock, .guestsWaitToBeTold, .graceAfterLoss: etcd
        }
    }

    /// The journal of an engine, with what is wrong about it.
    func planted(in journal: EtcdJournal) -> any Journal {
        switch self {
        case .unprovenAnswers: UnprovenJournal(journal)
        case .none, .guardByValue, .absenceForFailure, .clampedClock, .guestsWaitToBeTold, .graceAfterLoss,
            .trimBeforeManifest:
            journal
        }
    }

    /// The clock of an engine, with what is wrong about it.
    func planted(in time: RunningTime, last: Moment?) -> any TimeSource {
        switch self {
        case .clampedClock: ClampedTime(time, last: last)
        case .none, .guardByValue, .absenceForFailure, .unprovenAnswers, .guestsWaitToBeTold, .graceAfterLoss,
            .trimBeforeManifest:
            time
        }
    }
}
