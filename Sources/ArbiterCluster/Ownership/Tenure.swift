internal import ArbiterEngine
internal import Synchronization

/// The time for which a node owns a shard: from the creation of the owner's key in etcd until that is deleted.
///
/// The revision at which the key was created names the tenure. Its value does not: it is the same when a node loses a shard
/// and claims it again, and what the node sent in its earlier tenure must not pass then.
package final class Tenure: Ownership {
    package let shard: Int
    /// The owner's key.
    package let key: String
    /// The revision at which the key was created.
    package let created: EtcdRevision
    private let rounds: OwnershipRounds
    private let lease: any LeaseTerm
    private let turn = Atomic<UInt64>(0)
    private let state = Guarded(State())

    private struct State {
        var isLost = false
        var shown: @Sendable (UInt64) -> Void = { _ in }
        var whenLost: [@Sendable () -> Void] = []
    }

    package init(
        shard: Int, key: String, created: EtcdRevision, rounds: OwnershipRounds, lease: any LeaseTerm
    ) {
        (self.shard, self.key, self.created) = (shard, key, created)
        (self.rounds, self.lease) = (rounds, lease)
    }

    /// Holds as long as the tenure lasts.
    package var condition: EtcdCondition { .created(key, at: created) }

    /// Whether the tenure has ended, or must be taken for ended because the node's lease may be over.
    package var isOver: Bool { lease.isOver || state.withLock { $0.isLost } }

    /// Adds what is called, once, when the tenure turns out to have ended.
    package func whenLost(_ body: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if !state.isLost { state.whenLost.append(body) }
            return state.isLost
        }
        if isLost { body() }
    }

    /// Notes that the tenure has ended.
    package func lose() {
        let bodies = state.withLock { state in
            defer { (state.isLost, state.whenLost) = (true, []) }
            return state.whenLost
        }
        for body in bodies { body() }
    }

    // MARK: - For the engine

    package func begin(_ shown: @escaping @Sendable (UInt64) -> Void) { state.withLock { $0.shown = shown } }

    package func note(_ turn: UInt64) { self.turn.store(turn, ordering: .releasing) }

    package func prove() { rounds.prove(self) }

    // MARK: - For what asks etcd

    /// The last turn that has ended.
    ///
    /// Read this, then send something to etcd. If etcd carries that out within the tenure, all turns up to this one
    /// were in the tenure.
    package var lastTurn: UInt64 { turn.load(ordering: .acquiring) }

    /// Notes that etcd has carried out, within the tenure, something that was sent after this turn.
    package func noteShown(_ turn: UInt64) {
        guard !isOver else { return }
        state.withLock { $0.shown }(turn)
    }
}

/// For how long a node may act as the holder of its lease.
package protocol LeaseTerm: Sendable {
    /// Whether the lease may be over.
    var isOver: Bool { get }
}
