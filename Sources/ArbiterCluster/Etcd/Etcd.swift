package import ArbiterRelay

/// An etcd cluster, as far as it is needed here: transactions, leases, compaction and the room that is left.
///
/// Every completion is called exactly once, on any thread. What has failed as `EtcdError.Kind.unknown` may have been carried
/// out, and may be carried out even later.
package protocol Etcd: Sendable {
    /// Carries out a transaction; linearizable, also if it only reads.
    func transact(
        _ transaction: EtcdTransaction, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>) -> Void)

    /// Grants a lease.
    ///
    /// - Parameters:
    ///   - timeToLive: for how long it lives without being kept alive, in whole seconds.
    ///   - limit: how long to wait for the answer.
    ///   - completion: called with the lease.
    func grantLease(
        for timeToLive: Duration, within limit: Duration,
        completion: @escaping @Sendable (Result<EtcdLeaseID, EtcdError>) -> Void)

    /// Keeps a lease alive: it lives for its whole time from now on.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - limit: how long to wait for the answer.
    ///   - completion: called with whether it was alive.
    func keepAlive(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Bool, EtcdError>) -> Void)

    /// Ends a lease, and deletes the keys that are attached to it.
    func revokeLease(
        _ lease: EtcdLeaseID, within limit: Duration, completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void)

    /// Watches keys.
    ///
    /// - Parameters:
    ///   - range: the keys.
    ///   - changed: called after they have changed, and once the watch has begun.
    ///   - ended: called once when the watch has ended, and changes may be missed from then on; not after `cancel`.
    /// - Returns: the watch.
    func watch(
        _ range: EtcdRange, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any EtcdWatch

    /// Forgets what keys were before a revision.
    func compact(
        to revision: EtcdRevision, within limit: Duration,
        completion: @escaping @Sendable (Result<Void, EtcdError>) -> Void)

    /// Asks a member how much it stores.
    func measure(within limit: Duration, completion: @escaping @Sendable (Result<StoredSize, EtcdError>) -> Void)
}

/// A watch that goes on.
package protocol EtcdWatch: Sendable {
    /// Ends it.
    func cancel()
}

/// A number that grows with every change in an etcd cluster.
package typealias EtcdRevision = Int64

/// The number of a lease.
package typealias EtcdLeaseID = Int64

/// Why etcd did not answer as asked.
package struct EtcdError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Whether it was carried out, or will be, is not known: an answer is missing.
        case unknown
        /// It was not sent: no member could be connected to.
        case unreachable
        /// There is no room (`NOSPACE`); it was not carried out.
        case outOfSpace
        /// The user or the certificate is not accepted, or may not do this; it was not carried out.
        case denied
        /// The lease is over; what should have been attached to it was not put.
        case leaseNotFound
        /// etcd refuses it for another reason; it was not carried out.
        case refused
    }

    package let kind: Kind
    /// What etcd or libcurl says.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) {
        (self.kind, self.reason) = (kind, reason)
    }

    /// Whether it may have been carried out, or may be later, or will be by another member.
    var isUncertain: Bool { kind == .unknown || kind == .unreachable }

    /// Whether another member may do better; not if etcd has said itself that its leader has changed.
    package var isOfMember: Bool { isUncertain && !reason.contains("leader changed") }
}
