import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Logging
import Testing

/// The commits of several shards in one transaction, in a real etcd.
struct SharedCommitsTests {
    /// Several shards of one node, which share what sends their commits.
    struct OwnedShards {
        static let count = 4

        let etcd: RunningEtcd
        let unsure: UnsureEtcd
        let keys = ClusterKeys(prefix: "/arbiter/")
        let lease = TestLease()
        let journals: [EtcdJournal]
        let commits: [Commits]

        init(_ arguments: [String] = []) throws {
            let etcd = try RunningEtcd(arguments)
            let unsure = UnsureEtcd(etcd.gateway)
            let (rounds, shared) = (OwnershipRounds(etcd: unsure), SharedCommits(etcd: unsure))
            var journals: [EtcdJournal] = []
            for shard in 0..<Self.count {
                let key = keys.owner(of: shard)
                let claim = try etcd.transact(EtcdTransaction(then: [.put(key, Array("node".utf8))]))
                let tenure = Tenure(shard: shard, key: key, created: claim.revision, rounds: rounds, lease: lease)
                journals.append(
                    EtcdJournal(
                        tenure: tenure, keys: keys, etcd: unsure, commits: shared, logger: Logger(label: "test")))
            }
            (self.etcd, self.unsure, self.journals) = (etcd, unsure, journals)
            commits = journals.map { Commits(of: $0) }
        }

        /// Has every shard commit something while nothing that is sent is answered, so that it is sent together afterwards.
        func commit(_ record: JournalEntry) {
            unsure.hold()
            for journal in journals { journal.commit(record) }
            unsure.letGo()
        }

        func close() {
            for journal in journals { journal.close() }
        }
    }

    private let record = RecordedLife(seed: 1, records: 1).records[0]

    @Test func `what is ready at the same time is sent in one transaction`() throws {
        let shards = try OwnedShards()
        shards.commit(record)
        for commits in shards.commits { try commits.wait(for: record.sequence) }
        // The first ones go at once, and those that become ready meanwhile share the next transaction.
        #expect(shards.unsure.sent.map(\.commitCount) == [1, 1, 2])
        #expect(shards.unsure.sent.allSatisfy { !$0.isDivided })
        shards.close()
        for journal in shards.journals { #expect(try journal.contents().records == [record]) }
    }

    @Test func `a shard that another node owns does not hold up the others`() throws {
        let shards = try OwnedShards()
        // The last one goes together with the one before it.
        let owner = shards.keys.owner(of: 3)
        _ = try shards.etcd.transact(EtcdTransaction(then: [.delete(.key(owner))]))
        _ = try shards.etcd.transact(EtcdTransaction(then: [.put(owner, Array("node".utf8))]))
        shards.commit(record)
        for commits in shards.commits.dropLast() { try commits.wait(for: record.sequence) }
        #expect(try shards.commits[3].failure().kind == .notOwner)
        #expect(shards.unsure.sent.map(\.isDivided) == [false, false, false, true])
        shards.close()
        for journal in shards.journals.dropLast() { #expect(try journal.contents().records == [record]) }
        #expect(try shards.journals[3].contents().records.isEmpty)
    }

    @Test func `commits whose answer is lost are sent again, and count once`() throws {
        let shards = try OwnedShards()
        let left = Guarded(2)
        shards.unsure.decide { transaction in
            guard transaction.commitCount > 1 else { return .answered }
            return left.withLock { left in
                left -= 1
                return left >= 0 ? .unanswered : .answered
            }
        }
        shards.commit(record)
        for commits in shards.commits { try commits.wait(for: record.sequence) }
        shards.close()
        for journal in shards.journals { #expect(try journal.contents().records == [record]) }
    }

    @Test func `an etcd that takes few operations gets fewer commits at a time`() throws {
        let shards = try OwnedShards(["--max-txn-ops", "2"])
        shards.commit(record)
        for commits in shards.commits { try commits.wait(for: record.sequence) }
        shards.close()
        for journal in shards.journals { #expect(try journal.contents().records == [record]) }
        #expect(shards.unsure.sent.contains { $0.commitCount == 2 })
    }
}

extension EtcdTransaction {
    /// Whether its commits are transactions of their own.
    fileprivate var isDivided: Bool {
        success.contains { operation in
            if case .nested = operation { true } else { false }
        }
    }

    /// How many shards commit in it; each puts two keys.
    fileprivate var commitCount: Int { isDivided ? success.count : success.count / 2 }
}
