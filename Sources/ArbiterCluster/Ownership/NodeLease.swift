internal import ArbiterCore
package import ArbiterEngine

/// The lease by which a node owns its shards: its keys in etcd live as long as it does.
///
/// The node counts it from when it *sent* the last keepalive that was answered, on its own clock, and stops acting as its
/// holder after four fifths of its time. That only makes it stop early: no answer leaves without an answer of etcd that shows
/// that the tenure lasts.
package final class NodeLease: LeaseTerm {
    /// How long an answer of etcd is waited for.
    static let patience = Duration.seconds(1)
    /// The pause before another member is asked.
    static let pause = Duration.milliseconds(100)

    private struct State {
        /// When the last keepalive that was answered was sent.
        var heard: Instant
        /// Never becomes false again: tenures were given up because it was true, and must not be served again.
        var isOver = false
        /// Whether `whenOver` was called, or will be as soon as it is set.
        var isTold = false
        var whenOver: @Sendable () -> Void = {}
    }

    package let id: EtcdLeaseID
    /// How long it lives in etcd.
    package let timeToLive: Duration
    private let etcd: any Etcd
    private let time: any TimeSource
    private let alarm: any Alarm
    private let workers: any Workers
    private let state: Guarded<State>

    /// Grants a lease, and begins to keep it alive.
    ///
    /// - Throws: `EtcdError`.
    package static func grant(
        for timeToLive: Duration, etcd: any Etcd, time: any TimeSource = SystemTimeSource(),
        alarm: any Alarm = SystemAlarm(), workers: any Workers = DispatchWorkers()
    ) throws(EtcdError) -> NodeLease {
        let sent = time.now().instant
        let id = try Answer.wait(workers) { etcd.grantLease(for: timeToLive, within: Self.patience, completion: $0) }
        let lease = NodeLease(id, timeToLive, since: sent, etcd, time, alarm, workers)
        lease.keepOn()
        return lease
    }

    private init(
        _ id: EtcdLeaseID, _ timeToLive: Duration, since heard: Instant, _ etcd: any Etcd, _ time: any TimeSource,
        _ alarm: any Alarm, _ workers: any Workers
    ) {
        (self.id, self.timeToLive, self.etcd) = (id, timeToLive, etcd)
        (self.time, self.alarm, self.workers) = (time, alarm, workers)
        state = Guarded(State(heard: heard))
    }

    package var isOver: Bool {
        let now = time.now().instant
        return state.withLock { state in
            if now >= state.heard.advanced(by: timeToLive * 4 / 5) { state.isOver = true }
            return state.isOver
        }
    }

    /// Sets what is called, once, when the node has to stop.
    package func whenOver(_ body: @escaping @Sendable () -> Void) {
        let isTold = state.withLock { state in
            state.whenOver = body
            return state.isTold
        }
        if isTold { body() }
    }

    /// Ends it in etcd, and with it the node's registration and tenures.
    package func revoke() {
        finish()
        _ = try? Answer.wait(workers) { etcd.revokeLease(id, within: Self.patience, completion: $0) } as Void
    }

    private func finish() {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isTold else { return nil }
            (state.isOver, state.isTold) = (true, true)
            return state.whenOver
        }
        tell?()
    }

    /// Sends a keepalive, and the next one after a fifth of the lease's time.
    private func keepOn() {
        guard !isOver else { return finish() }
        keepAlive(since: time.now().instant)
        alarm.ring(after: timeToLive / 5) { [weak self] in self?.keepOn() }
    }

    /// Sends a keepalive, and again soon, to another member, until one is answered that was sent since an instant.
    private func keepAlive(since begun: Instant) {
        let sent = time.now().instant
        etcd.keepAlive(id, within: Self.patience) { [self] result in
            switch result {
            case .success(true): state.withLock { $0.heard = max($0.heard, sent) }
            case .success(false): finish()
            case .failure:
                alarm.ring(after: Self.pause) { [weak self] in
                    guard let self, !isOver, state.withLock({ $0.heard < begun }) else { return }
                    keepAlive(since: begun)
                }
            }
        }
    }
}
