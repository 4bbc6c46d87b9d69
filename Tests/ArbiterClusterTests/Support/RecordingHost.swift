import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Dispatch

/// The host of a node, with a record of what it was told, and with waits for what happens.
final class RecordingHost: ShardHost {
    private struct State {
        var tried: [Int] = []
        var served: Set<Int> = []
        var begun: [Int] = []
        var dropped: [Int] = []
        var handedOver: [Int] = []
        var map = ShardMap()
        var looks = 0
        var rooms: [EtcdRoom] = []
        var refusesReading = false
        /// The shards that have begun behind what was read ahead.
        var continued: [Int] = []
        var forms: [ClusterForm] = []
    }

    private let state = Guarded(State())
    private let progress = DispatchSemaphore(value: 0)
    private let running: Shards
    private let surroundings: Surroundings
    private let host: EngineHost

    /// The time of its engines, which stands still until it is moved: no lease runs out, however slow the machine is.
    var time: ManualTime { surroundings.time }

    /// - Parameters:
    ///   - count: how many shards the cluster has.
    ///   - hasEngine: called when the engine of a shard is there, before it serves.
    init(shards count: Int, hasEngine: @escaping @Sendable () -> Void = {}) {
        surroundings = Surroundings(hasEngine: hasEngine)
        running = Shards(count: count, address: "http://host:1")
        host = EngineHost(running, in: surroundings)
    }

    /// Takes down what the host is told before it acts on that, so that who sees what it does sees that it was told.
    private func note(_ change: (inout State) -> Void, before act: () -> Void = {}) {
        state.withLock { change(&$0) }
        act()
        progress.signal()
    }

    func begin(_ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm) throws(JournalError) {
        state.withLock { $0.tried.append(tenure.shard) }
        try host.begin(tenure, journal, as: form)
        let isServed = running.tenure(of: tenure.shard) == UInt64(tenure.created)
        note { state in
            if isServed { state.served.insert(tenure.shard) } else { state.dropped.append(tenure.shard) }
            state.begun.append(tenure.shard)
            if surroundings.hasContinued(tenure.shard) { state.continued.append(tenure.shard) }
        }
    }

    func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError) {
        guard !refusesReading else { throw JournalError(.damaged, reason: "the test wants it") }
        try host.readAhead(shard, reader)
    }

    func forget(_ shard: Int) { host.forget(shard) }

    func adopt(_ form: ClusterForm) {
        note {
            if $0.forms.last != form { $0.forms.append(form) }
        } before: {
            host.adopt(form)
        }
    }

    func drop(_ tenure: Tenure) {
        guard running.tenure(of: tenure.shard) == UInt64(tenure.created) else { return }
        note { state in
            state.served.remove(tenure.shard)
            state.dropped.append(tenure.shard)
        } before: {
            host.drop(tenure)
        }
    }

    func handOver(_ shard: Int) {
        note { state in
            state.served.remove(shard)
            state.handedOver.append(shard)
        } before: {
            host.handOver(shard)
        }
    }

    func note(_ map: ShardMap) {
        note { state in
            state.map = map
            state.looks += 1
        } before: {
            host.note(map)
        }
    }

    func note(_ size: StoredSize, _ room: EtcdRoom) {
        note {
            $0.rooms.append(room)
        } before: {
            host.note(size, room)
        }
    }

    /// Engines whose events nobody reads.
    private final class Surroundings: EngineSurroundings {
        let time = ManualTime()
        private let continued = Guarded<Set<Int>>([])
        private let hasEngine: @Sendable () -> Void

        init(hasEngine: @escaping @Sendable () -> Void) { self.hasEngine = hasEngine }

        func hasContinued(_ shard: Int) -> Bool { continued.withLock { $0.contains(shard) } }

        func limits(ofEachOf count: Int, as form: ClusterForm?) -> Limits {
            form?.limits?.applied(to: Limits()) ?? Limits()
        }

        func engine(
            of shard: Shard, in tenure: Tenure, on journal: EtcdJournal, limits: Limits, under terms: Terms,
            ahead: JournalReplay?
        ) throws(JournalError) -> Engine {
            if ahead != nil { continued.withLock { _ = $0.insert(shard.index) } }
            return try Engine(limits: limits, journal: journal, ahead: ahead, terms: terms, time: time)
        }

        func begin(_ shard: Shard, in tenure: Tenure) { continued.withLock { _ = $0.remove(shard.index) } }
        func publish(_ events: [SceneEvent], of shard: Shard, in tenure: Tenure) {}
        func forget(_ shard: Shard, in tenure: Tenure) {}
        func serve(_ shard: Shard, by engine: Engine) { hasEngine() }
        func end(_ shard: Shard) {}
    }

    /// The forms that the cluster has had, one after the other.
    var forms: [ClusterForm] { state.withLock { $0.forms } }
    var rooms: [EtcdRoom] { state.withLock { $0.rooms } }
    var shards: Set<Int> { state.withLock { $0.served } }
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

    func engine(of shard: Int) -> Engine? { shards.contains(shard) ? running.place(of: shard).engine : nil }

    /// Waits until something holds, which is looked at whenever the node has told something.
    func wait(until holds: (RecordingHost) -> Bool) throws {
        // The node tells something all the time, so each wait of its own would never be over.
        let deadline = DispatchTime.now() + .seconds(60)
        while !holds(self) {
            guard progress.wait(timeout: deadline) == .success else {
                throw EtcdError(.unknown, "the host has \("\(shards) \(map)")")
            }
        }
    }
}
