import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

/// Nodes that support different rules, on a real etcd.
struct RulesTests {
    private let keys = ClusterKeys(prefix: "/arbiter/")

    private func keyed(_ scene: String) throws -> TransitionRequest {
        TransitionRequest(
            scene: try #require(SceneName(scene)), idempotencyKey: IdempotencyKey(unchecked: "0123456789abcdef"))
    }

    private func start(_ request: TransitionRequest, on node: TestNode) throws -> TransitionView {
        let engine = try #require(node.host.engine(of: 0))
        return try Reply.wait { engine.start(request, completion: $0) }
    }

    /// The rules of every record of a shard, in their order.
    private func recorded(_ shard: Int, in etcd: RunningEtcd) throws -> [Rules] {
        let found = try etcd.transact(.read(keys.logs(of: shard, from: 0))).found.first?.keys ?? []
        return found.flatMap { key in
            // Behind form, first, last and checksum: three bytes of the number of records, and one of the rules.
            let (count, rules) = (Int(key.value[21]) | Int(key.value[22]) << 8, Rules(rawValue: key.value[24]))
            return Array(repeating: rules ?? .first, count: count)
        }
    }

    @Test func `the rules are raised when the last node that supports only lower ones has left`() throws {
        let etcd = try RunningEtcd()
        let earlier = TestNode("earlier", on: etcd.gateway, shards: 2, rules: .first)
        try earlier.host.wait { $0.shards == [0, 1] }
        let later = TestNode("later", on: etcd.gateway, shards: 2, rules: .second)
        // It serves what the other one hands over, under the rules of the cluster.
        try later.host.wait { $0.shards.count == 1 }
        try earlier.host.wait { $0.shards == [0] }
        let first = try start(try keyed("a"), on: earlier)
        #expect(later.host.engine(of: 1)?.rules == .first)
        #expect(later.host.forms.map(\.rulesInForce) == [.first])
        earlier.node.stop()
        try later.host.wait { $0.shards == [0, 1] && $0.forms.last?.rulesInForce == .second }
        try later.host.wait { host in [0, 1].allSatisfy { host.engine(of: $0)?.rules == .second } }
        // What was there before is known, and what is new is recorded under the new rules.
        #expect(try start(try keyed("a"), on: later).transition.id == first.transition.id)
        _ = try start(try keyed("b"), on: later)
        later.node.stop()
        let recorded = try recorded(0, in: etcd)
        #expect(recorded == recorded.sorted())
        #expect(recorded.first == .first && recorded.last == .second)

        // A node that supports only lower rules cannot come back.
        let late = TestNode("late", on: etcd.gateway, shards: 2, rules: .first)
        let error = try late.failed.wait()
        #expect(error.kind == .unknownForm)
        let reason = error.reason
        #expect(reason.contains("rules 3") && reason.contains("this node supports 1 to 1"))
        #expect(late.host.shards.isEmpty)
        // One that supports them can.
        let last = TestNode("last", on: etcd.gateway, shards: 2, rules: .second)
        try last.host.wait { $0.shards == [0, 1] }
        #expect(try start(try keyed("a"), on: last).transition.id == first.transition.id)
        last.node.stop()
    }

    @Test func `an owner that runs adopts the rules by a record in each of its shards`() throws {
        let etcd = try RunningEtcd()
        let earlier = TestNode("earlier", on: etcd.gateway, shards: 4, rules: .first)
        try earlier.host.wait { $0.shards.count == 4 }
        let later = TestNode("later", on: etcd.gateway, shards: 4, rules: .second)
        try later.host.wait { $0.shards.count == 2 }
        try earlier.host.wait { $0.shards.count == 2 }
        let running = later.host.shards
        let scenes = (0..<100).map { SceneName(unchecked: "scene-\($0)") }
        for shard in 0..<4 {
            let host = running.contains(shard) ? later.host : earlier.host
            let engine = try #require(host.engine(of: shard))
            let scene = try #require(scenes.first { Slot($0).shard(of: 4) == shard })
            _ = try Reply.wait { engine.start(TransitionRequest(scene: scene), completion: $0) } as TransitionView
        }
        earlier.node.stop()
        try later.host.wait { host in (0..<4).allSatisfy { host.engine(of: $0)?.rules == .second } }
        #expect(later.host.begun.filter(running.contains).count == 2, "they have not been begun anew")
        later.node.stop()
        for shard in 0..<4 {
            let recorded = try recorded(shard, in: etcd)
            #expect(recorded.first == .first && recorded.last == .second, "shard \(shard): \(recorded)")
        }
    }

    @Test func `a node that registers while the rules are raised does not get in`() throws {
        let etcd = try RunningEtcd()
        let earlier = TestNode("earlier", on: etcd.gateway, shards: 1, rules: .first)
        try earlier.host.wait { $0.shards == [0] }
        let later = TestNode("later", on: etcd.gateway, shards: 1, rules: .second)
        try later.host.wait { $0.map.nodes.count == 2 }
        // The raise of the other one is kept from etcd until a third node is there.
        let form = keys.form
        later.etcd.decide { $0.success.contains { $0.puts(form) } ? .late : .answered }
        earlier.node.stop()
        try later.etcd.wait(for: 1) { $0.success.contains { $0.puts(form) } }
        let third = TestNode("third", on: etcd.gateway, shards: 1, rules: .first)
        try later.host.wait { $0.map.nodes["http://third"] != nil }
        later.etcd.decide { _ in .answered }
        #expect(try later.etcd.deliverLate().allSatisfy { !$0.succeeded }, "a node has registered since")
        #expect(third.failed.error == nil)
        #expect(later.host.forms.map(\.rulesInForce) == [.first])
        third.node.stop()
        try later.host.wait { $0.forms.last?.rulesInForce == .second }
        later.node.stop()
    }

    @Test func `a cluster under rules that no version here knows is refused`() throws {
        let etcd = try RunningEtcd()
        _ = try etcd.transact(EtcdTransaction(then: [.put(keys.form, Array(#"{"rules":77,"shards":1}"#.utf8))]))
        let node = TestNode("old", on: etcd.gateway, shards: 1, rules: .second)
        let reason = try node.failed.wait().reason
        #expect(reason.contains("rules 77") && reason.contains("run the version of the other nodes"))
    }
}
