extension ShardState {
    /// The states of the shards among which the scenes of this state are divided.
    ///
    /// What is counted for the whole state, each shard gets at its highest: fences, orders, events, the numbers of forgotten
    /// scenes, and whether grants are withheld. A session goes to its home, and is a guest where else it is used.
    ///
    /// - Parameter count: how many shards there are.
    /// - Returns: the states, in the order of the shards.
    /// - Throws: `CopyRefusal` if a shard's part contradicts itself.
    package func divided(among count: Int) throws(CopyRefusal) -> [ShardState] {
        var whole = machine
        whole.adopt(.newest)
        var parts = Array(repeating: DurableState(), count: count)
        for index in parts.indices { parts[index].takeNumbers(of: whole.durable) }
        for (name, scene) in whole.durable.scenes { parts[Slot(name).shard(of: count)].scenes[name] = scene }
        for (id, transition) in whole.durable.transitions {
            parts[transition.shard(of: count)].transitions[id] = transition
        }
        for transition in whole.durable.endedTransitions {
            guard case .ended(let ending) = transition.phase else { continue }
            parts[transition.shard(of: count)].noteEnd(of: transition, at: ending.endedAt.instant)
        }
        for session in whole.durable.sessions.values {
            for index in whole.shards(of: session, among: count) {
                parts[index].sessions[session.id] = session.seen(in: Shard(index, of: count))
            }
        }
        return try parts.map { part throws(CopyRefusal) in
            ShardState(
                machine: ArbiterStateMachine(try part.completed(), limits: machine.limits), sequence: sequence,
                moment: moment)
        }
    }
}

extension ArbiterStateMachine {
    /// The shards in which a session has something to do, its home among them.
    fileprivate func shards(of session: Session, among count: Int) -> Set<Int> {
        let bound = (durable.index.bound[session.id] ?? []).compactMap { durable.transitions[$0] }
        let joined = participations(of: session).all.compactMap { durable.transitions[$0.id] }
            .filter { session.caller.scenes.contains($0.request.scene) }
        let used = session.scenes.union((bound + joined).map(\.request.scene))
            .union(durable.index.guards[session.id] ?? [])
        return Set(used.map { Slot($0).shard(of: count) }).union([session.id.slot.shard(of: count)])
    }
}

extension DurableState {
    /// Takes over what is counted for the whole of a state.
    fileprivate mutating func takeNumbers(of other: DurableState) {
        (rules, isHoldingGrants, forgotten) = (other.rules, other.isHoldingGrants, other.forgotten)
        retention = other.retention
        (lastOrder, lastFence, lastEvent) = (other.lastOrder, other.lastFence, other.lastEvent)
    }
}

extension Transition {
    /// The shard of its scene.
    fileprivate func shard(of count: Int) -> Int { Slot(request.scene).shard(of: count) }
}

extension Session {
    /// The record of it in a shard: with the scenes there, and with a margin where it is a guest.
    fileprivate func seen(in shard: Shard) -> Session {
        let margin = shard.contains(id.slot) ? .zero : Limits.reportMargin(of: timeToLive)
        return Session(
            id: id, token: token, client: client, timeToLive: timeToLive + margin, startedAt: startedAt, caller: caller,
            scenes: scenes.filter { shard.contains(Slot($0)) })
    }
}
