internal import DequeModule

// What a restart does to the state.

extension ArbiterStateMachine {
    /// Begins everything momentary afresh after a replay: full leases, tickets as good as new, nobody parked.
    package mutating func recover(at now: Instant) {
        momentary = MomentaryState()
        let remembered = durable.transitions.values.sorted { $0.order < $1.order }
        momentary.requested = Deque(remembered.map { MomentaryState.Requested(id: $0.id, order: $0.order) })
        for transition in remembered where !transition.isEnded {
            momentary.attention[transition.id] = Attention()
            attend(transition.id, at: now)
            if transition.state == .preparing {
                momentary.deadlines.schedule(.ready(transition.id), at: now.advanced(by: transition.request.ready))
            }
        }
        for session in durable.sessions.keys.sorted() { hear(session, at: now) }
        if durable.isHoldingGrants { scheduleResumption(from: now) }
    }

    /// How long nothing will be granted yet; `nil` if grants are not held.
    package func remainingHold(at now: Instant) -> Duration? {
        durable.isHoldingGrants ? holdRemaining(at: now) : nil
    }

    func holdRemaining(at now: Instant) -> Duration {
        momentary.deadlines[.hold].map { max(.zero, now.duration(to: $0)) } ?? .zero
    }

    mutating func distrust(holdsGrants: Bool, in step: inout Step) -> Reply {
        _ = skipFences(in: &step)
        for scene in durable.scenes.keys { durable.scenes[scene]?.numbers.skip() }
        durable.forgotten.skip()
        durable.lastEvent = EventNumber(rawValue: durable.lastEvent.rawValue + Limits.eventJump)
        // What an earlier death may have left behind is not over for this one.
        durable.isHoldingGrants = durable.isHoldingGrants || holdsGrants
        if holdsGrants { scheduleResumption(from: step.now) }
        return .done
    }

    /// No fence that may have been given is given again.
    mutating func skipFences(in step: inout Step) -> Reply {
        step.isDurable = true
        durable.lastFence = Fence(rawValue: durable.lastFence.rawValue + Limits.fenceJump)
        return .done
    }

    mutating func resume(in step: inout Step) -> Reply {
        momentary.deadlines.cancel(.hold)
        guard durable.isHoldingGrants else { return .done }
        step.isDurable = true
        durable.isHoldingGrants = false
        // In an order that is the same at every replay.
        for scene in durable.scenes.keys.sorted(by: { $0.description < $1.description }) {
            grantWhatIsFree(in: scene, step: &step)
        }
        prune(at: step.now)
        return .done
    }

    private mutating func scheduleResumption(from now: Instant) {
        momentary.deadlines.schedule(.hold, at: now.advanced(by: Limits.leaseDurations.upperBound))
    }
}
