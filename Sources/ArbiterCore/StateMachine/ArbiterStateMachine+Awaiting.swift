// Parked awaits: which transition and milestone each waits for, and when it is answered.

extension ArbiterStateMachine {
    /// A client asks for a transition; with `park`, the await parks until the milestone.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - token: proves that the client is the owner; then the await counts as a request of the owner.
    ///   - milestone: what the client waits for.
    ///   - park: how the await parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: the transition, or that the await is parked.
    /// - Throws: `unknownTransition`, `wrongToken`.
    package mutating func wait(
        on id: TransitionID, token: Token?, until milestone: Milestone, park: Park?, in step: inout Step
    ) throws(ArbiterError) -> AwaitAnswer {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        if let token, !transition.token.matches(token) { throw .wrongToken(id) }
        if token != nil { attend(id, at: step.now) }
        if let park, !momentary.isDraining, !transition.hasReached(milestone) {
            self.park(park, on: id, until: milestone, isOwner: token != nil, in: &step)
            return .parked
        }
        return .now(try view(of: id, at: step.now))
    }

    /// Parks an await until its milestone or until its wait has run out.
    mutating func park(
        _ park: Park, on id: TransitionID, until milestone: Milestone, isOwner: Bool, in step: inout Step
    ) {
        precondition(momentary.waiters[park.waiter] == nil, "\(park.waiter) is already parked")
        momentary.waiters[park.waiter] = Waiter(transition: id, milestone: milestone, isOwner: isOwner)
        momentary.attention[id]?.waiters.insert(park.waiter)
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        guard isOwner else { return }
        momentary.attention[id]?.ownersWaiting += 1
        attend(id, at: step.now)
    }

    /// Answers the awaits parked on a transition whose milestone it has reached.
    mutating func wakeWaiters(of transition: Transition, in step: inout Step) {
        guard let waiters = momentary.attention[transition.id]?.waiters, !waiters.isEmpty else { return }
        let view = view(of: transition, at: step.now)
        for waiter in waiters.sorted() {
            guard let milestone = momentary.waiters[waiter]?.milestone, transition.hasReached(milestone) else {
                continue
            }
            unpark(waiter)
            step.add(.wake(waiter, view))
        }
    }

    /// Answers a parked await before its milestone: its wait has run out, or the daemon stops.
    mutating func answerAsItStands(_ waiter: WaiterID, in step: inout Step) {
        guard let waiting = unpark(waiter) else { return }
        if let transition = durable.transitions[waiting.transition] {
            // Until now the owner was waiting, so the ticket's time starts here. A lease is not affected, because it
            // counts from the owner's last request.
            if waiting.isOwner, transition.state == .queued { attend(transition.id, at: step.now) }
            step.add(.wake(waiter, view(of: transition, at: step.now)))
        }
    }

    /// The connection of a parked await has closed: no answer follows.
    package mutating func leave(_ waiter: WaiterID, in step: inout Step) {
        guard let waiting = unpark(waiter), waiting.isOwner else { return }
        if momentary.attention[waiting.transition]?.ownersWaiting == 0 { abandon(waiting.transition, at: step.now) }
    }

    /// Answers every parked await with the current state; from then on no await parks.
    package mutating func drain(in step: inout Step) {
        momentary.isDraining = true
        for waiter in momentary.waiters.keys.sorted() {
            answerAsItStands(waiter, in: &step)
        }
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
