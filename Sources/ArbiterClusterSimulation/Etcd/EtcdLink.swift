internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// How a process reaches etcd: a request may be late, lost or carried out twice, and so may its answer.
final class EtcdLink: Etcd {
    private struct State {
        /// What ends each request that is not answered yet, by their numbers.
        var pending: [Int: @Sendable (EtcdError) -> Void] = [:]
        var lastNumber = 0
    }

    private let process: Process
    private let etcd: SimulatedEtcd
    /// One of so many requests is stuck on its way.
    private let stuckRarity: Int
    /// Called whenever there is no room for something.
    private let stalled: @Sendable () -> Void
    private let state = Guarded(State())

    init(_ process: Process, _ etcd: SimulatedEtcd, stuckRarity: Int, stalled: @escaping @Sendable () -> Void) {
        (self.process, self.etcd, self.stuckRarity, self.stalled) = (process, etcd, stuckRarity, stalled)
    }

    private var timeline: Timeline { process.world.timeline }
    private var chance: Chance { process.world.chance }
    private var network: Network { process.world.network }
    private var place: Network.Place { .node(process.node) }

    /// Ends every request of a process that has died.
    func endAll() {
        while let number = state.withLock({ $0.pending.keys.min() }) { fail(number, .unknown, "it is dead") }
    }

    // MARK: - Etcd

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        let etcd = etcd
        ask(within: limit, completion) { [self] in
            if transaction.puts, let full = outOfSpace() { return .failure(full) }
            return etcd.change { $0.carryOut(transaction) }
        }
    }

    func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void
    ) {
        let etcd = etcd
        ask(within: limit, completion) { [self] in
            if let full = outOfSpace() { return .failure(full) }
            return .success(etcd.grant(for: timeToLive))
        }
    }

    func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void
    ) {
        let etcd = etcd
        // A leader that was paused believes in the lease, whatever its successor does with it.
        ask(within: limit, inVain: .success(true), completion) { .success(etcd.keepAlive(lease)) }
    }

    func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        let etcd = etcd
        ask(within: limit, completion) { .success(etcd.change { $0.end(lease) }) }
    }

    func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        let etcd = etcd
        ask(within: limit, completion) { etcd.change { $0.compact(to: revision) } }
    }

    func measure(within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void) {
        let etcd = etcd
        ask(within: limit, completion) { .success(etcd.size(of: Self.quota)) }
    }

    /// The bytes that a member may store, as the nodes have it.
    private static let quota = 2 << 30

    /// Why nothing can be put now; `nil` if it can.
    private func outOfSpace() -> EtcdError? {
        guard !etcd.hasRoom else { return nil }
        stalled()
        return EtcdError(.outOfSpace, "the database space is exceeded")
    }

    // MARK: - Requests

    private func ask<Value: Sendable>(
        within limit: Duration, inVain: Result<Value, EtcdError>? = nil,
        _ completion: @escaping @Sendable (Result<Value, EtcdError>) -> Void,
        _ carryOut: @escaping @Sendable () -> Result<Value, EtcdError>
    ) {
        guard !process.isDead else { return completion(.failure(EtcdError(.unreachable, "it is dead"))) }
        let number = state.withLock { state in
            state.lastNumber += 1
            state.pending[state.lastNumber] = { completion(.failure($0)) }
            return state.lastNumber
        }
        process.ring(after: limit) { [self] in fail(number, .unknown, "no answer in time") }
        if network.isCut(from: place, to: .etcd), chance.isOnce(in: 3) {
            return process.ring(after: .milliseconds(5)) { [self] in fail(number, .unreachable, "no connection") }
        }
        let answer: @Sendable (Result<Value, EtcdError>) -> Void = { [self] result in
            sendBack { [self] in if settle(number) { completion(result) } }
        }
        let request = SimulatedEtcd.Request {
            answer(carryOut())
        } answerInVain: {
            answer(inVain ?? carryOut())
        }
        send(request)
        // Something between them sends it again.
        if network.isTroubled, chance.isOnce(in: 50) {
            timeline.schedule(after: chance.duration(.zero ... .seconds(15))) { [self] in send(request) }
        }
    }

    private func send(_ request: SimulatedEtcd.Request) {
        let etcd = etcd
        guard network.isTroubled, chance.isOnce(in: stuckRarity) else {
            return network.send(from: place, to: .etcd) { etcd.arrive(request) }
        }
        // It is stuck somewhere, and arrives long after nobody waits for it any more.
        timeline.schedule(after: chance.duration(.seconds(1) ... .seconds(15))) { etcd.arrive(request) }
    }

    private func sendBack(_ body: @escaping @Sendable () -> Void) {
        network.send(from: .etcd, to: place, in: process, body)
    }

    /// Whether a request is answered now, and was not before.
    private func settle(_ number: Int) -> Bool {
        state.withLock { $0.pending.removeValue(forKey: number) != nil }
    }

    private func fail(_ number: Int, _ kind: EtcdError.Kind, _ reason: String) {
        state.withLock { $0.pending.removeValue(forKey: number) }?(EtcdError(kind, reason))
    }

    // MARK: - Watching

    func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch {
        let watch = Watch(etcd)
        let number = etcd.watch(range) { [self] in
            guard !process.isDead, !network.isCut(from: .etcd, to: place) else {
                // What has changed meanwhile is never told.
                watch.cancel()
                return process.run { [self] in
                    process.ring(after: chance.duration(.seconds(1) ... .seconds(5)), ended)
                }
            }
            sendBack { if watch.isOpen { changed() } }
        }
        watch.begin(number)
        sendBack { if watch.isOpen { changed() } }
        return watch
    }

    private final class Watch: EtcdWatch {
        private let etcd: SimulatedEtcd
        private let state = Guarded((number: 0, isOpen: true))

        init(_ etcd: SimulatedEtcd) { self.etcd = etcd }

        var isOpen: Bool { state.withLock { $0.isOpen } }

        func begin(_ number: Int) { state.withLock { $0.number = number } }

        func cancel() {
            let number = state.withLock { state in
                state.isOpen = false
                return state.number
            }
            etcd.endWatch(number)
        }
    }
}

extension EtcdTransaction {
    /// Whether it may put something, for which etcd needs room.
    fileprivate var puts: Bool {
        (success + failure).contains { operation in
            switch operation {
            case .put: true
            case .nested(let nested): nested.puts
            case .delete, .read: false
            }
        }
    }
}
