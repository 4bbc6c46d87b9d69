internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// An etcd cluster: one store, whose leader may pause.
///
/// Then requests wait for it, or another leader takes over and the old one answers later what had waited, as if nothing had
/// happened.
final class SimulatedEtcd: Sendable {
    /// A pause of the leader.
    private struct Pause {
        /// When another leader takes over; `nil` if this one goes on before that.
        var election: Instant?
        /// What waits for the leader that is paused.
        var waiting: [Request] = []
    }

    /// What arrives at etcd.
    struct Request: Sendable {
        /// Carries it out, and answers.
        let carryOut: @Sendable () -> Void
        /// Answers it as a leader that does not know of its successor: without carrying it out, if that needs no other member.
        let answerInVain: @Sendable () -> Void
    }

    private struct Watcher: Sendable {
        let number: Int
        let range: EtcdRange
        let changed: @Sendable () -> Void
    }

    private struct State {
        var store = EtcdStore()
        var pause: Pause?
        var watchers: [Watcher] = []
        var lastWatcher = 0
        var changes: [EtcdStore.Change] = []
        var hasRoom = true
    }

    /// How long the other members wait for a silent leader.
    private static let election = Duration.milliseconds(1_000) ... .milliseconds(1_300)

    private let timeline: Timeline
    private let chance: Chance
    /// The speed of the clock that counts leases.
    private let clock: MachineClock
    private let state = Guarded(State())

    init(_ timeline: Timeline, _ chance: Chance) {
        (self.timeline, self.chance) = (timeline, chance)
        clock = MachineClock(
            origin: Instant(nanoseconds: 0), drift: Int64(chance.number(in: -150_000...200_000)))
    }

    // MARK: - Requests

    /// A request arrives.
    func arrive(_ request: Request) {
        let now = timeline.now
        let isWaiting = state.withLock { state in
            guard let pause = state.pause else { return false }
            // After the election, most requests find the new leader.
            if let election = pause.election, election <= now, !chance.isOnce(in: 4) { return false }
            state.pause?.waiting.append(request)
            return true
        }
        if !isWaiting { request.carryOut() }
    }

    /// Changes the store, and tells those who watch.
    func change<Value: Sendable>(_ body: @Sendable (inout EtcdStore) -> Value) -> Value {
        let (value, told) = state.withLock { state in
            let value = body(&state.store)
            let changes = state.store.takeChanges()
            state.changes += changes
            let told = state.watchers.filter { watcher in changes.contains { watcher.range.contains($0.key) } }
            return (value, told)
        }
        for watcher in told { watcher.changed() }
        return value
    }

    func grant(for timeToLive: Duration) -> EtcdLeaseID {
        let end = end(of: timeToLive)
        let lease = state.withLock { $0.store.grant(for: timeToLive, until: end) }
        watchOver(lease, until: end)
        return lease
    }

    /// Has a lease live for its whole time from now on.
    ///
    /// - Returns: whether it was alive.
    func keepAlive(_ lease: EtcdLeaseID) -> Bool {
        guard let timeToLive = state.withLock({ $0.store.leases[lease]?.timeToLive }) else { return false }
        let end = end(of: timeToLive)
        state.withLock { $0.store.extend(lease, until: end) }
        watchOver(lease, until: end)
        return true
    }

    private func end(of timeToLive: Duration) -> Instant { timeline.now.advanced(by: clock.outside(timeToLive)) }

    private func watchOver(_ lease: EtcdLeaseID, until end: Instant) {
        // etcd looks for leases that are over twice a second.
        let delay = timeline.now.duration(to: end) + chance.duration(.zero ... .milliseconds(500))
        timeline.schedule(after: delay) { [self] in endIfOver(lease) }
    }

    private func endIfOver(_ lease: EtcdLeaseID) {
        let now = timeline.now
        let isOver = state.withLock { state in
            if let pause = state.pause, pause.election.map({ now < $0 }) ?? true { return false }
            return state.store.leases[lease].map { $0.end <= now } ?? false
        }
        if isOver { change { $0.end(lease) } }
    }

    func watch(_ range: EtcdRange, _ changed: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastWatcher += 1
            state.watchers.append(Watcher(number: state.lastWatcher, range: range, changed: changed))
            return state.lastWatcher
        }
    }

    func endWatch(_ number: Int) { state.withLock { $0.watchers.removeAll { $0.number == number } } }

    // MARK: - The leader

    var isPaused: Bool { state.withLock { $0.pause != nil } }

    /// Pauses the leader.
    func pause(for duration: Duration) {
        let now = timeline.now
        let election = chance.duration(Self.election)
        guard duration > election else {
            return state.withLock { $0.pause = Pause(election: nil) }
        }
        state.withLock { $0.pause = Pause(election: now.advanced(by: election)) }
        timeline.schedule(after: election) { [self] in elect() }
    }

    /// Another leader takes over: it does not know how long leases have lived, so they live for their whole time.
    private func elect() {
        let leases = state.withLock { state in
            state.pause == nil ? [] : state.store.leases.sorted { $0.key < $1.key }
        }
        for (lease, held) in leases {
            let end = end(of: held.timeToLive)
            state.withLock { $0.store.extend(lease, until: end) }
            watchOver(lease, until: end)
        }
    }

    /// The leader goes on, and answers what has waited for it.
    func goOn() {
        let (pause, leases) = state.withLock { state in
            defer { state.pause = nil }
            return (state.pause, state.store.leases.keys.sorted())
        }
        guard let pause else { return }
        let isDeposed = pause.election.map { $0 <= timeline.now } ?? false
        // Leases may end before or after what has waited.
        for lease in leases {
            timeline.schedule(after: chance.duration(.zero ... .milliseconds(50))) { [self] in endIfOver(lease) }
        }
        for request in pause.waiting {
            let answer = isDeposed ? request.answerInVain : request.carryOut
            timeline.schedule(after: chance.duration(.zero ... .milliseconds(50)), answer)
        }
    }

    // MARK: - Room

    /// Whether anything can be put.
    var hasRoom: Bool {
        get { state.withLock { $0.hasRoom } }
        set { state.withLock { $0.hasRoom = newValue } }
    }

    /// What a member stores, of a quota that is used up if there is no room.
    func size(of quota: Int) -> StoredSize {
        let used = hasRoom ? byteCount : quota
        return StoredSize(file: used, used: used)
    }

    // MARK: - For the simulation

    /// Takes what has changed since the last call, in its order.
    func takeChanges() -> [EtcdStore.Change] {
        state.withLock { state in
            defer { state.changes = [] }
            return state.changes
        }
    }

    func read(_ range: EtcdRange) -> [EtcdKey] { state.withLock { $0.store.read(range).keys } }

    var byteCount: Int { state.withLock { $0.store.byteCount } }
}

extension EtcdRange {
    func contains(_ key: String) -> Bool { end.map { start <= key && key < $0 } ?? (key == start) }
}
