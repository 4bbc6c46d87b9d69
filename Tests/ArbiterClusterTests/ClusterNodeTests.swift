import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Glibc
import Logging
import Testing

/// Nodes on a real etcd.
struct ClusterNodeTests {
    /// A node, and the way by which it reaches etcd.
    final class TestNode {
        let host = EngineHost()
        let etcd: UnsureEtcd
        let node: ClusterNode
        let failed = Failed()

        init(
            _ name: String, on etcd: any Etcd, shards: Int, rules: Rules = .newest, limits: Limits? = nil,
            adoptsLimits: Bool = false, timeToLive: Duration = .seconds(60), quota: Int = 2 << 30,
            time: any TimeSource = SystemTimeSource()
        ) {
            self.etcd = UnsureEtcd(etcd)
            let keys = ClusterKeys(prefix: "/arbiter/")
            let settings = ClusterNode.Settings(
                address: "http://\(name)",
                form: ClusterForm(shards: shards, rules: rules, limits: limits.map(ClusterLimits.init)),
                timeToLive: timeToLive, version: "test", quota: quota, adoptsLimits: adoptsLimits)
            let (unsure, logger) = (self.etcd, Logger(label: "test"))
            node = ClusterNode(settings, keys: keys, etcd: unsure, host: host, time: time, logger: logger) { tenure in
                EtcdJournal(tenure: tenure, keys: keys, etcd: unsure, logger: logger)
            } whenFailed: { [failed] in
                failed.note($0)
            }
            node.start()
        }
    }

    final class Failed: Sendable {
        private let state = Guarded(JournalError?.none)
        private let arrival = DispatchSemaphore(value: 0)

        func note(_ error: JournalError) {
            state.withLock { $0 = error }
            arrival.signal()
        }

        var error: JournalError? { state.withLock { $0 } }

