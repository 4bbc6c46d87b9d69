package import ArbiterEngine

/// Asks etcd whether tenures last, one round at a time for all shards of a node.
///
/// A round is a transaction that compares the owner's key of each shard for which answers wait. It is linearizable, so when
/// it succeeds, every answer that was computed before it was sent was computed within its tenure.
package final class OwnershipRounds: Sendable {
    /// How long an answer of etcd is waited for.
    static let patience = Duration.seconds(1)
    /// The pause after a round that failed.
    static let pause = Duration.milliseconds(50)

    private struct State {
        /// The tenures that the next round asks for, by their shards.
        var waiting: [Int: Tenure] = [:]
        var isAsking = false
    }

    private let etcd: any Etcd
    private let alarm: any Alarm
    private let state = Guarded(State())

    package init(etcd: any Etcd, alarm: any Alarm = SystemAlarm()) {
        (self.etcd, self.alarm) = (etcd, alarm)
    }

    /// Asks for a tenure in the next round.
    func prove(_ tenure: Tenure) {
        let mayAsk = state.withLock { state in
            state.waiting[tenure.shard] = tenure
            defer { state.isAsking = true }
            return !state.isAsking
        }
        if mayAsk { ask() }
    }

    /// Begins a round, if a tenure waits for one.
    private func ask() {
        let tenures = state.withLock { state -> [Tenure] in
            let tenures = state.waiting.values.filter { !$0.isOver }.sorted { $0.shard < $1.shard }
                .prefix(EtcdTransaction.mostOperations)
            let asked = Set(tenures.map(\.shard))
            state.waiting = state.waiting.filter { !$0.value.isOver && !asked.contains($0.key) }
            state.isAsking = !tenures.isEmpty
            return Array(tenures)
        }
        guard !tenures.isEmpty else { return }
        let turns = tenures.map(\.lastTurn)
        let transaction = EtcdTransaction(
            if: tenures.map(\.condition), then: [],
            else: tenures.map { .read(EtcdRange(start: $0.key, keysOnly: true)) })
        etcd.transact(transaction, within: Self.patience) { [self] result in
            switch result {
            case .success(let outcome):
                for (index, tenure) in tenures.enumerated() {
                    // Of a transaction that failed, its reads say which tenures last.
                    let lasts = outcome.succeeded || outcome.found[index].keys.first?.created == tenure.created
                    if lasts { tenure.noteShown(turns[index]) } else { tenure.lose() }
                }
                ask()
            case .failure:
                // Reading changes nothing, so it may be asked again, as long as the leases last.
                state.withLock { state in
                    for tenure in tenures where state.waiting[tenure.shard] == nil {
                        state.waiting[tenure.shard] = tenure
                    }
                }
                alarm.ring(after: Self.pause) { [self] in ask() }
            }
        }
    }
}
