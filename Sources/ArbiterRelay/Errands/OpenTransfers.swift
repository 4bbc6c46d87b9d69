package import ArbiterEngine

/// The requests and streams that are under way to other nodes, and the tenures that they rely on.
///
/// A node that is frozen answers nothing, while another one serves its shards already. So what is under way to an
/// earlier owner is ended once the map shows the next owner. That happens `grace` later, because answers of the earlier
/// owner may still be on their way.
package final class OpenTransfers: Sendable {
    fileprivate struct Transfer: Sendable {
        /// What it counts on, by shard.
        let tenures: [Int: UInt64]
        let whenMoved: @Sendable () -> Void
    }

    fileprivate struct State {
        /// Who serves what, as it was read last; `nil` before that.
        var tenures: [Int: UInt64]?
        var transfers: [Int: Transfer] = [:]
        /// The numbers of the transfers, by shard and tenure.
        var numbers: [Int: [UInt64: Set<Int>]] = [:]
        var last = 0

        /// The transfers that count on another tenure than the one of now.
        var moved: Set<Int> {
            guard let tenures else { return [] }
            return Set(
                numbers.flatMap { shard, numbers in
                    numbers.filter { $0.key != tenures[shard] }.flatMap(\.value)
                })
        }
    }

    private let grace: Duration
    private let alarm: any Alarm
    private let state = Guarded(State())

    /// - Parameters:
    ///   - grace: how long the answers of an earlier owner may be on their way.
    ///   - alarm: what rings after that.
    package init(grace: Duration, alarm: any Alarm) {
        (self.grace, self.alarm) = (grace, alarm)
    }

    /// Something is under way.
    ///
    /// - Parameters:
    ///   - tenures: what it counts on, by shard; of a shard without a tenure, that of now.
    ///   - whenMoved: called once if another tenure begins before it has ended.
    /// - Returns: its number.
    package func begin(_ tenures: [Int: UInt64?], whenMoved: @escaping @Sendable () -> Void) -> Int {
        let (number, hasMoved) = state.withLock { state in
            state.last += 1
            var known: [Int: UInt64] = [:]
            for (shard, tenure) in tenures { known[shard] = tenure ?? state.tenures?[shard] }
            state.transfers[state.last] = Transfer(tenures: known, whenMoved: whenMoved)
            for (shard, tenure) in known {
                state.numbers[shard, default: [:]][tenure, default: []].insert(state.last)
            }
            return (
                state.last,
                tenures.contains { shard, tenure in tenure != nil && state.tenures?[shard] != tenure
                }
            )
        }
        if hasMoved { endLater([number]) }
        return number
    }

    /// It has ended.
    package func end(_ number: Int) { state.withLock { _ = $0.take(number) } }

    /// Takes notice of who owns what.
    package func note(_ owners: [Int: ClusterMap.Owner]) {
        let moved = state.withLock { state in
            state.tenures = owners.mapValues(\.tenure)
            return state.moved
        }
        if !moved.isEmpty { endLater(moved) }
    }

    /// Ends these transfers after the time of grace, if they still rely on tenures that are over.
    ///
    /// Transfers that move in the meantime are not among them: each has a time of grace of its own.
    private func endLater(_ numbers: Set<Int>) {
        alarm.ring(after: grace) { [weak self] in self?.end(moved: numbers) }
    }

    private func end(moved numbers: Set<Int>) {
        let moved = state.withLock { state in
            state.moved.intersection(numbers).sorted().compactMap { state.take($0) }
        }
        for transfer in moved { transfer.whenMoved() }
    }
}

extension OpenTransfers.State {
    fileprivate mutating func take(_ number: Int) -> OpenTransfers.Transfer? {
        guard let transfer = transfers.removeValue(forKey: number) else { return nil }
        for (shard, tenure) in transfer.tenures {
            numbers[shard]?[tenure]?.remove(number)
            if numbers[shard]?[tenure]?.isEmpty == true { numbers[shard]?[tenure] = nil }
        }
        return transfer
    }
}
