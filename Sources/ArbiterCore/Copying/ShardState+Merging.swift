extension ShardState {
    /// One state of all shards of a cluster.
    ///
    /// The clocks of the shards are set by each other, so that their last records are at the same time, and nothing is older
    /// than it was. Orders that several shards have given are given anew: within a shard they stay in their order.
    ///
    /// - Parameter shards: the states of all shards, in their order, none with a guest that its home does not know.
    /// - Returns: the one state, at the latest of their moments.
    /// - Throws: `CopyRefusal`.
    package static func merged(_ shards: [ShardState]) throws(CopyRefusal) -> ShardState {
        let shards = shards.map { $0.under(.newest) }
        let end = shards.end
        let orders = MergedOrders(of: shards)
        var whole = DurableState()
        var ended: [(transition: Transition, at: Instant)] = []
        for (index, shard) in shards.enumerated() {
            let (part, shift) = (shard.machine.durable, shard.shift(to: end.instant))
            whole.takeHighestNumbers(of: part)
            for (name, var scene) in part.scenes {
                scene.lastOrder = orders.near(scene.lastOrder, in: index)
                whole.scenes[name] = scene
            }
            for (id, transition) in part.transitions {
                guard !whole.transitions.contains(id) else { throw .known(id) }
                whole.transitions[id] = transition.moved(
                    to: orders.of(transition.order, in: index),
                    LinePlace(orders.of(transition.place.order, in: index), transition.priority), later: shift)
            }
            // In one shard, no end is noted before an earlier one.
            var last = Instant(nanoseconds: .min)
            for id in part.ended.map(\.id) {
                guard let transition = whole.transitions[id], case .ended(let ending) = transition.phase else {
                    continue
                }
                last = max(last, ending.endedAt.instant)
                ended.append((transition, last))
            }
            for session in part.sessions.values {
                whole.take(session.moved(later: shift), isAtHome: shards.isHome(index, of: session.id))
            }
        }
        whole.lastOrder = max(whole.lastOrder, orders.last)
        for (_, end) in ended.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
            whole.noteEnd(of: end.transition, at: end.at)
        }
        let limits = shards.first?.machine.limits ?? Limits()
        return ShardState(
            machine: ArbiterStateMachine(try whole.completed(), limits: limits),
            sequence: shards.map(\.sequence).max() ?? 0, moment: end)
    }

    /// Ends the guests whose home does not know their session, as their shards would have done after their next report.
    ///
    /// - Parameter shards: the states of all shards, in their order.
    /// - Returns: the states, and how many guests were ended.
    package static func endingLostGuests(of shards: [ShardState]) -> (shards: [ShardState], count: Int) {
        var (ending, count) = (shards, 0)
        for (index, shard) in shards.enumerated() {
            guard let moment = shard.moment else { continue }
            let lost = shard.machine.durable.sessions.values.filter { session in
                let home = session.id.slot.shard(of: shards.count)
                return home != index && !shards[home].machine.knows(session.token)
            }
            guard !lost.isEmpty else { continue }
            ending[index].machine.recover(at: moment.instant)
            for session in lost.sorted(by: { $0.id < $1.id }) {
                _ = ending[index].machine.turn(at: moment) { machine, step in
                    machine.end(guest: session.token, in: &step)
                }
            }
            count += lost.count
        }
        return (ending, count)
    }

    /// The same state under newer rules.
    func under(_ rules: Rules) -> ShardState {
        var state = self
        state.machine.adopt(rules)
        return state
    }

    /// By how much its clock has to be put forward, so that its last record is at an instant.
    func shift(to end: Instant) -> Duration { moment.map { $0.instant.duration(to: end) } ?? .zero }
}

extension [ShardState] {
    /// The latest of the last moments; that of a new arbiter if there are none.
    var end: Moment {
        let moments = compactMap(\.moment)
        return Moment(
            instant: moments.map(\.instant).max() ?? Instant(nanoseconds: 0),
            timestamp: moments.map(\.timestamp).max { $0.milliseconds < $1.milliseconds }
                ?? Timestamp(milliseconds: 0))
    }

    fileprivate func isHome(_ index: Int, of session: SessionID) -> Bool { session.slot.shard(of: count) == index }
}

extension DurableState {
    /// Takes over what is counted for a whole shard, where it is higher.
    fileprivate mutating func takeHighestNumbers(of part: DurableState) {
        rules = max(rules, part.rules)
        isHoldingGrants = isHoldingGrants || part.isHoldingGrants
        forgotten.revision = max(forgotten.revision, part.forgotten.revision)
        forgotten.event = max(forgotten.event, part.forgotten.event)
        lastOrder = max(lastOrder, part.lastOrder)
        lastFence = max(lastFence, part.lastFence)
        lastEvent = max(lastEvent, part.lastEvent)
    }

    /// Takes over the record of a session: what its home says of it, with the scenes of all.
    fileprivate mutating func take(_ session: Session, isAtHome: Bool) {
        guard let known = sessions[session.id] else {
            sessions[session.id] = session
            return
        }
        var merged = isAtHome ? session : known
        merged.scenes = known.scenes.union(session.scenes)
        sessions[session.id] = merged
    }
}

extension Session {
    /// The same session on a clock that is ahead.
    func moved(later: Duration) -> Session {
        guard later != .zero else { return self }
        return Session(
            id: id, token: token, client: client, timeToLive: timeToLive, startedAt: startedAt.moved(later: later),
            caller: caller, scenes: scenes)
    }
}
