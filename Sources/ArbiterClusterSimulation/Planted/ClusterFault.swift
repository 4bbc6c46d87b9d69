internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

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
    /// A call is held until its shard is served, however long that takes.
    case holdsForEver
    /// A call whose connection has broken is taken for one of which nothing was carried out.
    case sendsAgainAfterBreak
    /// A home that does not lend a session is taken for one that does not know it.
    case takesRefusalForNoSession
    /// An owner that has carried out nothing is asked again at once.
    case asksAgainAtOnce
}

extension ClusterFault {
    /// The way to etcd, with what is wrong about it.
    func planted(in etcd: EtcdLink, keys: ClusterKeys) -> any Etcd {
        switch self {
        case .guardByValue: EtcdByValue(etcd, keys: keys)
        case .absenceForFailure: HastyEtcd(etcd, keys: keys)
        case .trimBeforeManifest: TrimmingEtcd(etcd, keys: keys)
        case .none, .unprovenAnswers, .clampedClock, .guestsWaitToBeTold, .graceAfterLoss, .holdsForEver,
            .sendsAgainAfterBreak, .takesRefusalForNoSession, .asksAgainAtOnce:
            etcd
        }
    }

    /// The journal of an engine, with what is wrong about it.
    func planted(in journal: EtcdJournal) -> any Journal {
        switch self {
        case .unprovenAnswers: UnprovenJournal(journal)
        case .none, .guardByValue, .absenceForFailure, .clampedClock, .guestsWaitToBeTold, .graceAfterLoss,
            .trimBeforeManifest, .holdsForEver, .sendsAgainAfterBreak, .takesRefusalForNoSession, .asksAgainAtOnce:
            journal
        }
    }

    /// The clock of an engine, with what is wrong about it.
    func planted(in time: RunningTime, last: Moment?) -> any TimeSource {
        switch self {
        case .clampedClock: ClampedTime(time, last: last)
        case .none, .guardByValue, .absenceForFailure, .unprovenAnswers, .guestsWaitToBeTold, .graceAfterLoss,
            .trimBeforeManifest, .holdsForEver, .sendsAgainAfterBreak, .takesRefusalForNoSession, .asksAgainAtOnce:
            time
        }
    }

    /// The other nodes, with what is wrong about what is heard of them.
    func planted(in peers: SimulatedPeers) -> any Peers {
        switch self {
        case .guestsWaitToBeTold: UnreadPeers(peers: peers)
        case .takesRefusalForNoSession: MisheardPeers(peers: peers)
        case .none, .guardByValue, .absenceForFailure, .unprovenAnswers, .clampedClock, .graceAfterLoss,
            .trimBeforeManifest, .holdsForEver, .sendsAgainAfterBreak, .asksAgainAtOnce:
            peers
        }
    }

    /// The times of a relay, with what is wrong about them.
    func planted(in times: RelayTimes) -> RelayTimes {
        var times = times
        switch self {
        case .holdsForEver:
            (times.holding, times.settling, times.asking) = (.seconds(9999), .seconds(9999), .seconds(9999))
        case .asksAgainAtOnce: times.asking = .zero
        case .none, .guardByValue, .absenceForFailure, .unprovenAnswers, .clampedClock, .guestsWaitToBeTold,
            .graceAfterLoss, .trimBeforeManifest, .sendsAgainAfterBreak, .takesRefusalForNoSession:
            break
        }
        return times
    }
}
