internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

// Handing shards over to nodes that have read them ahead; on the node's queue, except for the reading.
//
// The owner puts the key of the shard's successor, with the lease of that node, so that the key goes when the node dies. The
// successor reads the shard, and says so in the key. Then the owner stops serving the shard and deletes its own key. While
// the successor's key is there, no other node claims the shard.

extension ClusterNode {
    // MARK: - As the owner

    /// Hands over a shard if this node has more than its share, because another node has joined.
    ///
    /// Shards are handed over one at a time: the next one follows when this one has been claimed. That is done only
    /// while every shard has an owner, except those that no node can serve. All shards that go are read ahead at the
    /// same time. Those that the node has had for longest go first, so a shard that only this node could serve stays.
    func handOverSurplus(_ found: Found) {
        let tenures = state.withLock { Array($0.tenures.values) }
            .sorted { ($0.created, $1.shard) < ($1.created, $0.shard) }
        let isWhole = Set(found.owners.keys).union(found.map.unserved.keys).count == settings.form.shards
        let surplus = isWhole ? tenures.prefix(max(0, tenures.count - share(of: found))) : []
        if isWhole { keep(tenures.dropFirst(surplus.count), found) }
        let new = surplus.filter { found.successors[$0.shard] == nil && !isLeaving($0) }
        // What was found says nothing about them yet.
        guard new.isEmpty else { return announce(new, found) }
        guard let tenure = surplus.first(where: { isLeaving($0) && isAwaitedNoLonger($0, found) }) else { return }
        state.withLock { state in
            state.tenures[tenure.shard] = nil
            state.leaving[tenure.shard] = nil
        }
        host.handOver(tenure.shard)
        release(tenure)
        logger.notice("hands over a shard", metadata: ["shard": "\(tenure.shard)"])
    }

    /// Waits until the other nodes have read the shards ahead that this one hands over because it stops.
    func awaitSuccessors(of tenures: [Tenure]) {
        let bell = workers.bell()
        state.withLock { $0.whenChanged = { bell.ring() } }
        defer { state.withLock { $0.whenChanged = nil } }
        guard state.withLock({ $0.isEtcdAnswering }), let found = try? read() else { return }
        announce(tenures.filter { found.successors[$0.shard] == nil }, found)
        while let found = try? read(), !tenures.allSatisfy({ $0.isOver || isAwaitedNoLonger($0, found) }) {
            // Also without a change, because the patience ends.
            alarm.ring(after: .milliseconds(100)) { bell.ring() }
            bell.wait()
        }
    }

    private func isLeaving(_ tenure: Tenure) -> Bool { state.withLock { $0.leaving[tenure.shard] != nil } }

    /// Whether a shard can be handed over: its successor has read it, or is gone, or takes too long.
    private func isAwaitedNoLonger(_ tenure: Tenure, _ found: Found) -> Bool {
        guard let successor = found.successors[tenure.shard]?.node, !successor.isReady,
            let since = state.withLock({ $0.leaving[tenure.shard] })
        else { return true }
        return time.now().instant >= since.advanced(by: Self.readingPatience)
    }

    /// Chooses the next owners of shards, those that will own the fewest, and tells them.
    private func announce(_ tenures: [Tenure], _ found: Found) {
        let others = found.map.nodes.values.filter { $0.address != settings.address }.sorted { $0.address < $1.address }
        guard !others.isEmpty, !tenures.isEmpty else { return }
        var counts: [String: Int] = [:]
        for owner in found.map.owners.values { counts[owner.node.address, default: 0] += 1 }
        for successor in found.successors.values { counts[successor.node.address, default: 0] += 1 }
        var operations: [EtcdOperation] = []
        for tenure in tenures {
            guard let node = others.min(by: { counts[$0.address, default: 0] < counts[$1.address, default: 0] }) else {
                return
            }
            counts[node.address, default: 0] += 1
            let key = keys.successor(of: tenure.shard)
            operations.append(
                .nested(
                    EtcdTransaction(
                        if: [tenure.condition, .isAbsent(key)],
                        then: [.put(key, Successor(node).bytes, lease: node.lease)])))
        }
        let now = time.now().instant
        state.withLock { state in
            for tenure in tenures { state.leaving[tenure.shard] = now }
        }
        for start in stride(from: 0, to: operations.count, by: Self.claimsAtOnce) {
            let part = operations[start..<min(start + Self.claimsAtOnce, operations.count)]
            // If it fails, as after the end of the other node's lease, the shard is handed over without a successor.
            _ = try? transact(EtcdTransaction(then: Array(part)))
        }
    }

    /// Keeps shards for which a successor was chosen before nodes have left.
    private func keep(_ tenures: ArraySlice<Tenure>, _ found: Found) {
        for tenure in tenures where isLeaving(tenure) {
            state.withLock { $0.leaving[tenure.shard] = nil }
            guard let chosen = found.successors[tenure.shard]?.chosen else { continue }
            let key = keys.successor(of: tenure.shard)
            _ = try? transact(EtcdTransaction(if: [.created(key, at: chosen)], then: [.delete(.key(key))]))
        }
    }

    // MARK: - As the successor

    /// Whether a successor is this node, in its present life.
    func isMine(_ successor: Successor) -> Bool {
        successor.address == settings.address && successor.lease == state.withLock { $0.lease?.id }
    }

    /// Reads the shards ahead that this node is to own next, and forgets those that it does not get.
    func readAhead(_ found: Found, _ lease: NodeLease) {
        let mine = found.successors.filter { isMine($0.value.node) && found.owners[$0.key] != nil }
        let (new, gone) = state.withLock { state -> ([Int], [Int]) in
            let gone = state.arriving.filter { shard, chosen in
                found.successors[shard].map { $0.chosen != chosen } ?? true
            }
            for shard in gone.keys { state.arriving[shard] = nil }
            let new = mine.filter { state.arriving[$0.key] == nil && !$0.value.node.isReady }
            for (shard, successor) in new { state.arriving[shard] = successor.chosen }
            return (Array(new.keys), Array(gone.keys))
        }
        for shard in gone { host.forget(shard) }
        for shard in new.sorted() {
            guard let successor = mine[shard] else { continue }
            move(shard) { [self] in readAhead(shard, successor.node, chosen: successor.chosen) }
        }
    }

    /// Reads a shard ahead, and says so; or, if it cannot be read, that it is not waited for.
    private func readAhead(_ shard: Int, _ successor: Successor, chosen: EtcdRevision) {
        let reader = ShardReader(shard: shard, keys: keys) { [self] range throws(JournalError) in
            do throws(EtcdError) {
                return try transact(.read(range)).found.first ?? EtcdKeys([])
            } catch {
                throw JournalError(reason: error.reason)
            }
        }
        let key = keys.successor(of: shard)
        var answer = successor
        answer.isReady = true
        var operation = EtcdOperation.put(key, answer.bytes, lease: successor.lease)
        do throws(JournalError) {
            try host.readAhead(shard, reader)
            // It can be served, whatever was wrong before.
            state.withLock { $0.pauses[shard] = nil }
            logger.debug("has read a shard ahead", metadata: ["shard": "\(shard)"])
        } catch {
            logger.notice(
                "has not read a shard ahead", metadata: ["shard": "\(shard)", "reason": "\(error.reason)"])
            operation = .delete(.key(key))
        }
        guard state.withLock({ $0.arriving[shard] == chosen }) else { return host.forget(shard) }
        // If the answer is lost, the owner's patience ends.
        _ = try? transact(EtcdTransaction(if: [.created(key, at: chosen)], then: [operation]))
    }
}
