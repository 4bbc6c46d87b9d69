import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Logging
import Testing

/// Copies of a state into a real etcd and out of it.
struct ClusterCopyTests {
    private let etcd: RunningEtcd
    private let unsure: UnsureEtcd
    private let keys = ClusterKeys(prefix: "/arbiter/")
    private let copy: ClusterCopy

    init() throws {
        etcd = try RunningEtcd()
        unsure = UnsureEtcd(etcd.gateway)
        copy = ClusterCopy(keys: keys, etcd: unsure)
    }

    private func crowd(_ records: Int = 600) -> ShardState {
        var crowd = RecordedCrowd(seed: 7)
        crowd.live(records)
        return crowd.state
    }

    private func differences(_ source: [ShardState], _ copy: [ShardState]) -> [String] {
        CopiedFacts(of: source).differences(in: CopiedFacts(of: copy))
    }

    private func counts(of shards: [ShardState]) -> [ShardCounts] {
        shards.enumerated().map { $1.counts(in: Shard($0, of: shards.count)) }
    }

    private func names(below prefix: String = "/arbiter/") throws -> [String] {
        var range = EtcdRange.prefix(prefix)
        range.keysOnly = true
        return try etcd.transact(.read(range)).found.first?.keys.map(\.name) ?? []
    }

    private func put(_ key: String, _ value: String = "") throws {
        _ = try etcd.transact(EtcdTransaction(then: [.put(key, Array(value.utf8))]))
    }

    /// The states of a cluster.
    private func read() throws(JournalError) -> [ShardState] {
        try copy.read { shards, confirm throws(JournalError) in
            try confirm()
            return shards
        }
    }

    @Test(arguments: [1, 4, 200])
    func `a state in etcd is read back as it was`(count: Int) throws {
        let source = crowd()
        let shards = try source.divided(among: count)
        try copy.make(of: shards) { stored throws(JournalError) in
            #expect(differences([source], stored) == [])
        }
        #expect(try !names().contains(keys.copy))
        let stored = try read()
        #expect(stored.count == count)
        #expect(differences(shards, stored) == [])
        #expect(differences([source], [try ShardState.merged(stored)]) == [])
        #expect(stored.map(\.sequence) == shards.map(\.sequence))
    }

    @Test func `a large state is written in parts, also where answers are lost`() throws {
        var machine = ArbiterStateMachine()
        let moment = RecordedLife(seed: 1, records: 1).records[0].moment
        let view = SampleHierarchies.hierarchy("root", Controller(id: SampleHierarchies.id("root")))
        for number in 0..<3000 {
            let (scene, text) = (SceneName("scene-\(number)"), String(repeating: "x", count: 100))
            let types = (0..<4).map { TransitionType(name: SampleHierarchies.type("\(text)-\($0)")) }
            let storyboard = SampleHierarchies.storyboard(hierarchy: view, transitionTypes: types)
            guard let scene else { continue }
            #expect(!machine.apply(.declare(scene, storyboard), at: moment).records.isEmpty)
        }
        let source = ShardState(machine: machine, sequence: 3000, moment: moment)
        let left = Guarded(3)
        unsure.decide { transaction in
            guard transaction.success.contains(where: { if case .put = $0 { true } else { false } }) else {
                return .answered
            }
            return left.withLock { left in
                left -= 1
                return left >= 0 ? .unanswered : .answered
            }
        }
        try copy.make(of: try source.divided(among: 2)) { stored throws(JournalError) in
            #expect(differences([source], stored) == [])
        }
        #expect(try names(below: "/arbiter/chunk/").count > 2)
        #expect(differences([source], try read()) == [])
    }

    @Test func `nodes go on with what was copied`() throws {
        let shards = try crowd().divided(among: 4)
        try copy.make(of: shards) { _ in }
        let host = RecordingHost(shards: 4)
        let node = node(host)
        node.start()
        try host.wait { $0.shards == [0, 1, 2, 3] }
        #expect {
            try read()
        } throws: { error in
            (error as? JournalError)?.kind == .inUse
        }
        node.stop()
        // The node has added what is forgotten from now on, and that it has stopped.
        let stopped = try read()
        #expect(counts(of: stopped) == counts(of: shards))
        #expect(zip(stopped, shards).allSatisfy { $0.sequence == $1.sequence + 2 })
    }

    private func node(_ host: RecordingHost) -> ClusterNode {
        let (keys, etcd) = (keys, etcd.gateway)
        let settings = ClusterNode.Settings(
            address: "http://127.0.0.1:1", form: ClusterForm(shards: 4), timeToLive: .seconds(30), version: "test")
        return ClusterNode(settings, keys: keys, etcd: etcd, host: host, logger: Logger(label: "test")) { tenure in
            EtcdJournal(tenure: tenure, keys: keys, etcd: etcd, logger: Logger(label: "test"))
        } whenFailed: { _ in
        }
    }

    @Test func `no node serves while it is copied, nor after a copy that broke off`() throws {
        let host = RecordingHost(shards: 4)
        let node = node(host)
        try copy.make(of: try crowd().divided(among: 4)) { _ throws(JournalError) in
            node.start()
            #expect(eventually { node.waitsFor?.contains(keys.copy) == true })
        }
        try host.wait { $0.shards.count == 4 }
        node.stop()
        try put(keys.copy, "broken off")
        #expect { try read() } throws: { error in (error as? JournalError)?.reason.contains("broken off") == true }
        let other = RecordingHost(shards: 4)
        let later = self.node(other)
        later.start()
        #expect(eventually { later.waitsFor?.contains(keys.copy) == true })
        #expect(other.shards.isEmpty)
        later.stop()
    }

    @Test func `a copy that is refused leaves nothing`() throws {
        let shards = try crowd().divided(among: 4)
        #expect {
            try copy.make(of: shards) { _ throws(JournalError) in throw JournalError(reason: "it differs") }
        } throws: { error in
            (error as? JournalError)?.reason == "it differs"
        }
        #expect(try names() == [])
        #expect { try read() } throws: { ($0 as? JournalError)?.reason.contains("there is no cluster") == true }
        #expect(try names() == [])
    }

    @Test func `where there are keys already, nothing is written`() throws {
        try put("/arbiter/owner/3")
        #expect {
            try copy.make(of: try crowd().divided(among: 4)) { _ in }
        } throws: { error in
            (error as? JournalError)?.reason.contains("/arbiter/owner/3") == true
        }
        #expect(try names() == ["/arbiter/owner/3"])
        #expect { try read() } throws: { ($0 as? JournalError)?.kind == .inUse }
    }

    @Test func `what is damaged in etcd is not copied`() throws {
        try copy.make(of: try crowd().divided(among: 2)) { _ in }
        let chunk = try #require(try names(below: "/arbiter/chunk/").first)
        try put(chunk, "something else")
        #expect { try read() } throws: { ($0 as? JournalError)?.kind == .damaged }
    }
}
