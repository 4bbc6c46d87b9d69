// Tickets that are set aside: a condition failed at their turn, and they wait outside the line until their conditions hold.

extension Scene {
    /// The tickets that are set aside, by the places that they have once they stand in the line again.
    struct Aside: Sendable {
        private(set) var tickets: [LinePlace: TransitionID] = [:]
        private var watched = WatchedControllers<LinePlace>()

        var isEmpty: Bool { tickets.isEmpty }

        /// The tickets in the order of their places.
        var inOrder: [TransitionID] { tickets.sorted { $0.key < $1.key }.map(\.value) }

        mutating func insert(_ ticket: Transition, in hierarchy: Hierarchy) {
            tickets[ticket.place] = ticket.id
            watched.insert(ticket.place, on: ticket.request.expectations, in: hierarchy)
        }

        /// - Returns: whether the ticket was set aside.
        mutating func remove(_ ticket: Transition) -> Bool {
            guard !isEmpty, tickets.removeValue(forKey: ticket.place) != nil else { return false }
            watched.remove(ticket.place, on: ticket.request.expectations)
            return true
        }

        /// Removes what a change concerns from where it is filed.
        ///
        /// - Returns: the tickets in the order of their places.
        mutating func take(touchedBy change: TouchedControllers) -> [TransitionID] {
            guard !isEmpty else { return [] }
            return watched.take(touchedBy: change).sorted().compactMap { tickets[$0] }
        }
    }

    /// Takes a ticket whose turn has come out of the line.
    mutating func setAside(_ ticket: Transition) {
        queue.remove(ticket.place)
        tickets.remove(ticket.place)
        aside.insert(ticket, in: storyboard.hierarchy)
    }

    /// Judges the tickets set aside that a change concerns; one whose conditions hold, or can never hold, stands in the line again
    /// at its place.
    ///
    /// - Returns: those judged, in the order of their places, each with the condition because of which it stays.
    mutating func judge(
        _ change: TouchedControllers, _ transition: (TransitionID) -> Transition?
    ) -> [(ticket: Transition, unmet: FailedExpectation?)] {
        aside.take(touchedBy: change).compactMap(transition).map { ticket in
            let failure = storyboard.failure(of: ticket.request, at: numbers.revision)
            let unmet = failure.flatMap { $0.isFinal(at: numbers.revision) ? nil : $0 }
            if unmet == nil {
                _ = aside.remove(ticket)
                standInLine(ticket)
                tickets.insert(ticket.place)
            } else {
                aside.insert(ticket, in: storyboard.hierarchy)
            }
            return (ticket, unmet)
        }
    }

    /// Removes the ticket of a transition that is granted or ends.
    mutating func dropTicket(of transition: Transition) {
        if !transition.isSetAside { tickets.remove(transition.place) }
        if transition.awaitsState { statesAwaited -= 1 }
    }
}

extension ArbiterStateMachine {
    /// - Throws: `queueFull` if the request waits for a state, and as many do already; unless it ends at once, or one of those does.
    func checkMayWaitForState(_ request: TransitionRequest, insteadOf older: Coalesced?) throws(ArbiterError) {
        guard request.unmet == .wait else { return }
        switch older {
        case .givesWay: return
        case .takesOver(let tickets) where tickets.contains { $0.isQueued && $0.awaitsState }: return
        case .takesOver, nil: try checkMayWaitForState(of: request.scene)
        }
    }

    /// - Throws: `queueFull` if as many wait for a state of the scene as may.
    func checkMayWaitForState(of name: SceneName) throws(ArbiterError) {
        let tickets = durable.scenes[name]?.statesAwaited ?? 0
        let awaits = momentary.observing.count(of: name) + momentary.idling.count(ofPartsOf: name)
        guard tickets + awaits < Limits.statesAwaited else {
            throw .queueFull(limit: Limits.statesAwaited, isForStates: true)
        }
    }

    /// Sets a ticket aside whose turn has come while one of its conditions does not hold.
    ///
    /// A remembered end does not save it from its queue timeout any more.
    mutating func setAside(
        _ ticket: Transition, because unmet: FailedExpectation, asker: TransitionID?, in step: inout Step
    ) {
        let name = ticket.request.scene
        durable.transitions[ticket.id]?.setAside(because: unmet)
        if (durable.scenes[name]?.queue.interrupting ?? 0) > 0 {
            reconsider(durable.scenes[name]?.queue.interrupters(behind: ticket.place) ?? [])
        }
        durable.scenes[name]?.setAside(ticket)
        rememberEnd(of: ticket.id)
        // One that has just been asked for is told as queued.
        if ticket.id != asker, let aside = durable.transitions[ticket.id] { tell(.updated, aside, in: &step) }
    }

    /// Judges the tickets and the awaits that wait for a state, after a change and before the next grant.
    mutating func judge(_ change: TouchedControllers, in name: SceneName, step: inout Step) {
        endChoosers(in: name, &step)
        for (ticket, unmet) in judged(because: change, in: name) {
            durable.transitions[ticket.id]?.setAside(because: unmet)
            guard unmet == nil, let waiting = durable.transitions[ticket.id] else { continue }
            rememberEnd(of: ticket.id)
            tell(.updated, waiting, in: &step)
            if waiting.request.interrupts { reconsider([ticket.id]) }
        }
        wakeObservers(of: name, change, in: &step)
    }

    /// Ends the tickets that are to get any of several names, once the scene has a hierarchy.
    private mutating func endChoosers(in name: SceneName, _ step: inout Step) {
        guard let scene = durable.scenes[name], scene.queue.choosing > 0 || !scene.aside.isEmpty,
            !scene.isWithoutHierarchy
        else { return }
        for id in scene.queue.unfinished + scene.aside.inOrder {
            guard let ticket = durable.transitions[id], case .anyOf(let names) = ticket.scope else { continue }
            end(id, as: .rejected(.scopeGone(names[0])), in: &step)
        }
    }

    private mutating func judged(
        because change: TouchedControllers, in name: SceneName
    ) -> [(ticket: Transition, unmet: FailedExpectation?)] {
        guard durable.scenes[name]?.aside.isEmpty == false else { return [] }
        // A copy that is gone before a transition changes.
        let transitions = durable.transitions
        return durable.scenes[name]?.judge(change) { transitions[$0] } ?? []
    }
}
