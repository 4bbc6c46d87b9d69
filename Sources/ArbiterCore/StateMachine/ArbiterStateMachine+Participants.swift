// Participants: the clients that a granted transition waits for before it runs.

extension ArbiterStateMachine {
    /// A participant reports that it is ready, or that the transition must not run.
    ///
    /// - Parameters:
    ///   - readiness: what the participant says.
    ///   - id: the transition.
    ///   - client: the participant; without it, the client of the session.
    ///   - session: the token of the participant's session.
    ///   - step: the turn.
    /// - Returns: the transition afterwards.
    /// - Throws: `unknownTransition`, `unknownSession`, `notAParticipant`, `mayNotVeto`, `notRunning`, `tooLate`.
    package mutating func report(
        _ readiness: Readiness, on id: TransitionID, client: ClientName?, session: Token, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        let speaker = try self.session(session)
        hear(speaker.id, in: step)
        guard let client = client ?? speaker.client, speaker.client == client,
            speaker.caller.scenes.contains(transition.request.scene),
            let participant = transition.participants.first(where: { $0.client == client })
        else { throw .notAParticipant(client) }
        if case .veto = readiness, !participant.mayVeto { throw .mayNotVeto(client) }
        switch transition.phase {
        case .queued:
            throw .notRunning(view(of: transition, at: step.now))
        case .preparing:
            break
        case .running, .ended:
            guard transition.hasHeard(readiness, from: participant) else {
                throw .tooLate(view(of: transition, at: step.now))
            }
            return view(of: transition, at: step.now)
        }
        switch readiness {
        case .ready where participant.state == .ready: break
        case .ready: markReady(id, client: client, in: &step)
        case .veto(let reason): return veto(id, by: client, because: reason, in: &step)
        }
        return try view(of: id, at: step.now)
    }

    /// Ends a preparing transition, because a participant says that it must not run.
    @discardableResult
    private mutating func veto(
        _ id: TransitionID, by client: ClientName, because reason: GivenReason?, in step: inout Step
    ) -> TransitionView {
        step.keep(.veto(id, by: client, reason))
        return endAndGrant(id, as: .rejected(.vetoed(by: client, reason)), in: &step)
    }

    /// Repeats what a record says.
    mutating func repeatVeto(
        of id: TransitionID, by client: ClientName, because reason: GivenReason?, in step: inout Step
    ) {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            transition.participants.contains(where: { $0.client == client && $0.mayVeto })
        else { return }
        veto(id, by: client, because: reason, in: &step)
    }

    /// Marks a participant as ready, and runs the transition if none is missing any more.
    mutating func markReady(_ id: TransitionID, client: ClientName, in step: inout Step) {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            transition.participants.contains(where: { $0.client == client && $0.state != .ready })
        else { return }
        step.keep(.markReady(id, client: client))
        durable.transitions[id]?.mark(client, as: .ready)
        runIfAllAreReady(id, in: &step)
    }

    /// The time of the participants has run out: the transition runs without those missing, or expires.
    mutating func timeOutParticipants(of id: TransitionID, in step: inout Step) {
        guard let transition = durable.transitions[id], case .preparing = transition.phase else { return }
        step.keep(.timeOutParticipants(id))
        switch transition.request.onUnready {
        case .proceed: run(id, in: &step)
        case .abort: endAndGrant(id, as: .expired(.participants), in: &step)
        }
    }

    /// Starts to wait for the participants of a granted transition; runs it at once if none is missing.
    mutating func prepare(_ id: TransitionID, _ grant: Transition.Grant, in step: inout Step) {
        guard let scene = durable.transitions[id]?.request.scene,
            durable.transitions[id]?.participants.isEmpty == false
        else {
            durable.transitions[id]?.run(with: grant)
            return begin(id, in: &step)
        }
        let index = durable.index
        // A participant that was gone may have opened a new session while the ticket waited.
        durable.transitions[id]?.prepare(with: grant) { index.isPresent($0, in: scene) }
        guard let preparing = durable.transitions[id], preparing.isMissingParticipants else {
            return run(id, in: &step)
        }
        momentary.deadlines.schedule(.ready(id), at: step.now.advanced(by: preparing.request.ready))
        tell(.preparing, preparing, in: &step)
        wakeWaiters(of: preparing, in: &step)
    }

    /// Runs a preparing transition.
    mutating func run(_ id: TransitionID, in step: inout Step) {
        durable.transitions[id]?.run()
        momentary.deadlines.cancel(.ready(id))
        begin(id, in: &step)
    }

    /// Tells everyone concerned that a transition runs now.
    private mutating func begin(_ id: TransitionID, in step: inout Step) {
        guard let running = durable.transitions[id], let grant = running.grant else {
            preconditionFailure("\(id) runs but is not known")
        }
        renewLease(of: running, at: step.now)
        tell(.running, running, in: &step)
        tell(grant.appearance, of: running, in: &step)
        wakeWaiters(of: running, in: &step)
    }

    mutating func runIfAllAreReady(_ id: TransitionID, in step: inout Step) {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            !transition.isMissingParticipants
        else { return }
        run(id, in: &step)
    }
}

extension Transition {
    /// Whether what a participant says has had its effect already.
    fileprivate func hasHeard(_ readiness: Readiness, from participant: Participant) -> Bool {
        switch readiness {
        case .ready: return participant.state == .ready
        case .veto:
            guard case .ended(let ending) = phase, case .rejected(.vetoed(participant.client, _)) = ending.outcome
            else {
                return false
            }
            return true
        }
    }
}
