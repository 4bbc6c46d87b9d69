internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

// What the store says, and what has to be true at the end of peace.

extension ClusterSimulation {
    /// Follows what has changed in etcd.
    mutating func followStore() throws(Broken) {
        var touched: Set<Int> = []
        for change in cluster.etcd.takeChanges() {
            let name = change.key.dropFirst(settings.keys.prefix.count)
            let parts = name.split(separator: "/")
            guard parts.count > 1, let shard = Int(parts[1]), stored.indices.contains(shard) else { continue }
            switch parts[0] {
            case "log":
                touched.insert(shard)
                try note(change, inLogOf: shard)
            case "snapshot":
                if change.value != nil { statistics.count(.snapshots) }
                touched.insert(shard)
            case "owner":
                if change.value != nil { statistics.count(.tenures) }
                note("shard \(shard) \(change.value == nil ? "has lost its owner" : "is owned") at \(change.created)")
            default: break
            }
        }
        for shard in touched.sorted() { try stored[shard].checkIsWhole(in: cluster.etcd) }
    }

    private mutating func note(_ change: EtcdStore.Change, inLogOf shard: Int) throws(Broken) {
        let entries = try stored[shard].take(change)
        guard let last = entries.last else { return }
        statistics.count(.records, by: entries.count)
        note("shard \(shard) has records up to \(last.sequence)")
        cluster.note(last.moment, ofLastRecordIn: shard)
        for entry in entries {
            switch entry.record {
            case .start(let request, _, _), .serialize(let request, _, _):
                try history.noteRecord(of: request)
                guard let key = request.idempotencyKey, history.forsworn.contains(key) else { continue }
                throw Broken(.notOwner, "\(key) was answered with not-owner, and is in record \(entry.sequence)")
            case .expire(let id, let reason):
                statistics.count(.expiries)
                try history.checkExpiry(of: id, reason, at: now)
            case .expireUnclaimed(let ids):
                for id in ids { try history.checkExpiry(of: id, .unclaimed, at: now) }
            case .endSession(let id, _): try sessions.checkEnd(of: id, at: now, as: "in shard \(shard)")
            case .end, .revoke, .revokeAll, .update, .decide, .perform, .markReady, .veto, .answerGuards, .addGuard,
                .removeGuard, .markGone, .openSession, .declare, .patch, .delete,
                .timeOutParticipants, .interrupt, .endInterrupted,
                .distrust, .skipFences, .resume, .stop, .adopt:
                break
            }
        }
    }

    // MARK: - At the end of peace

    /// Checks what has to be in order when nothing has been wrong for a while.
    mutating func checkPeace() throws(Broken) {
        statistics.count(.checks)
        try history.checkOrder()
        for shard in stored.indices {
            let engine = try owner(of: shard)
            let state = stored[shard].state
            guard try stored[shard].stateFromStore(cluster.etcd) == state else {
                throw Broken(.replay, "the snapshot and the records of shard \(shard) are not its history")
            }
            guard engine.inspect({ $0.snapshot() }) == state else {
                throw Broken(.replay, "the owner of shard \(shard) has another state than its records")
            }
        }
        try checkTransitions()
        try checkGuests()
    }

    /// The engine that serves a shard: exactly one, of the node that owns it.
    private func owner(of shard: Int) throws(Broken) -> Engine {
        guard let key = cluster.etcd.read(.key(settings.keys.owner(of: shard))).first else {
            throw Broken(.service, "shard \(shard) has no owner")
        }
        let serving = cluster.running.filter { $0.shards.tenure(of: shard) != nil }
        let tenures = serving.compactMap { $0.shards.tenure(of: shard) }
        guard tenures == [UInt64(key.created)], let engine = serving[0].shards.place(of: shard).engine,
            engine.isAvailable
        else {
            throw Broken(.service, "shard \(shard) is owned since \(key.created), and served since \(tenures)")
        }
        return engine
    }

    /// What was acknowledged is in the state of its shard.
    private func checkTransitions() throws(Broken) {
        for entry in history.known.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            let engine = try owner(of: entry.id.slot.shard(of: settings.shards))
            guard let view = engine.inspect({ try? $0.view(of: entry.id, at: engine.now().instant) }) else {
                throw Broken(.durability, "\(entry.id) of \(entry.client) in \(entry.scene) is lost")
            }
            if let fence = entry.fence, view.transition.grant?.fence != fence {
                throw Broken(.durability, "\(entry.id) had the fence \(fence), and has it no more")
            }
            if let outcome = entry.outcome, view.outcome != outcome {
                throw Broken(.outcome, "\(entry.id) has ended as \(outcome), and has not any more")
            }
        }
    }

    /// Sessions that have ended long ago are over everywhere, and those of living clients are not.
    private func checkGuests() throws(Broken) {
        let over = sessions.over(at: now, quietSince: quietSince)
        for shard in stored.indices {
            let engine = try owner(of: shard)
            for session in over where engine.inspect({ $0.knows(session.token) }) {
                throw Broken(.guest, "the session of \(session.client) is over, and goes on in shard \(shard)")
            }
        }
    }
}
