// Parked awaits: who waits for what, and when they are answered.

extension ArbiterStateMachine {
    mutating func wait(
        on id: TransitionID, token: Token?, until milestone: Milestone, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        if let token, !transition.token.matches(token) { throw .wrongToken(id) }
        if token != nil { attend(id, at: step.now) }
        if let park, !momentary.isDraining, !transition.hasReached(milestone) {
            self.park(park, on: id, until: milestone, isOwner: token != nil, in: &step)
            return .parked
        }
        return .transition(try view(of: id, at: step.now))
    }

    mutating func park(
        _ park: Park, on id: TransitionID, until milestone: Milestone, isOwner: Bool, in step: inout Step
    ) {
        precondition(momentary.waiters[park.waiter] == nil, "\(park.waiter) waits already")
        momentary.waiters[park.waiter] = Waiter(transition: id, milestone: milestone, isOwner: isOwner)
        momentary.attention[id]?.waiters.insert(park.waiter)
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        guard isOwner else { return }
        momentary.attention[id]?.ownersWaiting += 1
        attend(id, at: step.now)
    }

    /// Answers everyone parked on a transition who waits for no more than it has reached.
    mutating func wakeWaiters(of transition: Transition, in step: inout Step) {
        guard let waiters = momentary.attention[transition.id]?.waiters, !waiters.isEmpty else { return }
        let view = view(of: transition, at: step.now)
        for waiter in waiters.sorted() {
            guard let milestone = momentary.waiters[waiter]?.milestone, transition.hasReached(milestone) else {
                continue
            }
            unpark(waiter)
            step.effects.append(.wake(waiter, view))
        }
    }

    mutating func answer(_ waiter: WaiterID, in step: inout Step) -> Reply {
        guard let waiting = unpark(waiter) else { return .done }
        if let transition = durable.transitions[waiting.transition] {
            // Its owner was there until now; but a lease counts from the owner's own words.
            if waiting.isOwner, transition.state == .queued { attend(transition.id, at: step.now) }
            step.effects.append(.wake(waiter, view(of: transition, at: step.now)))
        }
        return .done
    }

    mutating func leave(_ waiter: WaiterID, in step: inout Step) -> Reply {
        guard let waiting = unpark(waiter), waiting.isOwner else { return .done }
        if momentary.attention[waiting.transition]?.ownersWaiting == 0 { abandon(waiting.transition, at: step.now) }
        return .done
    }

    mutating func drain(in step: inout Step) -> Reply {
        momentary.isDraining = true
        for waiter in momentary.waiters.keys.sorted() {
            _ = answer(waiter, in: &step)
        }
        return .done
    }

    @discardableResult
    private mutating func unpark(_ waiter: WaiterID) -> Waiter? {
        guard let waiting = momentary.waiters.removeValue(forKey: waiter) else { return nil }
        momentary.deadlines.cancel(.waiter(waiter))
        momentary.attention[waiting.transition]?.waiters.remove(waiter)
        if waiting.isOwner { momentary.attention[waiting.transition]?.ownersWaiting -= 1 }
        return waiting
    }
}
