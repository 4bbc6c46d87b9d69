internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

// Leases, registration and claims; all on the node's queue.

extension ClusterNode {
    /// Stops serving the shards whose tenures have ended.
    func dropWhatIsLost() {
        let lost = state.withLock { state in
            let lost = state.tenures.values.filter(\.isOver)
            for tenure in lost { state.tenures[tenure.shard] = nil }
            return lost
        }
        for tenure in lost.sorted(by: { $0.shard < $1.shard }) { drop(tenure) }
    }

    private func drop(_ tenure: Tenure) {
        tenure.lose()
        host.drop(tenure.shard)
        logger.warning("has lost a shard", metadata: ["shard": "\(tenure.shard)", "tenure": "\(tenure.created)"])
    }

    /// The node's lease, or a new one after that has ended.
    func leaseInForce() throws(EtcdError) -> NodeLease {
        let earlier = state.withLock { $0.lease }
        if let earlier, !earlier.isOver { return earlier }
        // Nothing is served in it any more, and what it keeps in etcd would only be in the way.
        if let earlier { etcd.revokeLease(earlier.id, within: Self.patience) { _ in } }
        state.withLock { ($0.lease, $0.isRegistered, $0.waitsFor) = (nil, false, "etcd") }
        let lease = try NodeLease.grant(
            for: settings.timeToLive, etcd: etcd, time: time, alarm: alarm, workers: workers)
        state.withLock { $0.lease = lease }
        lease.whenOver { [weak self] in self?.look() }
        return lease
    }

    func registration(_ lease: NodeLease) -> NodeRegistration {
        NodeRegistration(address: settings.address, lease: lease.id, version: settings.version)
    }

    /// Registers the node; its name may still be that of its earlier life, whose lease has to end first.
    func register(_ lease: NodeLease, _ found: Found) throws(EtcdError) {
        guard !state.withLock({ $0.isRegistered }) else { return }
        let key = keys.node(settings.address)
        let isNew = try transact(
            EtcdTransaction(if: [.isAbsent(key)], then: [.put(key, registration(lease).bytes, lease: lease.id)])
        ).succeeded
        guard isNew || found.map.nodes[settings.address]?.lease == lease.id else {
            state.withLock { $0.waitsFor = "the lease of another node with the address \(settings.address)" }
            throw EtcdError(.refused, "another node is registered as \(settings.address)")
        }
        state.withLock { ($0.isRegistered, $0.waitsFor) = (true, nil) }
    }

    /// Deletes the node's registration.
    ///
    /// - Returns: whether etcd has answered.
    func unregister(_ lease: NodeLease) -> Bool {
        let key = keys.node(settings.address)
        do throws(EtcdError) {
            _ = try transact(
                EtcdTransaction(if: [.holds(key, registration(lease).bytes)], then: [.delete(.key(key))]))
            return true
        } catch {
            return false
        }
    }

    /// Begins to serve every shard whose key in etcd says that this node owns it.
    ///
    /// That is how a claim is known to have succeeded, also one whose answer was lost.
    func adopt(_ found: Found, _ lease: NodeLease) {
        let mine = registration(lease)
        var claimed: [Tenure] = []
        for (shard, key) in found.owners.sorted(by: { $0.key < $1.key }) where found.map.owners[shard]?.node == mine {
            let known = state.withLock { $0.tenures[shard] }
            if let known, known.created == key.created { continue }
            // It is not served twice in one tenure: what it sent before it gave it up may still arrive.
            if let earlier = state.withLock({ $0.givenUp[shard] }), earlier.created == key.created {
                release(earlier)
                continue
            }
            if let known {
                state.withLock { $0.tenures[shard] = nil }
                drop(known)
            }
            claimed.append(Tenure(shard: shard, key: key.name, created: key.created, rounds: rounds, lease: lease))
        }
        begin(claimed)
        let lost = state.withLock { state in
            let lost = state.tenures.values.filter { found.owners[$0.shard]?.created != $0.created }
            for tenure in lost { state.tenures[tenure.shard] = nil }
            return lost
        }
        for tenure in lost.sorted(by: { $0.shard < $1.shard }) { drop(tenure) }
    }

