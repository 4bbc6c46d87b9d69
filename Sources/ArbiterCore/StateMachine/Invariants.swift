// The invariants that hold after every turn, for tests and the simulation.

extension ArbiterStateMachine {
    /// Describes the first invariant that does not hold; `nil` if all hold.
    package func brokenInvariant() -> String? {
        brokenCount() ?? brokenQueue() ?? brokenAttention() ?? brokenParticipants() ?? brokenIdling()
            ?? brokenObserving()
    }

    private func brokenCount() -> String? {
        let ended = durable.transitions.values.count { $0.isEnded }
        guard ended == durable.ended.count, Set(durable.ended.map(\.id)).count == ended else {
            return "\(ended) transitions have ended, \(durable.ended.count) are listed as ended"
        }
        let queued = durable.scenes.values.reduce(0) { $0 + $1.queue.count + $1.aside.tickets.count }
        guard queued == durable.unfinishedCount else {
            return "\(durable.unfinishedCount) transitions are unfinished, \(queued) stand in a queue"
        }
        return nil
    }

    /// No two conflicting transitions are granted, every ticket has a blocker, and the positions are right.
    private func brokenQueue() -> String? {
        for (name, scene) in durable.scenes {
            if let broken = scene.storyboard.hierarchy.brokenInvariant() { return "scene \(name): \(broken)" }
            if scene.queue.granted.isEmpty, !scene.reserved.isEmpty { return "scene \(name) awaits \(scene.reserved)" }
            let unfinished = scene.queue.unfinished.compactMap { durable.transitions[$0] }
            let claims = unfinished.map { scene.storyboard.claim(of: $0.request, scope: $0.scope) }
            for (index, transition) in unfinished.enumerated() {
                let isInTheWay = { (other: Int, wanted: [ScopePath]) in
                    // One behind it blocks too if it is granted.
                    let isGranted = unfinished[other].state != .queued
                    guard transition.state == .queued ? other < index || isGranted : isGranted && other != index else {
                        return false
                    }
                    if transition.state == .queued,
                        other < index || unfinished[other].grant.map({ $0.rules > .first }) ?? false,
                        !Set(claims[index].arrivals.named).isDisjoint(with: claims[other].arrivals.brought)
                    {
                        return true
                    }
                    guard !(claims[index].isShared && claims[other].isShared) else { return false }
                    return wanted.contains { path in
                        claims[other].paths.contains { $0.starts(with: path) || path.starts(with: $0) }
                    }
                }
                let alternatives = claims[index].isAny ? claims[index].paths.map { [$0] } : [claims[index].paths]
                let isFree = alternatives.contains { wanted in
                    !unfinished.indices.contains { isInTheWay($0, wanted) }
                }
                let mayWait = !isFree || durable.isHoldingGrants
                guard transition.state != .queued ? !isFree : !mayWait else { continue }
                return "scene \(name): \(transition.id) is \(transition.state)"
            }
            for (rank, transition) in unfinished.filter({ $0.state == .queued }).enumerated() {
                guard scene.tickets.rank(of: transition.place) == rank + 1 else {
                    return "scene \(name): \(transition.id) at rank \(rank + 1) has another position"
                }
            }
        }
        for (name, scene) in durable.scenes {
            if let broken = brokenAside(of: scene) { return "scene \(name): \(broken)" }
            if let broken = scene.queue.brokenCount() { return "scene \(name): \(broken)" }
        }
        let tickets = durable.scenes.values.reduce(0) { $0 + $1.tickets.count + $1.aside.tickets.count }
        guard durable.memory.queued == tickets else {
            return "\(durable.memory.queued) are queued, and \(tickets) have tickets"
        }
        return nil
    }

    /// Each ticket that is set aside has a condition that does not hold, and the tickets that may be set aside are counted.
    private func brokenAside(of scene: Scene) -> String? {
        for (place, id) in scene.aside.tickets {
            guard let ticket = durable.transitions[id], ticket.place == place, ticket.unmet != nil,
                ticket.unmet == scene.storyboard.failure(of: ticket.request, at: scene.numbers.revision)
            else { return "\(id) is set aside and should not be" }
            if ticket.hasRememberedEnd, momentary.deadlines[.transition(id)] == nil { return "\(id) waits for ever" }
        }
        let line = scene.queue.unfinished.compactMap { durable.transitions[$0] }
        let awaiting = line.count { $0.isQueued && $0.request.unmet == .wait } + scene.aside.tickets.count
        return awaiting == scene.statesAwaited
            ? nil : "\(awaiting) may wait for a state, and \(scene.statesAwaited) are counted"
    }

    /// No transition outlives its session, none prepares without a missing participant, and every session can end.
    private func brokenParticipants() -> String? {
        for transition in durable.transitions.values where !transition.isEnded {
            if let session = transition.session, durable.sessions[session] == nil, !transition.hasRememberedEnd {
                return "\(transition.id) is bound to \(session), which is over"
            }
            if transition.state == .preparing {
                guard transition.participants.contains(where: \.isMissing) else {
                    return "\(transition.id) waits for nobody"
                }
                if momentary.deadlines[.ready(transition.id)] == nil { return "\(transition.id) waits for ever" }
            }
        }
        guard Set(momentary.lives.keys) == Set(durable.sessions.keys) else {
            return "a session has no life, or a life no session"
        }
        for (session, life) in momentary.lives where momentary.deadlines[.session(session)] != deadline(of: session) {
            return "\(session) is \(life), and not looked at when it is due"
        }
        return nil
    }

    /// No await is parked for a milestone that is reached, and a transition whose owner is silent has a deadline.
    private func brokenAttention() -> String? {
        for (waiter, waiting) in momentary.waiters {
            guard let transition = durable.transitions[waiting.transition], !transition.hasReached(waiting.milestone),
                momentary.attention[waiting.transition]?.waiters.contains(waiter) == true
            else { return "\(waiter) waits for what has come" }
        }
        guard momentary.attention.count == durable.unfinishedCount else {
            return
                "\(momentary.attention.count) transitions are looked after, \(durable.unfinishedCount) are unfinished"
        }
        for (id, attention) in momentary.attention {
            guard let transition = durable.transitions[id], !transition.isEnded else {
                return "\(id) is over and attended"
            }
            let owners = attention.waiters.count { momentary.waiters[$0]?.isOwner == true }
            guard owners == attention.ownersWaiting else { return "\(id) has \(owners) owners waiting, not as counted" }
            let isSilent: Bool
            switch transition.phase {
            case .queued(let queued):
                isSilent = owners == 0 && !queued.completesAtGrant && transition.session == nil
            case .preparing, .running: isSilent = owners == 0 && !transition.hasRememberedEnd
            case .ended: isSilent = false
            }
            if transition.interruption != nil, momentary.deadlines[.interruption(id)] == nil {
                return "\(id) is interrupted for ever"
            }
            if isSilent, momentary.deadlines[.transition(id)] == nil { return "\(id) has no deadline" }
        }
        return nil
    }
}
