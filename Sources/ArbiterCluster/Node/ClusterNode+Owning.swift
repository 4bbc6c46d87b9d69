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
        host.drop(tenure)
        logger.warning("has lost a shard", metadata: ["shard": "\(tenure.shard)", "tenure": "\(tenure.created)"])
    }

    /// Stops serving everything at once, because the node's lease may be over; the rest follows on the queue.
    ///
    /// An earlier lease may tell that late, when there is a new one with tenures of its own.
    private func stopServing(under lease: EtcdLeaseID) {
        let tenures = state.withLock { $0.lease?.id == lease ? Array($0.tenures.values) : [] }
        for tenure in tenures {
            tenure.lose()
            host.drop(tenure)
        }
        look()
    }

    /// Gives up a shard whose journal has failed although the tenure lasts.
    ///
    /// The shard is claimed anew, here or elsewhere, in a new tenure. A commit of the old tenure may still arrive, and
    /// must not be carried out then.
    func restart(_ tenure: Tenure) {
        enqueue { [self] in
            guard state.withLock({ $0.tenures[tenure.shard] === tenure }) else { return }
            state.withLock { $0.tenures[tenure.shard] = nil }
            host.drop(tenure)
            release(tenure)
            look()
        }
    }

    /// The node's lease, or a new one after that has ended.
    func leaseInForce() throws(EtcdError) -> NodeLease {
        let earlier = state.withLock { $0.lease }
        if let earlier, !earlier.isOver { return earlier }
        // Nothing is served in it any more, and what it keeps in etcd would only be in the way.
        if let earlier { etcd.revokeLease(earlier.id, within: Self.patience) { _ in } }
        state.withLock { state in
            state.lease = nil
            state.become(.outside(waitsFor: Self.etcdItself))
        }
        let lease = try NodeLease.grant(
            for: settings.timeToLive, etcd: etcd, time: time, alarm: alarm, workers: workers)
        state.withLock { $0.lease = lease }
        lease.whenOver { [weak self, id = lease.id] in self?.stopServing(under: id) }
        return lease
    }

    func registration(_ lease: NodeLease) -> NodeRegistration {
        NodeRegistration(
            address: settings.address, lease: lease.id, version: settings.version, rules: settings.rules,
            limits: settings.form.limits)
    }

    /// Registers the node.
    ///
    /// Its name may still be registered under the lease of its earlier life, which has to end first.
    ///
    /// The transaction compares the form that was read. So the rules of the cluster cannot be raised meanwhile to some
    /// that this node does not support.
    func register(_ lease: NodeLease, _ found: Found) throws(EtcdError) {
        guard !state.withLock({ $0.isRegistered }), let form = found.form else { return }
        let key = keys.node(settings.address)
        let isNew = try transact(
            EtcdTransaction(
                if: [.isAbsent(key), .changed(keys.form, at: form.changed)],
                then: [.put(key, registration(lease).bytes, lease: lease.id)])
        ).succeeded
        guard isNew || found.map.nodes[settings.address] != nil else {
            throw EtcdError(.refused, "the cluster has changed meanwhile")
        }
        guard isNew || found.map.nodes[settings.address]?.lease == lease.id else {
            state.withLock { state in
                _ = state.become(
                    .outside(waitsFor: "the lease of another node with the address \(settings.address)"))
            }
            throw EtcdError(.refused, "another node is registered as \(settings.address)")
        }
        state.withLock { _ = $0.become(.registered) }
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
    func adopt(_ found: Found, _ lease: NodeLease, _ form: ClusterForm) {
        let mine = registration(lease).asOwner
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
        begin(claimed, as: form)
        let lost = state.withLock { state in
            let lost = state.tenures.values.filter { found.owners[$0.shard]?.created != $0.created }
            for tenure in lost { state.tenures[tenure.shard] = nil }
            return lost
        }
        for tenure in lost.sorted(by: { $0.shard < $1.shard }) { drop(tenure) }
    }

    /// Claims free shards, up to this node's share of them.
    func claim(_ found: Found, _ lease: NodeLease, _ form: ClusterForm) throws(EtcdError) {
        guard let key = found.form else { return }
        let mine = registration(lease).asOwner
        let room = max(0, share(of: found) - found.map.owners.values.count { $0.node == mine })
        // From a place of its own, so that nodes do not all try the same shards first.
        let first = Int(UInt64(bitPattern: lease.id) % UInt64(settings.form.shards))
        let paused = pausedShards()
        let free = (0..<settings.form.shards).map { (first + $0) % settings.form.shards }
            .filter { found.owners[$0] == nil && !paused.contains($0) }
        // First those that this node is to own next, which no other one claims.
        let chosen = free.filter { shard in found.successors[shard].map { isMine($0.node) } ?? false }
        let unclaimed = free.filter { found.successors[$0] == nil }
        // What another node could not serve, this one may be able to; what is too much then is handed over.
        let failed = unclaimed.filter { shard in
            found.map.unserved[shard].map { $0.node != settings.address } ?? false
        }
        let others = unclaimed.filter { !failed.contains($0) }
        let claimable = chosen + failed + others.prefix(max(0, room - chosen.count - failed.count))
        for start in stride(from: 0, to: claimable.count, by: Self.claimsAtOnce) {
            let shards = claimable[start..<min(start + Self.claimsAtOnce, claimable.count)]
            let outcome = try transact(
                EtcdTransaction(
                    then: shards.map { shard in
                        let (owner, next) = (keys.owner(of: shard), keys.successor(of: shard))
                        return .nested(
                            EtcdTransaction(
                                if: [
                                    .isAbsent(owner), .changed(keys.form, at: key.changed), .isAbsent(keys.copy),
                                    .created(next, at: found.successors[shard]?.chosen ?? 0),
                                ], then: [.put(owner, mine.bytes, lease: lease.id), .delete(.key(next))]))
                    }))
            let claimed = zip(shards, outcome.nested).filter(\.1.succeeded).map(\.0)
            begin(
                claimed.map { shard in
                    Tenure(
                        shard: shard, key: keys.owner(of: shard), created: outcome.revision, rounds: rounds,
                        lease: lease)
                }, as: form)
        }
    }

    /// How many shards a node owns at most, so that all nodes together own all.
    func share(of found: Found) -> Int {
        let nodes = Set(found.map.nodes.keys).union([settings.address]).count
        return (settings.form.shards + nodes - 1) / nodes
    }

    /// This node's tenure of the first shard that is served, whose owner does what one node does for all.
    func firstTenure(in found: Found) -> Tenure? {
        let first = found.owners.keys.filter { found.map.unserved[$0] == nil }.min()
        return state.withLock { state in first.flatMap { state.tenures[$0] } }
    }

    /// Has etcd forget what keys were before, as the owner of the first shard that is served; nothing here reads earlier
    /// revisions.
    func compactIfDue(_ found: Found) {
        let now = time.now().instant
        let isFirst = firstTenure(in: found) != nil
        let revision = state.withLock { state -> EtcdRevision? in
            guard isFirst else {
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