        /// Waits until the node has ended its part in the cluster.
        func wait() throws -> JournalError {
            guard arrival.wait(timeout: .now() + .seconds(30)) == .success, let error else {
                throw EtcdError(.unknown, "the node takes part")
            }
            return error
        }
    }

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
        let granted = try start(on: first.host)
        let second = TestNode("second", on: etcd.gateway, shards: 4)
        try second.host.wait { $0.shards.count == 2 }
        #expect(second.host.continued.sorted() == second.host.shards.sorted())
        first.node.stop()
        try second.host.wait { $0.shards.count == 4 }
        #expect(second.host.continued.count == 4)
        let seen = try view(of: granted.transition.id, on: second.host)
        #expect(seen.transition.grant == granted.transition.grant)
        #expect(try etcd.transact(.read(.prefix("/arbiter/next/"))).found.first?.keys.isEmpty == true)
        second.node.stop()
    }

    @Test func `a successor that cannot read a shard ahead gets it nevertheless, and reads it then`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards.count == 1 }
        _ = try start(on: first.host)
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

    @Test func `a node whose keepalives are not answered stops before its lease ends, and another one goes on`() throws
    {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        try first.host.wait { $0.shards == [0] }
        let granted = try start(on: first.host)
        let second = TestNode("second", on: etcd.gateway, shards: 1, timeToLive: .seconds(2))
        first.etcd.isCutOff = true
        try first.host.wait { $0.shards.isEmpty }
        try second.host.wait { $0.shards == [0] }
        let seen = try view(of: granted.transition.id, on: second.host)
        #expect(seen.transition.grant == granted.transition.grant)
        // The first one comes back, and takes part again.
        first.etcd.isCutOff = false
        try first.host.wait { $0.map.nodes.count == 2 }
        #expect(first.host.shards.isEmpty)
        first.node.stop()
        second.node.stop()
    }

    @Test func `an owner that does not know of its end answers nothing, also where nothing is committed`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let granted = try start(on: first.host)
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
        let granted = try start(on: first.host)
        let large = TransitionRequest(
            scene: try #require(SceneName("other")),
            animation: AnimationRequest(userInfo: Array(repeating: UInt8(ascii: " "), count: Limits.userInfoBytes)))
        let engine = try #require(first.host.engine(of: 0))
        #expect(throws: EngineError.self) { try Reply.wait { engine.start(large, completion: $0) } }
        // In a tenure of its own, without what was refused.
        try first.host.wait { $0.begun.count == 2 && $0.shards == [0] }
        let seen = try view(of: granted.transition.id, on: first.host)
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

    @Test func `the host is told when etcd has hardly any room`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.rooms == [.enough] }
        first.node.stop()
        // Less than the file of an empty etcd, and then less than its pages in use.
        let size = try Reply.wait { etcd.gateway.measure(within: .seconds(5), completion: $0) }
        #expect(0 < size.used && size.used <= size.file)
        let second = TestNode("second", on: etcd.gateway, shards: 1, quota: size.used)
        try second.host.wait { $0.rooms == [.short] }
        second.node.stop()
    }

    @Test func `the file of etcd warns, and what is in use of it stops admission`() {
        #expect(EtcdRoom(EtcdSize(file: 599, used: 599), of: 1000) == .enough)
        #expect(EtcdRoom(EtcdSize(file: 600, used: 10), of: 1000) == .low)
        #expect(EtcdRoom(EtcdSize(file: 1000, used: 799), of: 1000) == .low)
        #expect(EtcdRoom(EtcdSize(file: 800, used: 800), of: 1000) == .short)
    }

    @Test func `many reads share few questions to etcd`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let granted = try start(on: first.host)
        let engine = try #require(first.host.engine(of: 0))
        let before = first.etcd.sent.count
        let answers = Guarded(0)
        try Reply.wait { (completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void) in
            for _ in 0..<500 {
                engine.renew(granted.transition.id, token: granted.transition.token) { _ in
                    let count = answers.withLock { answers in
                        answers += 1
                        return answers
                    }
                    if count == 500 { completion(.success(())) }
                }
            }
        }
        #expect(first.etcd.sent.count - before < 250)
        first.node.stop()
    }

    @Test func `while etcd has no room, requests are refused, and parked ones are answered afterwards`() throws {
        let etcd = try RunningEtcd()
        let first = TestNode("first", on: etcd.gateway, shards: 1)
        try first.host.wait { $0.shards == [0] }
        let holder = try start(on: first.host)
        let engine = try #require(first.host.engine(of: 0))
        let granted = Grants()
        engine.serialize(TransitionRequest(), wait: .seconds(100)) { granted.note($0) }
        first.etcd.decide { $0.success.count == 2 ? .refused : .answered }
        let ended = Result {
            try Reply.wait {
                engine.end(holder.transition.id, token: holder.transition.token, as: nil, completion: $0)
            }
        }
        guard case .failure(let error as EngineError) = ended, case .journalUnavailable(let reason) = error else {
            Issue.record("\(ended)")
            return
        }
        #expect(reason.kind == .stalled)
        #expect(throws: EngineError.self) { try start(on: first.host) }
        #expect(granted.count == 0)
        first.etcd.decide { _ in .answered }
        try granted.wait()
        first.node.stop()
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

    /// The answers of a request that is parked.
    final class Grants: Sendable {
        private let state = Guarded(0)
        private let arrival = DispatchSemaphore(value: 0)

        var count: Int { state.withLock { $0 } }

        func note(_ result: Result<TransitionView, EngineError>) {
            guard case .success = result else { return }
            state.withLock { $0 += 1 }
            arrival.signal()
        }

        func wait() throws {
            guard arrival.wait(timeout: .now() + .seconds(30)) == .success else {
                throw EtcdError(.unknown, "no grant came")
            }
        }
    }

    private func start(on host: EngineHost) throws -> TransitionView {
        let engine = try #require(host.engine(of: 0))
        return try Reply.wait { engine.start(TransitionRequest(), completion: $0) }
    }

    private func view(of id: TransitionID, on host: EngineHost) throws -> TransitionView {
        let engine = try #require(host.engine(of: 0))
        return try Reply.wait { completion in
            engine.read { machine, now throws(ArbiterError) in
                try machine.view(of: id, at: now)
            } completion: {
                completion($0)
            }
        }
    }
}
