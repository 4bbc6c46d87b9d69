package import ArbiterCore
package import ArbiterEngine
internal import Logging

/// Copies a state into etcd as a new cluster, and the state of a cluster out of etcd, while no node serves.
///
/// A key of its own keeps nodes from claiming shards meanwhile, and from making a cluster of what is copied in part.
package final class ClusterCopy: Sendable {
    /// How long an answer of etcd is waited for.
    private static let patience = Duration.seconds(5)
    /// How often something is sent that etcd has not answered.
    private static let attempts = 10
    /// The pause before it is sent again.
    private static let pause = Duration.milliseconds(500)
    /// The time to live of the lease that a copy keeps alive while it runs.
    private static let timeToLive = Duration.seconds(30)

    private let keys: ClusterKeys
    private let etcd: any Etcd
    private let alarm: any Alarm
    private let workers = DispatchWorkers()

    package init(keys: ClusterKeys, etcd: any Etcd, alarm: any Alarm = SystemAlarm()) {
        (self.keys, self.etcd, self.alarm) = (keys, etcd, alarm)
    }

    /// The right to copy: the key that keeps nodes away.
    private struct Right {
        let created: EtcdRevision
        let lease: NodeLease
        let key: String

        var condition: EtcdCondition { .created(key, at: created) }
    }

    // MARK: - Into etcd

    /// Makes a new cluster of the states of its shards.
    ///
    /// If it fails, what was written is deleted again. If the process dies, the key stays that keeps nodes away.
    ///
    /// - Parameters:
    ///   - shards: the states of all shards, in their order.
    ///   - check: called with the states as they were read back, before there is a cluster.
    /// - Throws: `JournalError` if there is a key below the prefix already, or if etcd does not answer; and what the closure
    ///   throws.
    package func make(
        of shards: [ShardState], check: ([ShardState]) throws(JournalError) -> Void
    ) throws(JournalError) {
        try checkIsEmpty(besides: [])
        // Without a lease: what is written in part must not be taken for a cluster, ever.
        let right = try right(isLeased: false)
        do throws(JournalError) {
            try checkIsEmpty(besides: [keys.copy])
            for (index, shard) in shards.enumerated() { try write(shard, as: index, right) }
            try check(try states(ofShards: shards.count, as: Limits(), right))
            let form = ClusterForm(shards: shards.count)
            try carryOut(
                [.put(keys.form, form.bytes), .delete(.key(keys.copy))], right,
                shownBy: (keys.form, form.bytes))
            right.lease.revoke()
        } catch {
            _ = try? transact(
                EtcdTransaction(
                    if: [right.condition], then: (keys.snapshots + [.key(keys.copy)]).map { .delete($0) }))
            right.lease.revoke()
            throw error
        }
    }

    private func write(_ shard: ShardState, as index: Int, _ right: Right) throws(JournalError) {
        guard let snapshot = shard.snapshot else {
            throw JournalError(reason: "there is nothing to copy: start the cluster without it")
        }
        let parts = SnapshotParts(snapshot, of: index, keys)
        for put in parts.puts { try carryOut([put], right) }
        try carryOut(
            [
                .put(keys.manifest(of: index), parts.manifest),
                .put(keys.head(of: index), [UInt8](String(snapshot.sequence).utf8)),
            ], right)
    }

    // MARK: - Out of etcd

    /// Reads the states of all shards of a cluster, and keeps nodes away until something is done with them.
    ///
    /// - Parameter body: called with the states, in the order of the shards, and with a closure that throws if a node
    ///   may have served since. The body has to call that closure before anybody relies on the states.
    /// - Returns: what the closure returns.
    /// - Throws: `JournalError` if there is no cluster, if a node is registered or owns a shard, if a journal is damaged, or if
    ///   etcd does not answer; and what the closure throws.
    package func read<Value>(
        _ body: ([ShardState], _ confirm: () throws(JournalError) -> Void) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        try checkNobodyServes()
        let right = try right(isLeased: true)
        defer { right.lease.revoke() }
        try checkNobodyServes()
        guard let key = try get(.key(keys.form)).first else {
            throw JournalError(reason: "there is no cluster below \(keys.prefix) in etcd: name it with --etcd-prefix")
        }
        guard let form = ClusterForm(key.value), form.rules <= Int(Rules.newest.rawValue) else {
            throw JournalError(newer: String(decoding: key.value, as: UTF8.self), in: key.name)
        }
        let limits = form.limits?.applied(to: Limits()) ?? Limits()
        return try body(try states(ofShards: form.shards, as: limits, right)) { () throws(JournalError) in
            guard try get(.key(keys.copy)).first?.created == right.created else {
                throw JournalError(
                    .notOwner, reason: "the key \(keys.copy) is gone, so a node may have served: copy again")
            }
        }
    }

    /// The states of all shards, by the journals in etcd.
    private func states(ofShards count: Int, as limits: Limits, _ right: Right) throws(JournalError) -> [ShardState] {
        let rounds = OwnershipRounds(etcd: etcd, alarm: alarm)
        let logger = Logger(label: "arbiterd")
        var states: [ShardState] = []
        for shard in 0..<count {
            let tenure = Tenure(
                shard: shard, key: right.key, created: right.created, rounds: rounds, lease: right.lease)
            let journal = EtcdJournal(tenure: tenure, keys: keys, etcd: etcd, alarm: alarm, logger: logger)
            var replay = JournalReplay(limits: limits.divided(among: count))
            do throws(JournalError) {
                _ = try journal.replay { snapshot throws(JournalError) in
                    try replay.begin(snapshot)
                } _: { records throws(JournalError) in
                    try replay.take(records)
                }
            } catch {
                guard error.kind == .notOwner else { throw error }
                throw JournalError(reason: "etcd has not answered for too long: copy again")
            }
            states.append(replay.state())
        }
        return states
    }
}

