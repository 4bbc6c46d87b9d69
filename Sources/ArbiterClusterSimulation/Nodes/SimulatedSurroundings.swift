internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// The engines of a simulated node, whose events the checks follow.
final class SimulatedSurroundings: EngineSurroundings {
    private let process: Process
    private let cluster: SimulatedCluster
    private let shards: Shards
    /// The clocks of the engines, by their shards.
    private let times = Guarded<[Int: RunningTime]>([:])

    init(_ process: Process, _ cluster: SimulatedCluster, _ shards: Shards) {
        (self.process, self.cluster, self.shards) = (process, cluster, shards)
    }

    private var fault: ClusterFault { cluster.settings.fault }

    func readClocks() {
        for (_, time) in times.withLock({ $0 }).sorted(by: { $0.key < $1.key }) { _ = time.now() }
    }

    func limits(ofEachOf count: Int, as form: ClusterForm?) -> Limits { cluster.settings.limits }

    func engine(
        of shard: Shard, in tenure: Tenure, on journal: EtcdJournal, limits: Limits, under terms: Terms,
        ahead: JournalReplay?
    ) throws(JournalError) -> Engine {
        let time = RunningTime(process, heartbeat: nil)
        let engine = try Engine(
            limits: limits, journal: fault.planted(in: journal), ahead: ahead, terms: terms,
            time: fault.planted(in: time, last: cluster.lastMoment(of: shard.index)), alarm: process,
            random: SeededRandom(cluster.world.chance)
        ) { [self] events in
            publish(events, of: shard, in: tenure)
        } observer: { [weak self] notice in
            self?.note(notice, of: shard)
        }
        times.withLock { $0[shard.index] = time }
        return engine
    }

    func begin(_ shard: Shard, in tenure: Tenure) {
        cluster.signals.post(.began(shard: shard.index, tenure: tenure.created, node: process.node))
    }

    func publish(_ events: [SceneEvent], of shard: Shard, in tenure: Tenure) {
        cluster.signals.post(.events(shard: shard.index, tenure: tenure.created, node: process.node, events))
    }

    func forget(_ shard: Shard, in tenure: Tenure) {
        cluster.signals.post(.forgot(shard: shard.index, tenure: tenure.created, node: process.node))
    }

    func serve(_ shard: Shard, by engine: Engine) {}

    func end(_ shard: Shard) { times.withLock { $0[shard.index] = nil } }

    // MARK: - A planted fault

    private func note(_ notice: EngineNotice, of shard: Shard) {
        guard fault == .guestsWaitToBeTold, case .happened(.sessionEnded(let session, _)) = notice,
            shard.contains(session.token.slot)
        else { return }
        // Under the engine's lock, so that nothing is called here.
        cluster.world.timeline.schedule(after: .zero, in: process) { [self] in tellOfEnd(session.token) }
    }

    /// Tells every node that a session has ended, once.
    private func tellOfEnd(_ token: Token) {
        for other in 0..<cluster.settings.nodes where other != process.node {
            _ = cluster.send(from: process, to: other) { node in
                for engine in node.shards.here { engine.end(guests: [token]) }
            }
        }
        for (shard, engine) in shards.enginesHere where !shard.contains(token.slot) { engine.end(guests: [token]) }
    }
}

/// Random ids of a seed.
private struct SeededRandom: RandomNumberGenerator, Sendable {
    private let chance: Chance

    init(_ chance: Chance) { self.chance = chance }

    func next() -> UInt64 { chance.next() }
}
