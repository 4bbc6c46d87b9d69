internal import ArbiterCore
internal import DequeModule

// MARK: - From command to answer

extension Engine {
    func parking(
        for wait: Duration, completion: @escaping Completion, _ command: (inout State, Park?) -> Command
    ) -> WaiterID? {
        submit(completion: completion) { state in
            guard wait > .zero else { return command(&state, nil) }
            state.lastWaiter += 1
            return command(&state, Park(waiter: WaiterID(rawValue: state.lastWaiter), wait: wait))
        }
    }

    /// Has a command applied, at its turn and its time.
    ///
    /// - Returns: whoever parked by it.
    @discardableResult
    func submit(completion: Completion? = nil, _ command: (inout State) -> Command) -> WaiterID? {
        let (deliveries, waiter) = state.withLock { state -> ([Delivery], WaiterID?) in
            if let failure = state.failure {
                guard let completion else { return ([], nil) }
                return ([.reading { _ in completion(.failure(.journalUnavailable(failure))) }], nil)
            }
            var deliveries: [Delivery] = []
            let moment = now()
            // What is due comes first, so that nobody gains by the alarm being late.
            decide(&state, at: moment, into: &deliveries)
            let command = command(&state)
            let reply = apply(command, to: &state, at: moment, into: &deliveries)
            if let completion { answer(reply, to: command, completion: completion, in: &state, into: &deliveries) }
            decide(&state, at: moment, into: &deliveries)
            setAlarm(in: &state, at: moment.instant)
            let parked = command.waiter.flatMap { state.parked[$0] == nil ? nil : $0 }
            return (withhold(deliveries, in: &state), parked)
        }
        deliver(deliveries)
        return waiter
    }

    /// Has a command applied that parks nobody, at its turn and its time.
    func ask(
        completion: @escaping @Sendable (Result<Reply, EngineError>) -> Void, _ command: (inout State) -> Command
    ) {
        let deliveries = state.withLock { state -> [Delivery] in
            if let failure = state.failure {
                return [.reading { _ in completion(.failure(.journalUnavailable(failure))) }]
            }
            var deliveries: [Delivery] = []
            let moment = now()
            decide(&state, at: moment, into: &deliveries)
            let reply = apply(command(&state), to: &state, at: moment, into: &deliveries)
            deliveries.append(.reading { failure in completion(Self.told(reply, unless: failure)) })
            decide(&state, at: moment, into: &deliveries)
            setAlarm(in: &state, at: moment.instant)
            return withhold(deliveries, in: &state)
        }
        deliver(deliveries)
    }

    /// Does what is due; `alarm` is the setting that rang, where one did.
    func tick(for alarm: Instant? = nil) {
        let deliveries = state.withLock { state -> [Delivery] in
            if let alarm { while let next = state.alarms.last, next <= alarm { state.alarms.removeLast() } }
            guard state.failure == nil else { return [] }
            var deliveries: [Delivery] = []
            let moment = now()
            decide(&state, at: moment, into: &deliveries)
            setAlarm(in: &state, at: moment.instant)
            return withhold(deliveries, in: &state)
        }
        deliver(deliveries)
    }

    func decide(_ state: inout State, at moment: Moment, into deliveries: inout [Delivery]) {
        while let command = state.machine.nextDecision(at: moment.instant) {
            _ = apply(command, to: &state, at: moment, into: &deliveries)
        }
    }

    func apply(
        _ command: Command, to state: inout State, at moment: Moment, into deliveries: inout [Delivery]
    ) -> Result<Reply, ArbiterError> {
        let outcome = state.machine.apply(command, at: moment)
        if let kept = outcome.record {
            state.lastSequence += 1
            let record = JournalRecord(sequence: state.lastSequence, moment: moment, command: kept)
            if state.journal.append(record) { state.committedSequence = state.lastSequence }
        }
        var events: [SceneEvent] = []
        for effect in outcome.effects {
            switch effect {
            case .publish(let event):
                events.append(event)
            case .wake(let waiter, let view):
                guard let completion = state.parked.removeValue(forKey: waiter) else { continue }
                deliveries.append(.answer(completion, .success(view)))
            case .notify(let notice):
                deliveries.append(.notice(.happened(notice)))
            }
        }
        if case .failure(let error) = outcome.reply, error.isForWantOfRoom {
            deliveries.append(.notice(.refused(error, scene: command.request?.scene, client: command.client)))
        }
        if !events.isEmpty { deliveries.append(.events(events)) }
        return outcome.reply
    }

