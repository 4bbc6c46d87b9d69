package import ArbiterCore
package import ArbiterEngine
package import ArbiterRelay

/// What the engines of a node stand in: how they are made, and who is told what happens in their shards.
package protocol EngineSurroundings: AnyObject, Sendable {
    /// The limits of one of several shards, in a cluster of a form; `nil` before that is known.
    func limits(ofEachOf count: Int, as form: ClusterForm?) -> Limits

    /// Makes the engine of a shard, and has its events published.
    ///
    /// - Throws: `JournalError` if its journal cannot be read.
    func engine(
        of shard: Shard, in tenure: Tenure, on journal: EtcdJournal, limits: Limits, under terms: Terms,
        ahead: JournalReplay?
    ) throws(JournalError) -> Engine

    /// A tenure begins; nothing of it was published.
    func begin(_ shard: Shard, in tenure: Tenure)

    /// Publishes what has happened in a shard before this node owned it.
    func publish(_ events: [SceneEvent], of shard: Shard, in tenure: Tenure)

    /// Ends the streams of a shard, because what follows on what was published is not known.
    func forget(_ shard: Shard, in tenure: Tenure)

    /// The shard is served from now on.
    func serve(_ shard: Shard, by engine: Engine)

    /// Ends the streams of a shard, which another node serves from now on.
    func end(_ shard: Shard)
}

/// Runs the engines of the shards that a node owns.
package final class EngineHost: ShardHost {
    private let shards: Shards
    private let surroundings: any EngineSurroundings
    private let time: any TimeSource
    private let state = Guarded(State())

    private struct State {
        /// What was read of shards ahead.
        var ahead: [Int: ReadAhead] = [:]
        /// The form of the cluster; `nil` before that is known.
        var form: ClusterForm?
    }

    /// A shard as far as it was read before this node owned it.
    private struct ReadAhead {
        let progress: ShardReader.Progress
        let replay: JournalReplay
        let events: [[SceneEvent]]
    }

    /// - Parameters:
    ///   - shards: told which shards run here, and where the others are.
    ///   - surroundings: what makes the engines.
    ///   - time: when the map was read.
    package init(
        _ shards: Shards, in surroundings: any EngineSurroundings, time: any TimeSource = SystemTimeSource()
    ) {
        (self.shards, self.surroundings, self.time) = (shards, surroundings, time)
    }

    package func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError) {
        let events = Guarded([[SceneEvent]]())
        let form = state.withLock { $0.form }
        var replay = JournalReplay(limits: surroundings.limits(ofEachOf: shards.count, as: form)) { more in
            events.withLock { $0.append(more) }
        }
        let progress = try reader.read { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let read = ReadAhead(progress: progress, replay: replay, events: events.withLock { $0 })
        state.withLock { $0.ahead[shard] = read }
    }

    package func forget(_ shard: Int) { state.withLock { $0.ahead[shard] = nil } }

    package func begin(
        _ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm
    ) throws(JournalError) {
        let shard = Shard(tenure.shard, of: shards.count)
        surroundings.begin(shard, in: tenure)
        let ahead = state.withLock { $0.ahead.removeValue(forKey: tenure.shard) }
        if let ahead {
            journal.goOn(after: ahead.progress) { [surroundings] in surroundings.forget(shard, in: tenure) }
            for events in ahead.events { surroundings.publish(events, of: shard, in: tenure) }
        }
        let (limits, terms) = inForce(form)
        journal.use(limits)
        let engine = try surroundings.engine(
            of: shard, in: tenure, on: journal, limits: limits, under: terms, ahead: ahead?.replay)
        surroundings.serve(shard, by: engine)
        if shard.count > 1 { engine.expectGuests(of: shard) }
        shards.begin(tenure.shard, engine, in: UInt64(tenure.created))
        // If it was lost before the engine was there to be dropped.
        if tenure.isOver { drop(tenure) }
    }

    package func adopt(_ form: ClusterForm) {
        state.withLock { $0.form = form }
        let (limits, terms) = inForce(form)
        for engine in shards.here { engine.adopt(terms, limits: limits) }
    }

    /// What holds in each shard of a cluster of a form.
    ///
    /// The journal of a shard names what is forgotten, so that any node replays it alike.
    private func inForce(_ form: ClusterForm) -> (Limits, Terms) {
        let limits = surroundings.limits(ofEachOf: shards.count, as: form)
        return (limits, Terms(rules: form.rulesInForce, retention: limits.retention))
    }

    package func drop(_ tenure: Tenure) {
        guard let engine = shards.lose(tenure.shard, in: UInt64(tenure.created)) else { return }
        engine.abandon()
        surroundings.end(Shard(tenure.shard, of: shards.count))
    }

    package func handOver(_ shard: Int) {
        guard let engine = shards.end(shard) else { return }
        engine.drain()
        engine.stop()
        surroundings.end(Shard(shard, of: shards.count))
    }

    package func note(_ map: ShardMap) {
        let nodes = map.nodes.values.sorted { $0.address < $1.address }
        shards.note(
            ClusterMap(
                nodes: nodes.map { ClusterMap.Node(address: $0.address, version: $0.version) },
                owners: map.owners.mapValues {
                    ClusterMap.Owner(address: $0.node.address, tenure: UInt64($0.tenure))
                }, unserved: map.unserved.mapValues { ClusterMap.Unserved(node: $0.node, reason: $0.reason) }),
            at: time.now().timestamp)
    }

    package func note(_ size: StoredSize, _ room: EtcdRoom) {
        shards.note(size, isShort: room == .short)
    }
}
