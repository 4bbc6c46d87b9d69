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
            speaker.caller.scenes.contains(transition.request.scene)
        else { throw .notAParticipant(client) }
        let spokenFor = transition.participants.filter { $0.isSpokenFor(by: client, in: speaker.id) }
        guard !spokenFor.isEmpty else { throw .notAParticipant(client) }
        if case .veto = readiness, !spokenFor.contains(where: \.mayVeto) { throw .mayNotVeto(client) }
        switch transition.phase {
        case .queued:
            throw .notRunning(view(of: transition, at: step.now))
        case .preparing:
            break
        case .running, .ended:
            guard transition.hasHeard(readiness, from: client, for: spokenFor) else {
                throw .tooLate(view(of: transition, at: step.now))
            }
            return view(of: transition, at: step.now)
        }
        switch readiness {
        case .veto(let reason): return veto(id, by: client, because: reason, in: &step)
        case .ready where spokenFor.allSatisfy { $0.state == .ready }: return try view(of: id, at: step.now)
        case .ready:
            let isAsked = spokenFor.contains { $0.asked != nil }
            let hasEnded =
                isAsked
                ? answerGuards(of: id, in: speaker.id, in: &step) : markReady(id, client: client, in: &step)
            // Read before it may be forgotten.
            let view = try view(of: id, at: step.now)
            if hasEnded { prune(at: step.now) }
            return view
        }
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
            transition.participants.contains(where: { $0.client == client && $0.mayVeto && !$0.isWithdrawn })
        else { return }
        veto(id, by: client, because: reason, in: &step)
    }

    /// Marks a participant as ready, and runs the transition if none is missing any more.
    ///
    /// - Returns: whether the transition has ended, because its owner had ended it before.
    mutating func markReady(_ id: TransitionID, client: ClientName, in step: inout Step) -> Bool {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            transition.participants.contains(where: { $0.client == client && $0.asked == nil && $0.state != .ready })
        else { return false }
        step.keep(.markReady(id, client: client))
        durable.transitions[id]?.mark(client, as: .ready)
        return runAndSettle(id, in: &step)
    }

    /// The time of the participants has run out: the transition runs without those missing, or expires if one of them says so.
    mutating func timeOutParticipants(of id: TransitionID, in step: inout Step) {
        guard let transition = durable.transitions[id], case .preparing = transition.phase else { return }
        step.keep(.timeOutParticipants(id))
        let onUnready = transition.request.onUnready
        if transition.participants.contains(where: { $0.isMissing && ($0.asked?.onSilence ?? onUnready) == .abort }) {
            endAndGrant(id, as: .expired(.participants), in: &step)
        } else if run(id, in: &step) {
            settle(transition.request.scene, step: &step)
            prune(at: step.now)
        }
    }

    /// Starts to wait for the participants of a granted transition, and for those who guard what it removes; runs it at once if none
    /// is missing.
    mutating func prepare(
        _ id: TransitionID, _ grant: Transition.Grant, asking guards: [Guard], in step: inout Step
    ) {
        guard let scene = durable.transitions[id]?.request.scene,
            durable.transitions[id]?.participants.isEmpty == false || !guards.isEmpty
        else {
            durable.transitions[id]?.run(with: grant)
            return begin(id, in: &step)
        }
        let index = durable.index
        // A participant that was gone may have opened a new session while the ticket waited.
        let known = guards.isEmpty ? [] : durable.transitions[id]?.participatingClients ?? []
        durable.transitions[id]?.prepare(with: grant, asking: guards) { index.isPresent($0, in: scene) }
        guard let preparing = durable.transitions[id], preparing.isMissingParticipants else {
            run(id, in: &step)
            return
        }
        if !guards.isEmpty {
            let new = preparing.participatingClients.filter { !known.contains($0) }
            durable.index.enter(preparing, of: new)
        }
        momentary.deadlines.schedule(.ready(id), at: step.now.advanced(by: preparing.timeToPrepare))
        tell(.preparing, preparing, in: &step)
        wakeWaiters(of: preparing, in: &step)
    }

    /// Runs a preparing transition; one that its owner has ended completes.
    ///
    /// - Returns: whether it has ended; the caller grants what it blocked.
    @discardableResult
    private mutating func run(_ id: TransitionID, in step: inout Step) -> Bool {
        let completes = durable.transitions[id]?.hasRememberedEnd == true
        durable.transitions[id]?.run()
        momentary.deadlines.cancel(.ready(id))
        if completes { complete(id, in: &step) } else { begin(id, in: &step) }
        return completes
    }

    /// Runs a preparing transition if nobody is missing, and grants what it blocked if it has ended; the caller forgets what is too
    /// much then.
    ///
    /// - Returns: whether it has ended.
    mutating func runAndSettle(_ id: TransitionID, in step: inout Step) -> Bool {
        guard runIfAllAreReady(id, in: &step) else { return false }
        if let scene = durable.transitions[id]?.request.scene { settle(scene, step: &step) }
        return true
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

    /// Runs a preparing transition if nobody is missing.
    ///
    /// - Returns: whether it has ended; the caller grants what it blocked.
    @discardableResult
    mutating func runIfAllAreReady(_ id: TransitionID, in step: inout Step) -> Bool {
        guard let transition = durable.transitions[id], case .preparing = transition.phase,
            !transition.isMissingParticipants
        else { return false }
        return run(id, in: &step)
    }
}

extension Transition {
    /// Whether what a participant says has had its effect already.
    fileprivate func hasHeard(
        _ readiness: Readiness, from client: ClientName, for spokenFor: [Participant]
    ) -> Bool {
        switch readiness {
        case .ready: return spokenFor.allSatisfy { $0.state == .ready }
        case .veto:
            guard case .ended(let ending) = phase, case .rejected(.vetoed(client, _)) = ending.outcome else {
                return false
            }
            return true
        }
    }

    /// How long it waits for its participants; for guards longer, if its owner has given them hardly any time.
    var timeToPrepare: Duration { isMissingGuards ? max(request.ready, Limits.guardsReady) : request.ready }
}