    func answer(
        _ reply: Result<Reply, ArbiterError>, to command: Command, completion: @escaping Completion,
        in state: inout State, into deliveries: inout [Delivery]
    ) {
        switch reply {
        case .success(.transition(let view)):
            deliveries.append(.answer(completion, .success(view)))
        case .success(.parked):
            guard let waiter = command.waiter else { preconditionFailure("\(command) parked nobody") }
            state.parked[waiter] = completion
        case .success(.progress), .success(.session), .success(.declared), .success(.done):
            preconditionFailure("\(command) is not answered with a transition")
        case .failure(let error):
            deliveries.append(.answer(completion, .failure(error)))
        }
    }

    static func told<Value>(
        _ answer: Result<Value, ArbiterError>, unless failure: JournalError?
    ) -> Result<Value, EngineError> {
        if let failure { .failure(.journalUnavailable(failure)) } else { answer.mapError(EngineError.refused) }
    }
}

// MARK: - Commit before effects

extension Engine {
    func now() -> Moment {
        let moment = time.now()
        return Moment(instant: moment.instant.advanced(by: lag), timestamp: moment.timestamp)
    }

    /// What may be said at once; the rest is kept until the journal has committed.
    func withhold(_ deliveries: [Delivery], in state: inout State) -> [Delivery] {
        guard state.committedSequence < state.lastSequence, state.failure == nil else { return announce(deliveries) }
        for delivery in deliveries { state.withheld.append((state.lastSequence, delivery)) }
        return []
    }

    /// Tells what has happened, still under the lock, since only so it is told in the order in which it did.
    ///
    /// - Returns: the rest.
    private func announce(_ deliveries: [Delivery]) -> [Delivery] {
        deliveries.filter { delivery in
            switch delivery {
            case .events(let events):
                listener(events)
                return false
            case .notice(let notice):
                observer(notice)
                return false
            case .answer, .reading:
                return true
            }
        }
    }

    func deliver(_ deliveries: [Delivery]) {
        for delivery in deliveries { delivery.deliver(unless: nil) }
    }

    /// A journal tells what is committed; `era` is the one that it was opened in.
    func committed(_ result: Result<UInt64, JournalError>, in era: Int) {
        switch result {
        case .success(let sequence):
            let released = state.withLock { state -> [Delivery] in
                guard state.era == era else { return [] }
                state.pause = nil
                state.committedSequence = max(state.committedSequence, sequence)
                let count = state.withheld.prefix { $0.sequence <= sequence }.count
                let released = state.withheld.prefix(count).map(\.delivery)
                state.withheld.removeFirst(count)
                return announce(released)
            }
            deliver(released)
        case .failure(let error):
            guard state.withLock({ $0.era == era }) else { return }
            fail(error)
        }
    }

    func setAlarm(in state: inout State, at now: Instant) {
        // A later setting that is still to ring is as good as one made now.
        guard let next = state.machine.nextDeadline, state.alarms.last.map({ next < $0 }) ?? true else { return }
        state.alarms.append(next)
        // It counts by the machine's clock, which goes on where the arbiter's stands still. If it rings too early all the
        // same, nothing is due, and it is set again.
        alarm.ring(after: now.duration(to: next) + time.standstill) { [weak self] in self?.tick(for: next) }
    }
}

extension Command {
    /// What it asks for, if it is to make a transition.
    fileprivate var request: TransitionRequest? {
        switch self {
        case .start(let request, _, _), .serialize(let request, _, _, _): request
        case .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare, .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession,
            .answer, .distrust, .skipFences, .resume:
            nil
        }
    }

    /// Who asks for a transition or a session.
    fileprivate var client: ClientName? {
        if case .openSession(let client, _, _, _) = self { client } else { request?.client }
    }

    /// Who parks, if the command may park somebody.
    fileprivate var waiter: WaiterID? {
        switch self {
        case .serialize(_, _, _, let park), .await(_, _, _, let park): park?.waiter
        case .start, .end, .revoke, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .answer,
            .distrust, .skipFences, .resume:
            nil
        }
    }
}
