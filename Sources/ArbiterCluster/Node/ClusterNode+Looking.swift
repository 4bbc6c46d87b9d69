internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

// Looking at the cluster, again and again, and doing what follows from what is there.

extension ClusterNode {
    /// Looks soon at who owns what.
    func look() {
        let isFirst = state.withLock { state in
            defer { state.isLookDue = true }
            return !state.isLookDue && !state.isOver
        }
        guard isFirst else { return }
        queue.add { [self] in
            let isOver = state.withLock { state in
                state.isLookDue = false
                return state.isOver
            }
            guard !isOver else { return }
            do throws(EtcdError) {
                try takePart()
                note(failure: nil)
            } catch {
                note(failure: error.reason)
            }
            lookAgain()
        }
    }

    /// Notes why the cluster could not be looked at, and logs that when it changes.
    private func note(failure reason: String?) {
        let isNew = state.withLock { state in
            defer { state.reason = reason }
            return state.reason != reason
        }
        guard isNew, let reason else { return }
        logger.warning("the cluster was not looked at", metadata: ["reason": "\(reason)"])
    }

    /// Looks again after a while, also if no watch tells of a change.
    private func lookAgain() {
        let isFirst = state.withLock { state in
            defer { state.isAlarmSet = true }
            return !state.isAlarmSet
        }
        guard isFirst else { return }
        alarm.ring(after: Self.lookEvery) { [weak self] in
            self?.state.withLock { $0.isAlarmSet = false }
            self?.look()
        }
    }

    private func takePart() throws(EtcdError) {
        dropWhatIsLost()
        let lease = try leaseInForce()
        let found = try read()
        let form = try agree(on: found)
        try register(lease, found)
        watch()
        compactIfDue(found)
        measureIfDue()
        host.note(found.map)
        host.adopt(form)
        adopt(found, lease, form)
        try claim(found, lease, form)
        try unmark(found)
        handOverSurplus(found)
        readAhead(found, lease)
        try raiseIfPossible(found, form)
    }

    /// What was read at one revision.
    struct Found {
        let form: EtcdKey?
        /// Whether its journal is being copied.
        let isCopied: Bool
        let map: ShardMap
        /// Whether a node is registered in a way that this one does not understand.
        let hasStrangers: Bool
        /// The owners' keys, by their shards.
        let owners: [Int: EtcdKey]
        /// The nodes that are to own shards next, by these shards, with the revisions at which they were chosen.
        let successors: [Int: (node: Successor, chosen: EtcdRevision)]
        let revision: EtcdRevision
    }

    func read() throws(EtcdError) -> Found {
        let outcome = try transact(
            EtcdTransaction(then: [
                .read(.key(keys.form)), .read(.prefix(keys.nodes)), .read(.prefix(keys.owners)),
                .read(EtcdRange(start: keys.copy, keysOnly: true)), .read(.prefix(keys.successors)),
                .read(.prefix(keys.unserved)),
            ]))
        var (map, owners) = (ShardMap(), [Int: EtcdKey]())
        var successors: [Int: (node: Successor, chosen: EtcdRevision)] = [:]
        for key in outcome.found[1].keys {
            if let node = NodeRegistration(key.value) { map.nodes[node.address] = node }
        }
        for key in outcome.found[2].keys {
            guard let shard = Int(key.name.dropFirst(keys.owners.count)) else { continue }
            owners[shard] = key
            map.owners[shard] = NodeRegistration(key.value).map { ShardMap.Owner(node: $0, tenure: key.created) }
        }
        for key in outcome.found[4].keys {
            guard let shard = Int(key.name.dropFirst(keys.successors.count)) else { continue }
            successors[shard] = Successor(key.value).map { ($0, key.created) }
        }
        for key in outcome.found[5].keys {
            guard let shard = Int(key.name.dropFirst(keys.unserved.count)) else { continue }
            map.unserved[shard] = UnservedShard(key.value)
        }
        return Found(
            form: outcome.found[0].keys.first, isCopied: !outcome.found[3].keys.isEmpty, map: map,
            hasStrangers: map.nodes.count < outcome.found[1].keys.count, owners: owners, successors: successors,
            revision: outcome.revision)
    }

    func transact(_ transaction: EtcdTransaction) throws(EtcdError) -> EtcdOutcome {
        try Answer.wait(workers) { etcd.transact(transaction, within: Self.patience, completion: $0) }
    }

    private func watch() {
        let ranges: [EtcdRange] = [
            .prefix(keys.owners), .prefix(keys.nodes), .prefix(keys.successors), .key(keys.form),
        ]
        for range in ranges where state.withLock({ $0.watched.insert(range.start).inserted }) {
            let watch = etcd.watch(range) { [weak self] in
                self?.state.withLock { $0.whenChanged }?()
                self?.look()
            } ended: { [weak self] in
                _ = self?.state.withLock { $0.watched.remove(range.start) }
            }
            state.withLock { $0.watches[range.start] = watch }
        }
    }
}
