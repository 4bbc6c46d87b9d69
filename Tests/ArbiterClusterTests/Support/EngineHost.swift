import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import Dispatch

/// A host that runs an engine for each shard, and waits for what happens.
final class EngineHost: ShardHost {
    private struct State {
        var engines: [Int: Engine] = [:]
        var begun: [Int] = []
        var dropped: [Int] = []
        var handedOver: [Int] = []
        var map = ShardMap()
        var rooms: [EtcdRoom] = []
    }

    private let state = Guarded(State())
    private let progress = DispatchSemaphore(value: 0)

    func begin(_ tenure: Tenure, _ journal: EtcdJournal) throws(JournalError) {
        let engine = try Engine(journal: journal)
        state.withLock { state in
            state.engines[tenure.shard] = engine
            state.begun.append(tenure.shard)
        }
        progress.signal()
    }

    func drop(_ shard: Int) {
        state.withLock { state in
            state.engines[shard] = nil
            state.dropped.append(shard)
        }
        progress.signal()
    }

    func handOver(_ shard: Int) {
        let engine = state.withLock { state in
            state.handedOver.append(shard)
            return state.engines.removeValue(forKey: shard)
        }
        engine?.drain()
        engine?.stop()
        progress.signal()
    }

    func note(_ map: ShardMap) {
        state.withLock { $0.map = map }
        progress.signal()
    }

    func note(_ size: EtcdSize, _ room: EtcdRoom) {
        state.withLock { $0.rooms.append(room) }
        progress.signal()
    }

    var rooms: [EtcdRoom] { state.withLock { $0.rooms } }
    var shards: Set<Int> { state.withLock { Set($0.engines.keys) } }
    var begun: [Int] { state.withLock { $0.begun } }
    var dropped: [Int] { state.withLock { $0.dropped } }
    var handedOver: [Int] { state.withLock { $0.handedOver } }
    var map: ShardMap { state.withLock { $0.map } }

    func engine(of shard: Int) -> Engine? { state.withLock { $0.engines[shard] } }

    /// Waits until something holds, which is looked at whenever the node has told something.
    func wait(until holds: (EngineHost) -> Bool) throws {
        while !holds(self) {
            guard progress.wait(timeout: .now() + .seconds(30)) == .success else {
                throw EtcdError(.unknown, "the host has \(state.withLock { "\($0.engines.keys) \($0.map)" })")
            }
        }
    }
}
