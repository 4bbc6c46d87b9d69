import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import Dispatch
import Logging
import Testing

/// A node, and the way by which it reaches etcd.
final class TestNode {
    let host: RecordingHost
    let etcd: UnsureEtcd
    let node: ClusterNode
    let failed = Failed()

    init(
        _ name: String, on etcd: any Etcd, shards: Int, rules: Rules = .newest, limits: Limits? = nil,
        adoptsLimits: Bool = false, timeToLive: Duration = .seconds(60), quota: Int = 2 << 30,
        time: any TimeSource = SystemTimeSource()
    ) {
        host = RecordingHost(shards: shards)
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

/// Whether a node has ended its part in the cluster, and why.
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

extension RecordingHost {
    /// Starts a transition in the first shard.
    func start() throws -> TransitionView {
        let engine = try #require(self.engine(of: 0))
        return try Reply.wait { engine.start(TransitionRequest(), completion: $0) }
    }

    /// A transition of the first shard.
    func view(of id: TransitionID) throws -> TransitionView {
        let engine = try #require(self.engine(of: 0))
        return try Reply.wait { completion in
            engine.read { machine, now throws(ArbiterError) in
                try machine.view(of: id, at: now)
            } completion: {
                completion($0)
            }
        }
    }
}
