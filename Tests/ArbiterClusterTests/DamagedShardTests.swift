import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Nodes on a real etcd in which a value of a shard's journal is not what was written.
struct DamagedShardTests {
    private let etcd: RunningEtcd
    private let keys = ClusterKeys(prefix: "/arbiter/")
    /// A transition in the log of shard 0.
    private let transition: TransitionID
    /// What the log of shard 0 begins with, as it was written.
    private let sound: EtcdKey

    init() throws {
        etcd = try RunningEtcd()
        let node = TestNode("earlier", on: etcd.gateway, shards: 4)
        try node.host.wait { $0.shards == [0, 1, 2, 3] }
        let engine = try #require(node.host.engine(of: 0))
        transition = try Reply.wait { engine.start(TransitionRequest(), completion: $0) }.transition.id
        node.node.stop()
        let found = try etcd.transact(EtcdTransaction(then: [.read(keys.logs(of: 0, from: 0))]))
        sound = try #require(found.found.first?.keys.first)
        var bytes = sound.value
        bytes[bytes.count - 1] ^= 1
        _ = try etcd.transact(EtcdTransaction(then: [.put(sound.name, bytes)]))
    }

    private func repair() throws {
        _ = try etcd.transact(EtcdTransaction(then: [.put(sound.name, sound.value)]))
    }

    @Test func `a damaged shard is tried after longer and longer pauses, and served once it is repaired`() throws {
        let time = ManualTime()
        let node = TestNode("node", on: etcd.gateway, shards: 4, time: time)
        // The other shards are served as ever.
        try node.host.wait { $0.shards == [1, 2, 3] && $0.map.unserved[0] != nil }
        let mark = try #require(node.host.map.unserved[0])
        #expect(mark.node == "http://node")
        #expect(mark.reason.contains(sound.name))

        var tries = 1
        for pause in [1, 2, 4] {
            #expect(node.host.tried.filter { $0 == 0 }.count == tries)
            time.advance(by: .milliseconds(pause * 1000 - 1))
            // The second of these looks has begun after the time was set.
            let looks = node.host.looks
            try node.host.wait { $0.looks >= looks + 2 }
            #expect(node.host.tried.filter { $0 == 0 }.count == tries)
            time.advance(by: .milliseconds(1))
            tries += 1
            try node.host.wait { host in host.tried.filter { $0 == 0 }.count == tries }
            // The next look begins when the shard has been given up.
            let look = node.host.looks
            try node.host.wait { $0.looks > look }
        }

        try repair()
        time.advance(by: .seconds(8))
        try node.host.wait { $0.shards == [0, 1, 2, 3] && $0.map.unserved.isEmpty }
        let engine = try #require(node.host.engine(of: 0))
        let view = try Reply.wait { completion in
            engine.read { [transition] machine, now throws(ArbiterError) in
                try machine.view(of: transition, at: now)
            } completion: {
                completion($0)
            }
        }
        #expect(view.transition.id == transition)
        node.node.stop()
    }

    @Test func `etcd forgets its history also while the first shard is damaged`() throws {
        let time = ManualTime()
        let node = TestNode("node", on: etcd.gateway, shards: 4, time: time)
        try node.host.wait { $0.shards == [1, 2, 3] && $0.map.unserved[0] != nil }
        let looks = node.host.looks
        try node.host.wait { $0.looks >= looks + 2 }
        #expect(node.etcd.compactions == 0)
        time.advance(by: .seconds(31))
        try node.host.wait { _ in node.etcd.compactions == 1 }
        node.node.stop()
    }

    @Test func `other nodes try a damaged shard too, and a node that joins gets its share of the others`() throws {
        let first = TestNode("first", on: etcd.gateway, shards: 4)
        try first.host.wait { $0.shards == [1, 2, 3] && $0.map.unserved[0] != nil }
        let second = TestNode("second", on: etcd.gateway, shards: 4)
        try second.host.wait { $0.tried.contains(0) && $0.shards.count == 1 }
        try first.host.wait { $0.shards.count == 2 }
        // What one node knows of the shard is known to every node.
        try first.host.wait { $0.map.unserved[0]?.node == "http://second" }
        try repair()
        for host in [first.host, second.host] { try host.wait { $0.map.owners.count == 4 && $0.map.unserved.isEmpty } }
        // The first one tries the shard too, whatever it has, and hands over what is too much then.
        for host in [first.host, second.host] { try host.wait { $0.shards.count == 2 } }
        #expect(first.host.shards.union(second.host.shards) == [0, 1, 2, 3])
        for node in [first, second] { node.node.stop() }
    }
}
