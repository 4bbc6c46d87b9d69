import ArbiterCluster
import ArbiterEngine
import ArbiterTestKit
import Logging
import Testing

/// A shard in a real etcd, which a test claims, uses and gives up.
struct OwnedShard {
    let etcd: RunningEtcd
    let unsure: UnsureEtcd
    let keys = ClusterKeys(prefix: "/arbiter/")
    let rounds: OwnershipRounds
    let lease = TestLease()

    init(_ arguments: [String] = []) throws {
        etcd = try RunningEtcd(arguments)
        unsure = UnsureEtcd(etcd.gateway)
        rounds = OwnershipRounds(etcd: unsure)
    }

    func claim() throws -> Tenure {
        let key = keys.owner(of: 0)
        let outcome = try etcd.transact(
            EtcdTransaction(if: [.isAbsent(key)], then: [.put(key, Array("node".utf8))]))
        try #require(outcome.succeeded)
        return Tenure(shard: 0, key: key, created: outcome.revision, rounds: rounds, lease: lease)
    }

    func giveUp() throws {
        _ = try etcd.transact(EtcdTransaction(then: [.delete(.key(keys.owner(of: 0)))]))
    }

    /// One that does not give its last commits up, however busy the machine of its etcd is.
    func journal(_ tenure: Tenure, bytesBetweenSnapshots: Int = 1 << 20) -> EtcdJournal {
        EtcdJournal(
            tenure: tenure, keys: keys, etcd: unsure, logger: Logger(label: "test"),
            bytesBetweenSnapshots: bytesBetweenSnapshots, closingPatience: .seconds(60))
    }

    /// How many keys begin with a prefix.
    func count(_ prefix: String) throws -> Int {
        var range = EtcdRange.prefix(prefix)
        range.keysOnly = true
        return try etcd.transact(.read(range)).found.first?.keys.count ?? 0
    }
}

/// A lease that lasts until a test ends it.
final class TestLease: LeaseTerm {
    private let state = Guarded(false)

    var isOver: Bool { state.withLock { $0 } }

    func end() { state.withLock { $0 = true } }
}
