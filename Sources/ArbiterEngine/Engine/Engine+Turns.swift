package import ArbiterCore
internal import DequeModule

// MARK: - The one entry

extension Engine {
    /// What an event requests; the operator is notified of it if there is no room.
    enum Subject {
        case transition(TransitionRequest)
        case session(ClientName?)
        case other
    }

    /// The most answers that a thread gives because it commits; more of them would hold up its other connections.
    static let answersOnThread = 64
    /// The same at the end of a round, whose requests have an answer each; of those that were parked, `answersOnThread` count.
    static let answersAfterRound = 1_024

    /// Runs an event in a turn: under the lock, at the current moment, with its records journalled in order.
    ///
    /// Every event reaches the state machine here.
    ///
    /// - Parameters:
    ///   - subject: what the event requests.
    ///   - asker: who requests it.
    ///   - prepare: called under the lock before the turn.
    ///   - event: calls one of the state machine's event methods.
    ///   - answer: turns the event's answer into a delivery, under the lock; `nil` if the event has none or parks.
    ///   - conclude: called under the lock after the turn.
    func run<Value>(
        _ subject: Subject = .other, by asker: Asker = .anyone,
        prepare: (inout State) -> Void = { _ in },
        _ event: (inout ArbiterStateMachine, inout Identities, inout Step) throws(ArbiterError) -> Value,
        answer: (inout State, Result<Value, EngineError>) -> Delivery?,
        conclude: (borrowing State) -> Void = { _ in }
    ) {
        // Not returned by the closure, so that they are not copied.
        var answers = Answers()
        let (journal, isShort, lacksProof) = state.withLock { state -> ((any Journal)?, Bool, Bool) in
            prepare(&state)
            state.turn += 1
            if let failure = state.failure {
                answers.own = answer(&state, .failure(refusal(after: failure)))
                return (nil, true, false)
            }
            let moment = now()
            state.step.restart(at: moment, lag: lag(in: state, at: moment.instant), client: asker.presence)
            let result = state.machine.turn(in: &state.step, with: &state.identities) {
                machine, identities, step throws(ArbiterError) in
                if let session = asker.session { machine.hear(session, from: asker.caller, in: &step) }
                return try event(&machine, &identities, &step)
            }
            // Before the effects, because a request that parks may be woken in the same turn.
            let own = answer(&state, result.mapError(EngineError.refused))
            var refusal: EngineNotice?
            if case .failure(let error) = result, error.isForWantOfRoom { refusal = subject.refusal(because: error) }
            answers = finish(&state, own: own, refusal: refusal)
            conclude(state)
            setAlarm(in: &state, at: moment.instant, after: Self.pauseBetweenPortions)
            ownership?.note(state.turn)
            return (state.gathering, state.withheld.count <= Self.answersOnThread, state.lacksProof)
        }
        answers.deliver()
        if let journal, !rounds.putOffCommit(of: self) { journal.flush(mayCommit: isShort) }
        if lacksProof { ownership?.prove() }
    }

    /// Commits what the requests of a round have recorded.
    package func commit() {
        let (journal, isShort) = state.withLock { state -> ((any Journal)?, Bool) in
            let count = state.withheld.count
            let isShort =
                count <= Self.answersOnThread
                || count <= Self.answersAfterRound && state.withheld.count(where: \.isPatient) <= Self.answersOnThread
            return (state.gathering, isShort)
        }
        journal?.flush(mayCommit: isShort)
    }

    /// What a request is answered that comes after a failure, so that nothing of it was carried out.
    private func refusal(after failure: JournalError) -> EngineError {
        // Where another process takes over, it may do so after a stop too.
        failure.kind == .notOwner || failure.kind == .closed && ownership != nil
            ? .notOwner(failure) : .journalUnavailable(failure)
    }

    /// Journals the records of the step, and carries out its effects, which are withheld until the records are committed.
    ///
    /// Events and notices are announced under the lock, to keep their order. Events come first, so that a stream that ends
    /// because of a notice has the events of the same turn.
    ///
    /// - Parameters:
    ///   - state: the state, with the step.
    ///   - own: the answer to the request that the step carried out; behind those of the requests that it wakes.
    ///   - refusal: a notice that there was no room for it.
    /// - Returns: the answers that can be delivered at once, after the lock is released.
    func finish(_ state: inout State, own: Delivery? = nil, refusal: EngineNotice? = nil) -> Answers {
        let hasRecorded = !state.step.records.isEmpty
        journal(&state)
        var answers = Answers(own: own)
        var notices: [EngineNotice] = []
        state.events.removeAll(keepingCapacity: state.events.count <= Step.keptCapacity)
        for effect in state.step.effects {
            switch effect {
            case .publish(let event): state.events.append(event)
            case .wake(let waiter, let view):
                guard let parked = state.parked.removeValue(forKey: waiter) else { continue }
                let completion = timed(parked.completion, since: state.step.moment.instant)
                answers.woken.append((.transition(completion, .success(view)), parked.hasRecorded))
            case .wakeForState(let waiter, let observation):
                guard let completion = state.observers.removeValue(forKey: waiter) else { continue }
                answers.woken.append((.observation(completion, .success(observation)), false))
            case .notify(let notice):
                notices.append(.happened(notice))
                guard case .sessionEnded(let session, _) = notice else { continue }
                let view = SessionView(session: session, remaining: .zero)
                for completion in state.leavers.removeValue(forKey: session.id) ?? [] {
                    answers.woken.append((.answer { completion($0.map { .failure($0) } ?? .success(view)) }, true))
                }
            }
        }
        if let refusal { notices.append(refusal) }
        let isWithheld = state.committedSequence < state.lastSequence || ownership != nil
        guard isWithheld, state.failure == nil else {
            if !state.events.isEmpty { listener(state.events) }
            for notice in notices { observer(notice) }
            return answers
        }
        for (answer, hasRecorded) in answers.woken {
            state.withhold(answer, isPatient: true, hasRecorded: hasRecorded)
        }
        if !state.events.isEmpty { state.withhold(.events(state.events)) }
        for notice in notices { state.withhold(.notice(notice)) }
        if let own { state.withhold(own, hasRecorded: hasRecorded) }
        return Answers()
    }

