internal import ArbiterCluster
internal import ArbiterEngine

/// Has the keys of owners hold nothing but the address of their node, and has transactions compare that instead of the
/// revision at which the key was created.
///
/// What a node reads of owners is made complete again out of the registrations, so that the node notices nothing.
final class EtcdByValue: PlantedEtcd {
    let link: EtcdLink
    private let keys: ClusterKeys
    /// The registrations that were read last, and what is put for them, by the addresses.
    private let registrations = Guarded<[String: [UInt8]]>([:])
    /// The address of the node itself.
    private let own = Guarded<[UInt8]>([])

    init(_ link: EtcdLink, keys: ClusterKeys) { (self.link, self.keys) = (link, keys) }

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        link.transact(rewritten(transaction), within: limit) { [self] result in
            completion(result.map { complete($0) })
        }
    }

    private func rewritten(_ transaction: EtcdTransaction) -> EtcdTransaction {
        EtcdTransaction(
            if: transaction.conditions.map(rewritten), then: transaction.success.map(rewritten),
            else: transaction.failure.map(rewritten))
    }

    private func rewritten(_ condition: EtcdCondition) -> EtcdCondition {
        switch condition {
        case .created(let key, let revision) where revision != 0 && key.hasPrefix(keys.owners):
            .holds(key, own.withLock { $0 })
        case .created, .changed, .holds, .noneCreated: condition
        }
    }

    private func rewritten(_ operation: EtcdOperation) -> EtcdOperation {
        switch operation {
        case .put(let key, let value, let lease) where key.hasPrefix(keys.owners):
            .put(key, address(of: value), lease: lease)
        case .nested(let nested): .nested(rewritten(nested))
        case .put, .delete, .read: operation
        }
    }

    /// The address of this node, which puts a registration of itself only.
    private func address(of registration: [UInt8]) -> [UInt8] {
        let address = NodeRegistration(registration).map { [UInt8]($0.address.utf8) } ?? registration
        own.withLock { $0 = address }
        return address
    }

    private func complete(_ outcome: EtcdOutcome) -> EtcdOutcome {
        for key in outcome.found.flatMap(\.keys) where key.name.hasPrefix(keys.nodes) {
            registrations.withLock { $0[String(key.name.dropFirst(keys.nodes.count))] = key.value }
        }
        return EtcdOutcome(
            succeeded: outcome.succeeded, revision: outcome.revision,
            found: outcome.found.map { EtcdKeys($0.keys.map(complete), hasMore: $0.hasMore) }, nested: outcome.nested)
    }

    private func complete(_ key: EtcdKey) -> EtcdKey {
        guard key.name.hasPrefix(keys.owners) else { return key }
        let value = registrations.withLock { $0[String(decoding: key.value, as: UTF8.self)] } ?? key.value
        return EtcdKey(name: key.name, value: value, created: key.created, changed: key.changed)
    }
}
