/// The orders that the transitions of several shards get in one state.
///
/// They are in the order of the requests as far as the clocks of the shards can tell, and within a shard always. An order
/// stays as it is unless another transition before it has it, or a later one, already.
struct MergedOrders {
    private var given: [[RequestOrder: RequestOrder]]
    /// The orders and places of each shard, ascending.
    private var known: [[RequestOrder]]
    /// The last one; 0 if there is none.
    private(set) var last = RequestOrder(rawValue: 0)

    /// An order, or a place that another transition has left.
    private struct Number {
        let at: Instant
        let order: RequestOrder
        let shard: Int
    }

    init(of shards: [ShardState]) {
        let end = shards.end.instant
        given = Array(repeating: [:], count: shards.count)
        known = Array(repeating: [], count: shards.count)
        var numbers: [Number] = []
        for (index, shard) in shards.enumerated() {
            let transitions = shard.machine.durable.transitions.values
            var times = Dictionary(transitions.map { ($0.place.order, Instant?.none) }) { first, _ in first }
            for transition in transitions { times[transition.order] = transition.requestedAt.instant }
            known[index] = times.keys.sorted()
            let shift = shard.shift(to: end)
            var last = Instant(nanoseconds: .min)
            for order in known[index] {
                if let at = times[order] ?? nil { last = max(last, at.advanced(by: shift)) }
                numbers.append(Number(at: last, order: order, shard: index))
            }
        }
        numbers.sort { ($0.at, $0.order, $0.shard) < ($1.at, $1.order, $1.shard) }
        for number in numbers {
            last = RequestOrder(rawValue: max(last.rawValue + 1, number.order.rawValue))
            given[number.shard][number.order] = last
        }
    }

    /// What an order or a place of a transition becomes.
    func of(_ order: RequestOrder, in shard: Int) -> RequestOrder {
        guard let merged = given[shard][order] else {
            preconditionFailure("no transition of shard \(shard) has \(order)")
        }
        return merged
    }

    /// An order as near to what a scene was used last at, which only says which scene was used longest ago.
    func near(_ order: RequestOrder, in shard: Int) -> RequestOrder {
        var (low, high) = (0, known[shard].count)
        while low < high {
            let middle = (low + high) / 2
            if known[shard][middle] <= order { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return order }
        let before = known[shard][low - 1]
        return RequestOrder(rawValue: of(before, in: shard).rawValue + (order.rawValue - before.rawValue))
    }
}

extension Transition {
    /// The same transition with other numbers, on a clock that is ahead.
    func moved(to order: RequestOrder, _ place: LinePlace, later: Duration) -> Transition {
        guard order != self.order || place != self.place || later != .zero else { return self }
        return Transition(
            id: id, token: token, order: order, place: place, isSerialized: isSerialized, request: request,
            scope: scope, lease: lease, requestedAt: requestedAt.moved(later: later),
            requestedRevision: requestedRevision,
            session: session, consent: consent, fenceWhenAsked: fenceWhenAsked, participants: participants,
            gesture: gesture, phase: phase.moved(later: later), isPerformed: isPerformed, interruption: interruption,
            update: update)
    }
}

extension Transition.Phase {
    fileprivate func moved(later: Duration) -> Transition.Phase {
        switch self {
        case .queued: self
        case .preparing(let grant, let completes): .preparing(grant.moved(later: later), completes: completes)
        case .running(let grant): .running(grant.moved(later: later))
        case .ended(let ending):
            .ended(
                Transition.Ending(
                    outcome: ending.outcome, grant: ending.grant?.moved(later: later),
                    endedAt: ending.endedAt.moved(later: later), change: ending.change, isNoop: ending.isNoop,
                    interruptedBy: ending.interruptedBy, appearance: ending.appearance))
        }
    }
}

extension Transition.Grant {
    fileprivate func moved(later: Duration) -> Transition.Grant {
        guard later != .zero else { return self }
        return Transition.Grant(
            fence: fence, grantedAt: grantedAt, instant: instant.advanced(by: later), revision: revision,
            presenter: presenter, animation: animation, appearance: appearance, resolved: resolved, rules: rules)
    }
}

extension Moment {
    func moved(later: Duration) -> Moment { Moment(instant: instant.advanced(by: later), timestamp: timestamp) }
}
