internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// A way to etcd with something wrong about its transactions.
protocol PlantedEtcd: Etcd {
    var link: EtcdLink { get }
}

extension PlantedEtcd {
    func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void
    ) { link.grantLease(for: timeToLive, within: limit, completion: completion) }

    func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void
    ) { link.keepAlive(lease, within: limit, completion: completion) }

    func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) { link.revokeLease(lease, within: limit, completion: completion) }

    func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch { link.watch(range, changed: changed, ended: ended) }

    func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) { link.compact(to: revision, within: limit, completion: completion) }

    func measure(within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void) {
        link.measure(within: limit, completion: completion)
    }
}

/// Takes a commit without an answer for refused if its records are not in etcd, although it may still arrive.
struct HastyEtcd: PlantedEtcd {
    let link: EtcdLink
    private let keys: ClusterKeys

    init(_ link: EtcdLink, keys: ClusterKeys) { (self.link, self.keys) = (link, keys) }

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        let logs = transaction.success.compactMap { operation -> String? in
            if case .put(let key, _, _) = operation, key.hasPrefix(keys.prefix + "log/") { key } else { nil }
        }
        guard logs.count == 1, let log = logs.first else {
            return link.transact(transaction, within: limit, completion: completion)
        }
        link.transact(transaction, within: limit) { [link] result in
            guard case .failure(let error) = result, error.kind == .unknown else { return completion(result) }
            link.transact(.read(.key(log)), within: limit) { read in
                guard case .success(let outcome) = read, outcome.found.first?.keys.isEmpty == true else {
                    return completion(result)
                }
                completion(
                    .success(
                        EtcdOutcome(
                            succeeded: false, revision: outcome.revision, found: [EtcdKeys([]), EtcdKeys([])])))
            }
        }
    }
}

/// Deletes the records that a snapshot has before it makes that the newest one.
struct TrimmingEtcd: PlantedEtcd {
    let link: EtcdLink
    private let keys: ClusterKeys

    init(_ link: EtcdLink, keys: ClusterKeys) { (self.link, self.keys) = (link, keys) }

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        let isManifest = transaction.success.contains { operation in
            if case .put(let key, _, _) = operation { key.hasPrefix(keys.prefix + "snapshot/") } else { false }
        }
        guard isManifest else { return link.transact(transaction, within: limit, completion: completion) }
        var (trimming, putting) = (transaction, transaction)
        trimming.success.removeAll { if case .put = $0 { true } else { false } }
        putting.success.removeAll { if case .delete = $0 { true } else { false } }
        link.transact(trimming, within: limit) { [link, putting] result in
            guard case .success(let outcome) = result, outcome.succeeded else { return completion(result) }
            link.transact(putting, within: limit, completion: completion)
        }
    }
}
