// Participants: whoever has to be ready before a granted transition runs.

extension ArbiterStateMachine {
    mutating func ready(
        _ id: TransitionID, client: ClientName, session: Token, in step: inout Step
    ) throws(ArbiterError) -> Reply {
        guard let transition = durable.transitions[id] else { throw .unknownTransition(id) }
        guard let speaker = durable.index.sessions[session].flatMap({ durable.sessions[$0] }) else {
            throw .unknownSession
        }
        guard speaker.client == client,
            let participant = transition.participants.first(where: { $0.client == client })
        else { throw .notAParticipant(client) }
        switch transition.phase {
        case .queued:
            throw .notRunning(view(of: transition, at: step.now))
        case .preparing:
            break
        case .running, .ended:
            guard participant.state == .ready else { throw .tooLate(view(of: transition, at: step.now)) }
        }
        hear(speaker.id, at: step.now)
        guard participant.state != .ready else { return .transition(view(of: transition, at: step.now)) }
        step.record = .markReady(id, client: client)
        return markReady(id, client: client, in: &step)
    }

    mutating func markReady(_ id: TransitionID, client: ClientName, in step: inout Step) -> Reply {
        guard let transition = durable.transitions[id], case .preparing = transition.phase else { return .done }
        step.isDurable = true
        mark(client, of: id, as: .ready)
        attend(id, at: step.now)
        runIfAllAreReady(id, in: &step)
        return transitionReply(id, at: step.now)
    }

    /// Decides for those that are not ready in time.
    mutating func settle(_ id: TransitionID, in step: inout Step) -> Reply {
        guard let transition = durable.transitions[id], case .preparing(let grant) = transition.phase else {
            return .done
        }
        step.isDurable = true
        switch transition.request.onUnready {
        case .proceed: run(transition, grant, in: &step)
        case .abort: finish(id, as: .expired(.participants), in: &step)
        }
        return .done
    }

    /// Begins to wait for the participants of a granted transition, or lets it run if there is nobody to wait for.
    mutating func gather(_ transition: Transition, _ grant: Transition.Grant, in step: inout Step) {
        var preparing = transition
        for index in preparing.participants.indices where preparing.participants[index].state == .gone {
            // It may have come back while the ticket waited.
            if durable.index.clients[preparing.participants[index].client] != nil {
                preparing.participants[index].state = .waiting
            }
        }
        preparing.phase = .preparing(grant)
        durable.transitions[transition.id] = preparing
        guard preparing.participants.contains(where: \.isMissing) else { return run(preparing, grant, in: &step) }
        momentary.deadlines.schedule(.ready(transition.id), at: step.now.advanced(by: transition.request.ready))
        tell(.preparing, preparing, in: &step)
        wakeWaiters(of: preparing, in: &step)
    }

    /// Lets a granted transition run.
    mutating func run(_ transition: Transition, _ grant: Transition.Grant, in step: inout Step) {
        var running = transition
        running.phase = .running(grant)
        durable.transitions[transition.id] = running
        momentary.deadlines.cancel(.ready(transition.id))
        tell(.running, running, in: &step)
        tell(grant.appearance, of: running, in: &step)
        wakeWaiters(of: running, in: &step)
    }

    /// The last session of a client has ended: nobody waits for it any more.
    mutating func partWith(_ client: ClientName, in step: inout Step) {
        let unfinished = (durable.index.participations[client] ?? []).compactMap { durable.transitions[$0] }
        // Whoever a transition runs without stays its laggard.
        let waiting = unfinished.filter { $0.state == .queued || $0.state == .preparing }
        for transition in waiting.sorted(by: { $0.order < $1.order }) {
            guard transition.participants.contains(where: { $0.client == client && $0.state == .waiting }) else {
                continue
            }
            mark(client, of: transition.id, as: .gone)
            runIfAllAreReady(transition.id, in: &step)
        }
    }

    private mutating func mark(_ client: ClientName, of id: TransitionID, as state: Participant.State) {
        guard let index = durable.transitions[id]?.participants.firstIndex(where: { $0.client == client }) else {
            return
        }
        durable.transitions[id]?.participants[index].state = state
    }

    private mutating func runIfAllAreReady(_ id: TransitionID, in step: inout Step) {
        guard let transition = durable.transitions[id], case .preparing(let grant) = transition.phase,
            !transition.participants.contains(where: \.isMissing)
        else { return }
        run(transition, grant, in: &step)
    }

    private func transitionReply(_ id: TransitionID, at now: Instant) -> Reply {
        durable.transitions[id].map { .transition(view(of: $0, at: now)) } ?? .done
    }
}
