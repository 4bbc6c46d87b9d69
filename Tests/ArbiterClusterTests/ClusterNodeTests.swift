import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Which shards the nodes on a real etcd claim, and hand over.
struct ClusterNodeTests {
    @Test func `one node claims every shard, and a second one gets half of them, and the others when the first stops`()
        throws
    {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 4)
        try first.host.wait { $0.shards.count == 4 }
        let second = TestNode("second", on: etcd.gateway, shards: 4)
        try second.host.wait { $0.shards.count == 2 }
        try first.host.wait { $0.shards.count == 2 }
        first.node.stop()
        #expect(first.host.handedOver.sorted() == [0, 1, 2, 3])
        try second.host.wait { $0.shards.count == 4 }
        second.node.stop()
    }

    @Test func `what is handed over was read ahead, by a node that joins and by those that stay`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 4)
        try first.host.wait { $0.shards.count == 4 }
        let granted = try first.host.start()
        let second = TestNode("second", on: etcd.gateway, shards: 4)
        try second.host.wait { $0.shards.count == 2 }
        #expect(second.host.continued.sorted() == second.host.shards.sorted())
        first.node.stop()
        try second.host.wait { $0.shards.count == 4 }
        #expect(second.host.continued.count == 4)
        let seen = try second.host.view(of: granted.transition.id)
        #expect(seen.transition.grant == granted.transition.grant)
        #expect(try etcd.transact(.read(.prefix("/arbiter/next/"))).found.first?.keys.isEmpty == true)
        second.node.stop()
    }

    @Test func `a successor that cannot read a shard ahead gets it nevertheless, and reads it then`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards.count == 1 }
        _ = try first.host.start()
        let second = TestNode("second", on: etcd.gateway, shards: 1)
        try second.host.wait { $0.map.nodes.count == 2 }
        second.host.refusesReading = true
        first.node.stop()
        try second.host.wait { $0.shards.count == 1 }
        #expect(second.host.continued.isEmpty)
        second.node.stop()
    }

    @Test func `a successor that dies does not keep its shard from the others`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        try first.host.wait { $0.shards.count == 1 }
        let dying = TestNode("dying", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        try first.host.wait { $0.map.nodes.count == 2 }
        dying.etcd.isCutOff = true
        first.node.stop()
        let third = TestNode("third", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        try third.host.wait { $0.shards.count == 1 }
        third.node.stop()
    }

    @Test func `two nodes that begin together share the shards`() throws {
        let etcd = try RunningEtcd()
        let nodes = ["first", "second"].map { TestNode($0, on: etcd.gateway, shards: 8) }
        // The first one may claim all of them, and hand over half.
        for node in nodes { try node.host.wait { $0.shards.count == 4 } }
        let owned = nodes.map(\.host.shards)
        #expect(owned[0].isDisjoint(with: owned[1]))
        #expect(owned[0].union(owned[1]) == Set(0..<8))
        for node in nodes { node.node.stop() }
    }

    @Test func `a shard whose release is not answered is released again, and not served twice in a tenure`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 2)
        try first.host.wait { $0.shards.count == 2 }
        let lost = Guarded(0)
        first.etcd.decide { transaction in
            guard case .delete = transaction.success.first else { return .answered }
            return lost.withLock { lost in
                lost += 1
                return lost <= 2 ? .lost : .answered
            }
        }
        let second = TestNode("second", on: etcd.gateway, shards: 2)
        try second.host.wait { $0.shards.count == 1 }
        #expect(lost.withLock { $0 } == 3)
        #expect(first.host.begun.sorted() == [0, 1])
        first.etcd.decide { _ in .answered }
        first.node.stop()
        second.node.stop()
    }

    @Test func `a node with another number of shards does not take part`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 4)
        try first.host.wait { $0.shards.count == 4 }
        let other = TestNode("other", on: etcd.gateway, shards: 8)
        first.node.stop()
        let error = try other.failed.wait()
        #expect(error.kind == .unknownForm)
        #expect(error.reason.contains("4 shards") && error.reason.contains("--shards 8"))
        #expect(other.host.shards.isEmpty)
    }

    @Test func `a node waits until the lease of its earlier life is over`() throws {
        let etcd = try RunningEtcd()
        let earlier = TestNode("first", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        try earlier.host.wait { $0.shards == [0] }
        earlier.etcd.isCutOff = true
        let later = TestNode("first", on: etcd.gateway, shards: 1)
        try later.host.wait { $0.shards == [0] }
        later.node.stop()
    }
}
