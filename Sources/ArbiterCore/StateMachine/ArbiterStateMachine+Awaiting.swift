// Parked awaits: which transition and milestone each waits for, and when it is answered.

extension ArbiterStateMachine {
    /// A client asks for a transition; with `park`, the await parks until the milestone.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - token: proves that the client is the owner; then the await counts as a request of the owner.
    ///   - milestone: what the client waits for.
    ///   - claims: whether the owner says something right after its grant, so that a grant without that is not claimed.
    ///   - session: the session that the request names; it lives while the await is parked.
    ///   - park: how the await parks; without it, the answer comes at once.
    ///   - step: the turn.
    /// - Returns: the transition, or that the await is parked.
    /// - Throws: `unknownTransition`, `wrongToken`.
    package mutating func wait(
        on id: TransitionID, token: Token?, until milestone: Milestone, claims: Bool = false, session: Token? = nil,
        park: Park?, in step: inout Step
    ) throws(ArbiterError) -> AwaitAnswer {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        if let token, !transition.token.matches(token) { throw .wrongToken(id) }
        if token != nil {
            hear(ownerOf: transition, in: step)
            momentary.attention[id]?.claims = claims
        }
        let isNews = token != nil && transition.interruption != nil && hearsOfInterruption(id)
        if let park, !momentary.isDraining, !transition.hasReached(milestone), !isNews {
            let named = sessionID(of: session)
            self.park(park, on: id, until: milestone, isOwner: token != nil, session: named, in: &step)
            return .parked
        }
        return .now(try view(of: id, at: step.now))
    }

    /// Notes that an await of the owner of an interrupted transition is answered.
    ///
    /// - Returns: whether it is the first one since the interruption began.
    private mutating func hearsOfInterruption(_ id: TransitionID) -> Bool {
        guard momentary.attention[id]?.knowsInterruption == false else { return false }
        momentary.attention[id]?.knowsInterruption = true
        return true
    }

    /// Parks an await until its milestone or until its wait has run out.
    mutating func park(
        _ park: Park, on id: TransitionID, until milestone: Milestone, isOwner: Bool, session: SessionID? = nil,
        in step: inout Step
    ) {
        precondition(!momentary.waiters.contains(park.waiter), "\(park.waiter) is already parked")
        let bound = isOwner ? durable.transitions[id]?.session : nil
        let kept = attachAwait(to: [session, bound], in: step)
        momentary.waiters[park.waiter] = Waiter(transition: id, milestone: milestone, isOwner: isOwner, session: kept)
        momentary.attention[id]?.waiters.insert(park.waiter)
        momentary.deadlines.schedule(.waiter(park.waiter), at: step.now.advanced(by: park.wait))
        guard isOwner else { return }
        momentary.attention[id]?.ownersWaiting += 1
        attend(id, at: step.now)
        if let ticket = durable.transitions[id], ticket.isQueued, ticket.request.interrupts { reconsider([id]) }
    }

    /// Answers the awaits parked on a transition whose milestone it has reached, and those of an owner that is interrupted.
    mutating func wakeWaiters(of transition: Transition, in step: inout Step) {
        guard let waiters = momentary.attention[transition.id]?.waiters, !waiters.isEmpty else { return }
        let reached = waiters.sorted().filter {
            momentary.waiters[$0].map { waiter in
                transition.hasReached(waiter.milestone) || waiter.isOwner && transition.interruption != nil
            } ?? false
        }
        let hadOwner = reached.contains { momentary.waiters[$0]?.isOwner == true }
        if hadOwner, transition.interruption != nil { _ = hearsOfInterruption(transition.id) }
        for waiter in reached { unpark(waiter, in: &step) }
        // The lease starts when the owner is answered.
        if hadOwner, !transition.isEnded { noteAnswer(to: transition.id, at: step.now) }
        let view = view(of: transition, at: step.now)
        for waiter in reached { step.add(.wake(waiter, view)) }
    }

    /// Answers a parked await before its milestone: its wait has run out, or the daemon stops.
    mutating func answerAsItStands(_ waiter: WaiterID, in step: inout Step) {
        if answerIdler(waiter, in: &step) || answerObserver(waiter, in: &step) { return }
        guard let waiting = unpark(waiter, in: &step) else { return }
        if let transition = durable.transitions[waiting.transition] {
            // Until now the owner was waiting, so the time of its ticket or lease starts here.
            if waiting.isOwner { noteAnswer(to: transition.id, at: step.now) }
            step.add(.wake(waiter, view(of: transition, at: step.now)))
        }
    }

    /// The connection of a parked await has closed: no answer follows.
    ///
    /// - Parameters:
    ///   - waiter: the await.
    ///   - client: whether its client is gone. If not, its transition is not abandoned, but has its full time from now on.
    ///   - step: the turn.
    package mutating func leave(_ waiter: WaiterID, client: ClientPresence = .gone, in step: inout Step) {
        if leaveIdler(waiter, client, in: &step) || leaveObserver(waiter, client, in: &step) { return }
        guard let waiting = unpark(waiter, client, in: &step), waiting.isOwner else { return }
        guard client == .gone else { return noteAnswer(to: waiting.transition, at: step.now) }
        if momentary.attention[waiting.transition]?.ownersWaiting == 0 { abandon(waiting.transition, in: step) }
    }

    /// Answers every parked await with the current state; from then on no await parks.
    package mutating func drain(in step: inout Step) {
        momentary.isDraining = true
        let states = Array(momentary.idling.waiters.keys) + momentary.observing.observers.keys
        for waiter in (Array(momentary.waiters.keys) + states).sorted() {
            answerAsItStands(waiter, in: &step)
        }
    }

    @discardableResult
    private mutating func unpark(
        _ waiter: WaiterID, _ client: ClientPresence = .present, in step: inout Step
    ) -> Waiter? {
        guard let waiting = momentary.waiters.removeValue(forKey: waiter) else { return nil }
        momentary.deadlines.cancel(.waiter(waiter))
        momentary.attention[waiting.transition]?.waiters.remove(waiter)
        if waiting.isOwner { momentary.attention[waiting.transition]?.ownersWaiting -= 1 }
        if let session = waiting.session { detach(session, client: client, in: &step) }
        return waiting
    }
}
