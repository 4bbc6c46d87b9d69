import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Nodes on a real etcd that does not answer them, or not as they wish.
struct LostTenureTests {
    @Test func `a node whose keepalives are not answered stops before its lease ends, and another one goes on`() throws
    {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1, timeToLive: .seconds(6))
        try first.host.wait { $0.shards == [0] }
        let granted = try first.host.start()
        let second = TestNode("second", on: etcd.gateway, shards: 1)
        first.etcd.isCutOff = true
        try first.host.wait { $0.shards.isEmpty }
        try second.host.wait { $0.shards == [0] }
        let seen = try second.host.view(of: granted.transition.id)
        #expect(seen.transition.grant == granted.transition.grant)
        // The first one comes back, and takes part again.
        first.etcd.isCutOff = false
        try first.host.wait { $0.map.nodes.count == 2 }
        #expect(first.host.shards.isEmpty)
        first.node.stop()
        second.node.stop()
    }

    @Test func `a tenure that is lost while its engine is made serves nothing`() throws {
        let owned = try OwnedShard()
        let tenure = try owned.claim()
        let host = RecordingHost(shards: 1) { tenure.lose() }
        try host.begin(tenure, owned.journal(tenure), as: ClusterForm(shards: 1))
        #expect(host.begun == [0] && host.dropped == [0] && host.shards.isEmpty)
    }

    @Test func `an owner that does not know of its end answers nothing, also where nothing is committed`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let granted = try first.host.start()
        let engine = try #require(first.host.engine(of: 0))
        // Its lease ends while it is paused, and it does not hear of that.
        let owner = ClusterKeys(prefix: "/arbiter/").owner(of: 0)
        first.etcd.decide { $0.conditions.isEmpty ? .lost : .answered }
        _ = try etcd.transact(EtcdTransaction(then: [.delete(.key(owner))]))
        _ = try etcd.transact(EtcdTransaction(then: [.put(owner, Array("other".utf8))]))
        let renewed = Result {
            try Reply.wait { engine.renew(granted.transition.id, token: granted.transition.token, completion: $0) }
        }
        #expect(throws: EngineError.self) { try renewed.get() }
        guard case .failure(let error as EngineError) = renewed, case .notOwner = error else {
            return #expect(Bool(false), "\(renewed)")
        }
        try first.host.wait { $0.shards.isEmpty }
    }

    @Test func `a commit that etcd never takes costs its shard a tenure, and nothing else`() throws {
        let etcd = try RunningEtcd(["--max-request-bytes", "3000"])
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let granted = try first.host.start()
        let large = TransitionRequest(
            scene: try #require(SceneName("other")),
            animation: AnimationRequest(userInfo: Array(repeating: UInt8(ascii: " "), count: Limits.userInfoBytes)))
        let engine = try #require(first.host.engine(of: 0))
        #expect(throws: EngineError.self) { try Reply.wait { engine.start(large, completion: $0) } }
        // In a tenure of its own, without what was refused.
        try first.host.wait { $0.begun.count == 2 && $0.shards == [0] }
        let seen = try first.host.view(of: granted.transition.id)
        #expect(seen.transition.grant == granted.transition.grant)
        first.node.stop()
    }

    @Test func `a node stops in the end although etcd does not take its commits`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        first.etcd.decide { $0.success.count == 2 ? .refused : .answered }
        let engine = try #require(first.host.engine(of: 0))
        let answered = Guarded(Result<TransitionView, EngineError>?.none)
        engine.start(TransitionRequest()) { result in answered.withLock { $0 = result } }
        first.node.stop()
        guard case .failure(.journalUnavailable)? = answered.withLock({ $0 }) else {
            return #expect(Bool(false), "not answered, or not as what may have been carried out")
        }
        let owner = ClusterKeys(prefix: "/arbiter/").owner(of: 0)
        #expect(try etcd.transact(.read(.key(owner))).found.first?.keys.isEmpty == true)
    }

    @Test func `a keepalive that fails is sent again soon`() throws {
        let etcd = try RunningEtcd()
        let unsure = UnsureEtcd(etcd.gateway)
        unsure.losesKeepalives = 2
        // The next one that is due comes after two minutes.
        let lease = try NodeLease.grant(for: .seconds(600), etcd: unsure)
        try unsure.waitForKeepalives(3)
        #expect(!lease.isOver)
        lease.revoke()
    }

    @Test func `an answer of a living member leads to no other one`() {
        #expect(!EtcdError(.unknown, "etcdserver: leader changed").isOfMember)
        #expect(EtcdError(.unknown, "etcdserver: request timed out").isOfMember)
        #expect(EtcdError(.unreachable, "connection refused").isOfMember)
        #expect(!EtcdError(.refused, "etcdserver: request is too large").isOfMember)
    }
}
