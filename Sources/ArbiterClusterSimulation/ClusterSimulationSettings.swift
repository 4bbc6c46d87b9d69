package import ArbiterCluster
package import ArbiterCore
internal import ArbiterRelay

/// What a simulated cluster consists of, and how it is driven.
package struct ClusterSimulationSettings: Sendable {
    package var nodes = 3
    package var shards = 4
    /// The scenes; the first ones of each shard by their slots.
    package var scenes = 6
    /// Clients that request transitions, one after the other.
    package var contenders = 8
    /// Clients with a session that they use over two shards.
    package var sessionClients = 4
    package var limits: Limits
    /// The nodes' leases in etcd.
    package var timeToLive = Duration.seconds(5)
    /// One of so many requests to etcd is stuck on its way for up to a quarter of a minute.
    package var stuckRarity = 150
    /// One of so many requests has no key.
    package var keylessRarity = 5
    /// Whether all trouble is that nodes are paused.
    package var onlyPauses = false
    package var bytesBetweenSnapshots = 6_000
    package var keys = ClusterKeys(prefix: "/arbiter/")
    /// The mistake that is planted.
    package var fault = ClusterFault.none
    /// Whether everything that happens is printed.
    package var isTraced = false
    /// For how long there is trouble, and then peace.
    package var trouble = Duration.seconds(40)
    package var peace = Duration.seconds(30)

    /// How long the nodes wait for each other.
    var relayTimes: RelayTimes { RelayTimes(lease: timeToLive, comments: .seconds(5)) }

    package init() {
        limits = Limits()
        limits.grace = .seconds(2)
        limits.claim = .seconds(3)
    }

    /// A cluster in which a commit may well arrive when its node owns the shard again, and nothing was committed meanwhile.
    ///
    /// Two nodes with short leases and few clients, whose requests are often stuck.
    package static var ofLateCommits: ClusterSimulationSettings {
        var settings = ClusterSimulationSettings()
        (settings.nodes, settings.contenders, settings.sessionClients, settings.stuckRarity) = (2, 2, 0, 4)
        (settings.timeToLive, settings.trouble, settings.peace) = (.seconds(2), .seconds(80), .seconds(20))
        return settings
    }

    /// A cluster whose owners are often paused for longer than their leases, while clients of them wait for answers.
    package static var ofPausedOwners: ClusterSimulationSettings {
        var settings = ClusterSimulationSettings()
        (settings.nodes, settings.sessionClients, settings.scenes, settings.onlyPauses) = (2, 0, 4, true)
        (settings.timeToLive, settings.trouble, settings.peace) = (.seconds(2), .seconds(80), .seconds(20))
        return settings
    }

    /// A cluster of each kind, one seed after the other.
    package static func drawn(by seed: UInt64) -> ClusterSimulationSettings {
        switch seed % 4 {
        case 0: .ofLateCommits
        case 1: .ofPausedOwners
        default: ClusterSimulationSettings()
        }
    }

    /// A cluster with a mistake, of the kind in which that is found soon.
    package init(with fault: ClusterFault) {
        switch fault {
        case .guardByValue: self = .ofLateCommits
        case .unprovenAnswers: self = .ofPausedOwners
        case .sendsAgainAfterBreak:
            self = .ofPausedOwners
            keylessRarity = 1
        case .none, .absenceForFailure, .clampedClock, .guestsWaitToBeTold, .graceAfterLoss, .trimBeforeManifest,
            .holdsForEver, .takesRefusalForNoSession, .asksAgainAtOnce:
            self.init()
        }
        self.fault = fault
    }
}