    /// Claims free shards, up to this node's share of them.
    func claim(_ found: Found, _ lease: NodeLease) throws(EtcdError) {
        guard let form = found.form else { return }
        let mine = registration(lease)
        let room = max(0, share(of: found) - found.map.owners.values.count { $0.node == mine })
        // From a place of its own, so that nodes do not all try the same shards first.
        let first = Int(UInt64(bitPattern: lease.id) % UInt64(settings.form.shards))
        let free = (0..<settings.form.shards).map { (first + $0) % settings.form.shards }
            .filter { found.owners[$0] == nil }.prefix(room)
        for start in stride(from: free.startIndex, to: free.endIndex, by: Self.claimsAtOnce) {
            let shards = free[start..<min(start + Self.claimsAtOnce, free.endIndex)]
            let outcome = try transact(
                EtcdTransaction(
                    then: shards.map { shard in
                        let key = keys.owner(of: shard)
                        return .nested(
                            EtcdTransaction(
                                if: [.isAbsent(key), .changed(keys.form, at: form.changed), .isAbsent(keys.copy)],
                                then: [.put(key, mine.bytes, lease: lease.id)]))
                    }))
            let claimed = zip(shards, outcome.nested).filter(\.1.succeeded).map(\.0)
            begin(
                claimed.map { shard in
                    Tenure(
                        shard: shard, key: keys.owner(of: shard), created: outcome.revision, rounds: rounds,
                        lease: lease)
                })
        }
    }

    /// Hands over a shard if this node has more than its share, because another node has joined.
    ///
    /// One at a time, and only while every shard has an owner: the next one follows when this one has been claimed.
    func handOverSurplus(_ found: Found) {
        guard found.owners.count == settings.form.shards else { return }
        let tenures = state.withLock { Array($0.tenures.values) }
        guard tenures.count > share(of: found), let surplus = tenures.max(by: { $0.shard < $1.shard }) else { return }
        state.withLock { $0.tenures[surplus.shard] = nil }
        host.handOver(surplus.shard)
        release(surplus)
        logger.notice("hands over a shard", metadata: ["shard": "\(surplus.shard)"])
    }

    /// How many shards a node owns at most, so that all nodes together own all.
    private func share(of found: Found) -> Int {
        let nodes = Set(found.map.nodes.keys).union([settings.address]).count
        return (settings.form.shards + nodes - 1) / nodes
    }

    /// Has etcd forget what keys were before, as the owner of the first shard; nothing here reads earlier revisions.
    func compactIfDue(_ found: Found) {
        let now = time.now().instant
        let revision = state.withLock { state -> EtcdRevision? in
            guard state.tenures[0] != nil else {
                state.compaction = nil
                return nil
            }
            guard let next = state.compaction else {
                state.compaction = (found.revision, now.advanced(by: Self.historyKept))
                return nil
            }
            guard now >= next.due else { return nil }
            state.compaction = (found.revision, now.advanced(by: Self.historyKept))
            return next.revision
        }
        // If it fails, the next one does it.
        if let revision { etcd.compact(to: revision, within: Self.patience) { _ in } }
    }

    /// Deletes the owner's key of a tenure, so that another node can claim the shard.
    ///
    /// - Returns: whether etcd has answered; if it has not, it is released again when the key is still there.
    @discardableResult
    func release(_ tenure: Tenure) -> Bool {
        state.withLock { $0.givenUp[tenure.shard] = tenure }
        defer { tenure.lose() }
        do throws(EtcdError) {
            _ = try transact(EtcdTransaction(if: [tenure.condition], then: [.delete(.key(tenure.key))]))
            state.withLock { $0.givenUp[tenure.shard] = nil }
            return true
        } catch {
            return false
        }
    }
}
