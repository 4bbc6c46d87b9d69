import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// The limits that every node of a cluster has to have alike, on a real etcd.
struct LimitsTests {
    private let keys = ClusterKeys(prefix: "/arbiter/")

    private func limits(sessions: Int, memory: Int? = nil, ended: Int = 10_000) -> Limits {
        var limits = Limits()
        (limits.sessions, limits.memory, limits.retainedCount) = (sessions, memory, ended)
        return limits
    }

    /// The limits by which the engine of the first shard admits and forgets.
    private func inForce(_ host: RecordingHost) -> ClusterLimits? {
        host.engine(of: 0)?.inspect { machine in
            var limits = machine.limits
            limits.retainedCount = machine.retention.count
            return ClusterLimits(limits)
        }
    }

    @Test func `limits come back from what is stored of them`() throws {
        var limits = limits(sessions: 7, memory: 1 << 30, ended: 5)
        (limits.unfinishedPerPrincipal, limits.sessionsPerPrincipal, limits.scenes) = (3, nil, 4)
        #expect(ClusterLimits(limits).applied(to: Limits()) == limits)
        var others = Limits()
        (others.memory, others.sessionsPerPrincipal) = (9, 9)
        #expect(ClusterLimits(limits).applied(to: others) == limits)
    }

    @Test func `a node with other limits does not start, and says which differ`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1, limits: limits(sessions: 5, memory: 1 << 27))
        try first.host.wait { $0.shards == [0] }
        let other = TestNode("other", on: etcd.gateway, shards: 1, limits: limits(sessions: 6))
        let reason = try other.failed.wait().reason
        #expect(reason.contains("max-sessions 5, not 6"))
        #expect(reason.contains("max-memory 134217728, not unlimited"))
        #expect(!reason.contains("max-queued"))
        let same = TestNode("same", on: etcd.gateway, shards: 1, limits: limits(sessions: 5, memory: 1 << 27))
        try same.host.wait { $0.map.nodes.count == 2 }
        #expect(same.failed.error == nil)
        for node in [first, same] { node.node.stop() }
    }

    @Test func `the limits change when every node was started with the new ones, by a record in each shard`() throws {
        let etcd = try RunningEtcd()
        let (old, new) = (limits(sessions: 5), limits(sessions: 6, ended: 3))
        let first = TestNode("first", on: etcd.gateway, shards: 1, limits: old)
        try first.host.wait { $0.shards == [0] }
        #expect(inForce(first.host) == ClusterLimits(old))
        let second = TestNode("second", on: etcd.gateway, shards: 1, limits: new, adoptsLimits: true)
        try second.host.wait { $0.map.nodes.count == 2 }
        #expect(second.host.forms.last?.limits == ClusterLimits(old), "the first node has the old ones")
        first.node.stop()
        try second.host.wait { self.inForce($0) == ClusterLimits(new) }
        #expect(second.host.forms.map(\.limits) == [ClusterLimits(old), ClusterLimits(new)])
        let engine = try #require(second.host.engine(of: 0))
        let state = engine.inspect { $0.snapshot() }
        second.node.stop()

        // The journal says what is forgotten, and the old limits are not those of the cluster any more.
        let late = TestNode("late", on: etcd.gateway, shards: 1, limits: old)
        let reason = try late.failed.wait().reason
        #expect(reason.contains("max-sessions 6, not 5") && reason.contains("ended 3, not 10000"))
        let last = TestNode("last", on: etcd.gateway, shards: 1, limits: new)
        try last.host.wait { $0.shards == [0] }
        #expect(last.host.engine(of: 0)?.inspect { $0.snapshot() } == state)
        last.node.stop()
    }

    @Test func `a cluster that was copied gets the limits of its first node`() throws {
        let etcd = try RunningEtcd()
        _ = try etcd.transact(EtcdTransaction(then: [.put(keys.form, Array(#"{"rules":1,"shards":1}"#.utf8))]))
        let first = TestNode("first", on: etcd.gateway, shards: 1, limits: limits(sessions: 5))
        try first.host.wait { $0.forms.last?.limits == ClusterLimits(self.limits(sessions: 5)) }
        let other = TestNode("other", on: etcd.gateway, shards: 1, limits: limits(sessions: 6))
        #expect(try other.failed.wait().reason.contains("max-sessions 5, not 6"))
        first.node.stop()
    }

    @Test func `limits of another version are not taken for those of this one`() throws {
        let etcd = try RunningEtcd()
        _ = try etcd.transact(
            EtcdTransaction(then: [.put(keys.form, Array(#"{"limits":{"max-wishes":3},"rules":1,"shards":1}"#.utf8))]))
        let node = TestNode("node", on: etcd.gateway, shards: 1, limits: Limits())
        #expect(try node.failed.wait().reason.contains("max-wishes"))
    }
}
