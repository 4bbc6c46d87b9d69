import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch

/// A host that runs an engine for each shard, and waits for what happens.
final class EngineHost: ShardHost {
    private struct State {
        var engines: [Int: Engine] = [:]
        var tenures: [Int: EtcdRevision] = [:]
        var tried: [Int] = []
        var begun: [Int] = []
        var dropped: [Int] = []
        var handedOver: [Int] = []
        var map = ShardMap()
        var looks = 0
        var rooms: [EtcdRoom] = []
        var ahead: [Int: (progress: ShardReader.Progress, replay: JournalReplay)] = [:]
        var refusesReading = false
        /// The shards that have begun behind what was read ahead.
        var continued: [Int] = []
        var forms: [ClusterForm] = []
    }

    private let state = Guarded(State())
    private let progress = DispatchSemaphore(value: 0)
    /// The time of its engines, which stands still until it is moved: no lease runs out, however slow the machine is.
    let time = ManualTime()

    func begin(_ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm) throws(JournalError) {
        let ahead = state.withLock { state in
            state.tried.append(tenure.shard)
            return state.ahead.removeValue(forKey: tenure.shard)
        }
        if let ahead { journal.goOn(after: ahead.progress) }
        let (limits, terms) = Self.inForce(form)
        let engine = try Engine(limits: limits, journal: journal, ahead: ahead?.replay, terms: terms, time: time)
        state.withLock { state in
            state.engines[tenure.shard] = engine
            state.tenures[tenure.shard] = tenure.created
            state.begun.append(tenure.shard)
            if ahead != nil { state.continued.append(tenure.shard) }
        }
        progress.signal()
    }

    func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError) {
        guard !refusesReading else { throw JournalError(.damaged, reason: "the test wants it") }
        var replay = JournalReplay()
        let progress = try reader.read { snapshot throws(JournalError) in
            try replay.begin(snapshot)
        } _: { records throws(JournalError) in
            try replay.take(records)
        }
        let read = (progress, replay)
        state.withLock { $0.ahead[shard] = read }
    }

    func forget(_ shard: Int) { state.withLock { $0.ahead[shard] = nil } }

    func adopt(_ form: ClusterForm) {
        let engines = state.withLock { state in
            if state.forms.last != form { state.forms.append(form) }
            return Array(state.engines.values)
        }
        let (limits, terms) = Self.inForce(form)
        for engine in engines { engine.adopt(terms, limits: limits) }
        progress.signal()
    }

    private static func inForce(_ form: ClusterForm) -> (Limits, Terms) {
        guard let limits = form.limits?.applied(to: Limits()) else {
            return (Limits(), Terms(rules: form.rulesInForce))
        }
        return (limits, Terms(rules: form.rulesInForce, retention: limits.retention))
    }

    func drop(_ tenure: Tenure) {
        state.withLock { state in
            guard state.tenures[tenure.shard] == tenure.created else { return }
            state.engines[tenure.shard] = nil
            state.dropped.append(tenure.shard)
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
        state.withLock { state in
            state.map = map
            state.looks += 1
        }
        progress.signal()
    }

    func note(_ size: EtcdSize, _ room: EtcdRoom) {
        state.withLock { $0.rooms.append(room) }
        progress.signal()
    }

    /// The forms that the cluster has had, one after the other.
    var forms: [ClusterForm] { state.withLock { $0.forms } }
    var rooms: [EtcdRoom] { state.withLock { $0.rooms } }
    var shards: Set<Int> { state.withLock { Set($0.engines.keys) } }
    /// The shards that were begun, in their order.
    var begun: [Int] { state.withLock { $0.begun } }
    /// The shards whose journals were read, or were to be read.
    var tried: [Int] { state.withLock { $0.tried } }
    /// How often the node has looked who owns what.
    var looks: Int { state.withLock { $0.looks } }
    var dropped: [Int] { state.withLock { $0.dropped } }
    /// Whether nothing is read ahead.
    var refusesReading: Bool {
        get { state.withLock { $0.refusesReading } }
        set { state.withLock { $0.refusesReading = newValue } }
    }

    var continued: [Int] { state.withLock { $0.continued } }
    var handedOver: [Int] { state.withLock { $0.handedOver } }
    var map: ShardMap { state.withLock { $0.map } }

    func engine(of shard: Int) -> Engine? { state.withLock { $0.engines[shard] } }

    /// Waits until something holds, which is looked at whenever the node has told something.
    func wait(until holds: (EngineHost) -> Bool) throws {
        // The node tells something all the time, so each wait of its own would never be over.
        let deadline = DispatchTime.now() + .seconds(60)
        while !holds(self) {
            guard progress.wait(timeout: deadline) == .success else {
                throw EtcdError(.unknown, "the host has \(state.withLock { "\($0.engines.keys) \($0.map)" })")
            }
        }
    }
}
