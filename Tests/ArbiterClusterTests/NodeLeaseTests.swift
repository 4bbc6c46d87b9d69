import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

/// A node's lease, by an etcd that answers keepalives when the test wants it.
struct NodeLeaseTests {
    private let time = ManualTime()
    private let etcd = LateEtcd()

    @Test func `a lease that was over stays over after a late answer`() throws {
        let alarm = ManualAlarm(time: time)
        let lease = try NodeLease.grant(for: .seconds(10), etcd: etcd, time: time, alarm: alarm)
        let told = Guarded(0)
        lease.whenOver { told.withLock { $0 += 1 } }
        time.advance(by: .seconds(4))
        alarm.ringDue()
        // Its last keepalive was sent four seconds ago, and is answered when it was taken for over already.
        time.advance(by: .seconds(4))
        #expect(lease.isOver)
        etcd.answerKeepalives()
        #expect(lease.isOver)
        #expect(told.withLock { $0 } == 0)
        alarm.ringDue()
        #expect(told.withLock { $0 } == 1)
    }

    @Test func `a lease lives from the sending of its last keepalive that was answered`() throws {
        let alarm = ManualAlarm(time: time)
        let lease = try NodeLease.grant(for: .seconds(10), etcd: etcd, time: time, alarm: alarm)
        time.advance(by: .seconds(4))
        alarm.ringDue()
        etcd.answerKeepalives()
        time.advance(by: .milliseconds(7999))
        #expect(!lease.isOver)
        time.advance(by: .milliseconds(1))
        #expect(lease.isOver)
    }
}

/// An etcd that grants leases, and answers keepalives on command.
private final class LateEtcd: Etcd {
    private let waiting = Guarded<[@Sendable (Result<Bool, EtcdError>) -> Void]>([])

    func answerKeepalives() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for answer in waiting { answer(.success(true)) }
    }

    func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void
    ) { completion(.success(1)) }

    func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void
    ) { waiting.withLock { $0.append(completion) } }

    private func refuse<Value>(_ completion: (Result<Value, EtcdError>) -> Void) {
        completion(.failure(EtcdError(.refused, "the test does not want it")))
    }

    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void
    ) { refuse(completion) }

    func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) { refuse(completion) }

    func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void
    ) { refuse(completion) }

    func measure(within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void) {
        refuse(completion)
    }

    func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch { preconditionFailure("a lease watches nothing") }
}