// MARK: - Who else is there

extension ClusterCopy {
    /// Takes the right to copy, if nobody has it.
    private func right(isLeased: Bool) throws(JournalError) -> Right {
        let lease: NodeLease
        do throws(EtcdError) {
            lease = try NodeLease.grant(for: Self.timeToLive, etcd: etcd, alarm: alarm)
        } catch {
            throw Self.failure(error)
        }
        let value = [UInt8](String(lease.id).utf8)
        let outcome = try transact(
            EtcdTransaction(
                if: [.isAbsent(keys.copy)], then: [.put(keys.copy, value, lease: isLeased ? lease.id : nil)],
                else: [.read(.key(keys.copy))]))
        let found = outcome.found.first?.keys.first
        // If it was carried out although its answer was lost, the key has this value.
        guard outcome.succeeded || found?.value == value else {
            lease.revoke()
            throw JournalError(
                .inUse,
                reason: """
                    another copy has the key \(keys.copy) in etcd, or was broken off: if none runs, delete what it has left \
                    (docs/cluster.md)
                    """)
        }
        return Right(created: found?.created ?? outcome.revision, lease: lease, key: keys.copy)
    }

    private func checkIsEmpty(besides allowed: [String]) throws(JournalError) {
        var range = EtcdRange.prefix(keys.prefix)
        (range.limit, range.keysOnly) = (allowed.count + 1, true)
        if let key = try get(range).first(where: { !allowed.contains($0.name) }) {
            throw JournalError(
                reason:
                    "there is a key \(key.name) in etcd already: choose another --etcd-prefix, or delete what is there")
        }
    }

    private func checkNobodyServes() throws(JournalError) {
        for prefix in [keys.nodes, keys.owners] {
            var range = EtcdRange.prefix(prefix)
            (range.limit, range.keysOnly) = (1, true)
            if let key = try get(range).first {
                throw JournalError(
                    .inUse,
                    reason: "a node of the cluster runs, or was killed just now (\(key.name)): stop every node first")
            }
        }
    }
}

// MARK: - Asking etcd

extension ClusterCopy {
    private func get(_ range: EtcdRange) throws(JournalError) -> [EtcdKey] {
        try transact(.read(range)).found.first?.keys ?? []
    }

    /// Changes keys while the right lasts; doing it twice is the same.
    ///
    /// - Parameters:
    ///   - operations: the changes, which may end the right.
    ///   - right: the right.
    ///   - value: a key and its value, which show that the changes were made although their answer was lost.
    /// - Throws: `JournalError` if the right is over, or if etcd does not answer.
    private func carryOut(
        _ operations: [EtcdOperation], _ right: Right, shownBy value: (key: String, bytes: [UInt8])? = nil
    ) throws(JournalError) {
        let outcome = try transact(
            EtcdTransaction(
                if: [right.condition], then: operations, else: value.map { [.read(.key($0.key))] } ?? []))
        guard outcome.succeeded || value != nil && outcome.found.first?.keys.first?.value == value?.bytes else {
            throw JournalError(.notOwner, reason: "somebody has deleted the key \(keys.copy) in etcd: copy again")
        }
    }

    /// Carries out a transaction that may be carried out twice, and sends it again if there is no answer.
    private func transact(_ transaction: EtcdTransaction) throws(JournalError) -> EtcdOutcome {
        var attempt = 1
        while true {
            do throws(EtcdError) {
                return try Answer.wait(workers) { etcd.transact(transaction, within: Self.patience, completion: $0) }
            } catch {
                guard error.isUncertain, attempt < Self.attempts else { throw Self.failure(error) }
                attempt += 1
                let bell = workers.bell()
                alarm.ring(after: Self.pause, bell.ring)
                bell.wait()
            }
        }
    }

    private static func failure(_ error: EtcdError) -> JournalError {
        switch error.kind {
        case .unknown, .unreachable: JournalError(reason: "etcd does not answer: \(error.reason)")
        case .outOfSpace: JournalError(reason: "etcd has no room: \(error.reason)")
        case .denied, .refused, .leaseNotFound: JournalError(reason: "etcd refuses: \(error.reason)")
        }
    }
}
