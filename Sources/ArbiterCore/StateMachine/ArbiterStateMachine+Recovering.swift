internal import DequeModule

// What a restart changes in the state.

extension ArbiterStateMachine {
    /// Starts the momentary state afresh after a replay: full leases, tickets and session times, no parked awaits.
    ///
    /// - Parameters:
    ///   - now: when the leases begin.
    ///   - isDraining: whether no await may park any more.
    ///   - hasTakenOver: whether another process may have served until now, to which clients may believe they are connected.
    package mutating func recover(at now: Instant, isDraining: Bool = false, hasTakenOver: Bool = false) {
        momentary = MomentaryState()
        if hasTakenOver { momentary.takenOverAt = now }
        momentary.isDraining = isDraining
        momentary.idling = Idling(begun: now)
        let remembered = durable.transitions.values.sorted { $0.order < $1.order }
        momentary.requested = Deque(remembered.map { MomentaryState.Requested(id: $0.id, order: $0.order) })
        for transition in remembered where !transition.isEnded {
            momentary.attention[transition.id] = Attention(heardAt: now)
            attend(transition.id, at: now)
            if let hold = transition.request.maxHold, let grant = transition.grant, !transition.hasRememberedEnd {
                momentary.deadlines.schedule(.hold(transition.id), at: grant.instant.advanced(by: hold))
            }
            if let interruption = transition.interruption {
                momentary.deadlines.schedule(.interruption(transition.id), at: now.advanced(by: interruption.grace))
            }
            if transition.state == .preparing {
                momentary.deadlines.schedule(.ready(transition.id), at: now.advanced(by: transition.timeToPrepare))
            }
        }
        for (id, session) in durable.sessions.sorted(by: { $0.key < $1.key }) {
            begin(SessionLife(of: session, .home(), since: now), of: id)
        }
        if durable.isHoldingGrants { scheduleResumption(from: now) }
    }

    /// Begins every lease and the time of every session again, because what owners and clients said could not be counted for a
    /// while.
    package mutating func extendEverything(at now: Instant) {
        for transition in durable.transitions.values.sorted(by: { $0.order < $1.order }) where !transition.isEnded {
            attend(transition.id, at: now)
        }
        for session in durable.sessions.keys.sorted() { change(session) { $0?.extend(at: now) } }
    }

    /// How long grants are still withheld; `nil` if they are not.
    package func remainingHold(at now: Instant) -> Duration? {
        durable.isHoldingGrants ? holdRemaining(at: now) : nil
    }

    /// How long grants are still withheld, if they are.
    func holdRemaining(at now: Instant) -> Duration {
        momentary.deadlines[.resumption].map { max(.zero, now.duration(to: $0)) } ?? .zero
    }

    /// The journal may lack its last records: numbers jump, so that none that may have been sent is used again.
    ///
    /// - Parameters:
    ///   - holdsGrants: whether clients may still hold leases that the journal lost; then grants are withheld.
    ///   - step: the turn.
    package mutating func distrust(holdsGrants: Bool, in step: inout Step) {
        step.keep(.distrust(holdsGrants: holdsGrants))
        jumpFences()
        for scene in durable.scenes.keys { durable.scenes[scene]?.numbers.skip() }
        durable.forgotten.skip()
        durable.lastEvent = EventNumber(rawValue: durable.lastEvent.rawValue + Limits.eventJump)
        // A hold because of an earlier crash may not be over yet.
        durable.isHoldingGrants = durable.isHoldingGrants || holdsGrants
        if holdsGrants { scheduleResumption(from: step.now) }
        // Sorted, so that a replay gives the same numbers to the events.
        for scene in durable.scenes.keys.sorted(by: { $0.description < $1.description }) {
            judge(.some([]), in: scene, step: &step)
            settle(scene, step: &step)
        }
        prune(at: step.now)
    }

    /// The process died without closing the journal: fences jump, in case the journal lost its end unnoticed.
    package mutating func skipFences(in step: inout Step) {
        step.keep(.skipFences)
        jumpFences()
    }

    /// Skips fences, so that no fence that may have been given is given again.
    private mutating func jumpFences() {
        durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + Limits.fenceJump)
    }

    /// Every lease that the journal may have lost has run out: grants are no longer withheld.
    package mutating func resume(in step: inout Step) {
        momentary.deadlines.cancel(.resumption)
        guard durable.isHoldingGrants else { return }
        step.keep(.resume)
        step.add(.notify(.resumed))
        durable.isHoldingGrants = false
        // Sorted, so that a replay grants in the same order.
        for scene in durable.scenes.keys.sorted(by: { $0.description < $1.description }) {
            settle(scene, step: &step)
            reconsider(durable.scenes[scene]?.queue.interrupters ?? [])
        }
        prune(at: step.now)
    }

    /// The daemon stops: nothing changes, but the record's moment is the one from which the clock will continue.
    package mutating func stop(in step: inout Step) {
        step.keep(.stop)
    }

    private mutating func scheduleResumption(from now: Instant) {
        // What waits since before the limits were lowered may have been granted with its lease.
        let longest = durable.transitions.values.lazy.filter { !$0.isEnded }.map(\.lease).max() ?? .zero
        let silence = max(limits.longestSilence, longest + limits.longestWait)
        momentary.deadlines.schedule(.resumption, at: now.advanced(by: silence))
    }
}