    /// For how long words of clients may have lain unheard, if something is due.
    private func lag(in state: borrowing State, at now: Instant) -> Duration {
        state.machine.nextDeadline.map { $0 <= now } == true ? hearing.lag : .zero
    }

    /// The completion of a parked request, which measures how long its answer takes.
    private func timed(_ completion: @escaping Completion, since begun: Instant) -> Completion {
        { [self] result in
            metrics.handOvers.observe(begun.duration(to: now().instant))
            completion(result)
        }
    }

    private func journal(_ state: inout State) {
        for record in state.step.records {
            state.lastSequence += 1
            // All records of a step are under the same rules, because only the record that adopts others changes them.
            let entry = JournalEntry(
                sequence: state.lastSequence, moment: state.step.moment, record: record, rules: state.machine.rules)
            if state.journal.append(entry) { state.committedSequence = state.lastSequence }
        }
    }
}

// MARK: - Commit before effects

extension Engine {
    /// The current moment on the arbiter's clock.
    package func now() -> Moment {
        let moment = time.now()
        return Moment(instant: moment.instant.advanced(by: offset), timestamp: moment.timestamp)
    }

    /// Releases the deliveries that a commit covers, or handles its failure.
    ///
    /// - Parameters:
    ///   - result: the sequence of the last committed record, or the failure of the journal.
    ///   - era: the era in which the journal was opened; commits of an earlier era are ignored.
    func committed(_ result: Result<UInt64, JournalError>, in era: Int) {
        switch result {
        case .success(let sequence):
            let (released, lacksProof, missed) = state.withLock { state -> ([Delivery], Bool, [MissedEvent]?) in
                guard state.access.era == era else { return ([], false, nil) }
                // What owners and clients of sessions have said in a stall was refused, and not counted.
                let missed = state.access.noteCommit()
                if missed != nil { state.machine.extendEverything(at: now().instant) }
                state.committedSequence = max(state.committedSequence, sequence)
                return (release(from: &state), state.lacksProof, missed)
            }
            for delivery in released { delivery.deliver(unless: nil) }
            if lacksProof { ownership?.prove() }
            if let missed { makeUp(for: missed) }
        case .failure(let error):
            guard state.withLock({ $0.access.era == era }) else { return }
            if error.kind == .stalled { stall(error) } else { fail(error) }
        }
    }

    /// Carries out, in one turn, what was missed and what is due; in the next stall it is missed again.
    private func makeUp(for missed: [MissedEvent]) {
        tellOnce { machine, step in
            for event in missed { event(&machine, &step) }
        }
    }

    /// Releases the deliveries of the turns for which it is shown that no other process had taken over the journal.
    func noteShown(_ turn: UInt64) {
        let released = state.withLock { state -> [Delivery] in
            guard state.failure == nil, turn > state.shownTurn else { return [] }
            state.shownTurn = turn
            return release(from: &state)
        }
        for delivery in released { delivery.deliver(unless: nil) }
    }

    /// Announces the events and notices that no longer have to be withheld, under the lock to keep their order.
    ///
    /// - Returns: the answers that may leave, to be delivered after the lock is released.
    private func release(from state: inout State) -> [Delivery] {
        var answers: [Delivery] = []
        while let next = state.withheld.first, next.sequence <= state.committedSequence,
            ownership == nil || next.turn <= state.shownTurn
        {
            state.withheld.removeFirst()
            switch next.delivery {
            case .events(let events): listener(events)
            case .notice(let notice): observer(notice)
            case .transition, .observation, .answer: answers.append(next.delivery)
            }
        }
        return answers
    }

    /// Sets the alarm for the next deadline, unless it already rings early enough.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - now: the present.
    ///   - pause: how long what is due already has to wait.
    func setAlarm(in state: inout State, at now: Instant, after pause: Duration = .zero) {
        // An alarm that rings before the deadline is enough: the turn that it starts sets the next one.
        guard let next = state.machine.nextDeadline, state.alarms.last.map({ next < $0 }) ?? true else { return }
        state.alarms.append(next)
        // The alarm uses the machine's clock, which continues while the arbiter's stands still. If it still rings too
        // early, nothing is due, and it is set again.
        let delay = now.duration(to: next) + time.standstill
        alarm.ring(after: next <= now ? max(delay, pause) : delay) { [weak self] in self?.tick(for: next) }
    }

    /// The pause before the next turn does what is still due; other requests are served meanwhile.
    ///
    /// Something is still due if it was more than a portion, or if words of clients that are not heard yet may
    /// contradict it.
    private static let pauseBetweenPortions = Duration.milliseconds(1)
}

extension Engine.Subject {
    /// The notice that there was no room.
    fileprivate func refusal(because error: ArbiterError) -> EngineNotice {
        switch self {
        case .transition(let request): .refused(error, scene: request.scene, client: request.client)
        case .session(let client): .refused(error, scene: nil, client: client)
        case .other: .refused(error, scene: nil, client: nil)
        }
    }
}
