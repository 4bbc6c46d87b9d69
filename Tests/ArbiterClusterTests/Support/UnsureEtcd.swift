import ArbiterCluster
import ArbiterEngine
import ArbiterRelay
import Dispatch

/// An etcd whose answers are lost, and whose transactions may arrive twice or late, as a test says.
final class UnsureEtcd: Etcd {
    /// What becomes of a transaction.
    enum Fate: Sendable {
        case answered
        /// It is carried out, and the answer is lost.
        case unanswered
        /// It is not carried out, and there is no answer.
        case lost
        /// It is kept, to be carried out when the test says so, and there is no answer.
        case late
        /// etcd has no room for it.
        case refused
    }

    private struct State {
        var fate: @Sendable (EtcdTransaction) -> Fate = { _ in .answered }
        var late: [EtcdTransaction] = []
        var sent: [EtcdTransaction] = []
        var isCutOff = false
        /// How many of the next keepalives are lost.
        var losesKeepalives = 0
        var keepalives = 0
        var isHeld = false
        /// What was sent while everything is held.
        var held: [@Sendable () -> Void] = []
    }

    private let etcd: any Etcd
    private let state = Guarded(State())
    private let compacted = Guarded(0)
    private let arrival = DispatchSemaphore(value: 0)

    private static let unknown = EtcdError(.unknown, "the answer is lost")

    init(_ etcd: any Etcd) { self.etcd = etcd }

    /// Decides what becomes of the transactions from now on.
    func decide(_ fate: @escaping @Sendable (EtcdTransaction) -> Fate) { state.withLock { $0.fate = fate } }

    /// Whether nothing reaches etcd.
    var isCutOff: Bool {
        get { state.withLock { $0.isCutOff } }
        set { state.withLock { $0.isCutOff = newValue } }
    }

    /// How many of the next keepalives are lost.
    var losesKeepalives: Int {
        get { state.withLock { $0.losesKeepalives } }
        set { state.withLock { $0.losesKeepalives = newValue } }
    }

    /// Waits until so many keepalives were sent.
    func waitForKeepalives(_ count: Int) throws {
        let deadline = DispatchTime.now() + .seconds(60)
        while state.withLock({ $0.keepalives }) < count {
            guard arrival.wait(timeout: deadline) == .success else {
                throw EtcdError(.unknown, "only \(state.withLock { $0.keepalives }) keepalives were sent")
            }
        }
    }

    /// Every transaction that was sent.
    var sent: [EtcdTransaction] { state.withLock { $0.sent } }

    /// Waits until so many transactions were sent for which something holds.
    func wait(for count: Int, where holds: (EtcdTransaction) -> Bool) throws {
        while sent.count(where: holds) < count {
            guard arrival.wait(timeout: .now() + .seconds(60)) == .success else {
                throw EtcdError(.unknown, "only \(sent.count(where: holds)) were sent")
            }
        }
    }

    /// Keeps transactions from now on, until they are let go.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Carries out, in their order, what was kept.
    func letGo() {
        let held = state.withLock { state in
            defer { (state.isHeld, state.held) = (false, []) }
            return state.held
        }
        for carryOut in held { carryOut() }
    }

    /// Carries out those that are late.
    ///
    /// - Returns: what came of them.
    func deliverLate() throws -> [EtcdOutcome] {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        return try late.map { transaction in
            try Reply.wait { etcd.transact(transaction, within: .seconds(30), completion: $0) }
        }
    }

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        let isHeld = state.withLock { state in
            if state.isHeld {
                state.held.append { [self] in carryOut(transaction, within: limit, completion: completion) }
            }
            return state.isHeld
        }
        if !isHeld { carryOut(transaction, within: limit, completion: completion) }
    }

    private func carryOut(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) {
        let fate = state.withLock { state in
            state.sent.append(transaction)
            return state.isCutOff ? .lost : state.fate(transaction)
        }
        arrival.signal()
        let unknown = Result<EtcdOutcome, EtcdError>.failure(Self.unknown)
        switch fate {
        case .answered: etcd.transact(transaction, within: limit, completion: completion)
        case .unanswered: etcd.transact(transaction, within: limit) { _ in completion(unknown) }
        case .lost: completion(unknown)
        case .refused: completion(.failure(EtcdError(.outOfSpace, "etcdserver: mvcc: database space exceeded")))
        case .late:
            state.withLock { $0.late.append(transaction) }
            completion(unknown)
        }
    }

    func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void
    ) {
        guard !isCutOff else { return completion(.failure(Self.unknown)) }
        etcd.grantLease(for: timeToLive, within: limit, completion: completion)
    }

    func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void
    ) {
        let isLost = state.withLock { state in
            state.keepalives += 1
            state.losesKeepalives -= 1
            return state.isCutOff || state.losesKeepalives >= 0
        }
        arrival.signal()
        guard !isLost else { return completion(.failure(Self.unknown)) }
        etcd.keepAlive(lease, within: limit, completion: completion)
    }

    func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        guard !isCutOff else { return completion(.failure(Self.unknown)) }
        etcd.revokeLease(lease, within: limit, completion: completion)
    }

    func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch { etcd.watch(range, changed: changed, ended: ended) }

    func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) {
        compacted.withLock { $0 += 1 }
        etcd.compact(to: revision, within: limit, completion: completion)
    }

    /// How often etcd was told to forget what keys were before.
    var compactions: Int { compacted.withLock { $0 } }

    func measure(within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void) {
        etcd.measure(within: limit, completion: completion)
    }
}
