internal import ArbiterCore

// The kinds of events, by what they are answered with.

extension Engine {
    /// Runs an event that is answered with a transition.
    func submit(
        _ subject: Subject = .other, by asker: Asker, _ completion: @escaping Completion,
        _ event: (inout ArbiterStateMachine, inout Identities, inout Step) throws(ArbiterError) -> TransitionView
    ) {
        run(subject, by: asker, event) { _, result in .transition(completion, result) }
    }

    /// Runs an event that is answered with a transition and needs no ids.
    func submit(
        by asker: Asker, _ completion: @escaping Completion,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> TransitionView
    ) {
        submit(.other, by: asker, completion) { machine, _, step throws(ArbiterError) in try event(&machine, &step) }
    }

    /// Runs an event that is answered with a transition, now or at its milestone.
    ///
    /// - Returns: the waiter that is parked after the turn, if any.
    func park(
        _ subject: Subject, by asker: Asker, for wait: Duration, _ completion: @escaping Completion,
        _ event: (inout ArbiterStateMachine, inout Identities, Park?, inout Step) throws(ArbiterError) -> AwaitAnswer
    ) -> WaiterID? {
        var park: Park?
        var parked: WaiterID?
        run(subject, by: asker) { machine, identities, step throws(ArbiterError) in
            park = identities.park(for: min(wait, machine.limits.longestWait))
            return try event(&machine, &identities, park, &step)
        } answer: { state, result in
            switch result {
            case .success(.now(let view)): return .transition(completion, .success(view))
            case .failure(let error): return .transition(completion, .failure(error))
            case .success(.parked):
                guard let waiter = park?.waiter else { preconditionFailure("an await parked without a waiter") }
                state.parked[waiter] = Parked(
                    completion: completion, hasRecorded: !state.step.records.isEmpty)
                return nil
            }
        } conclude: { state in
            parked = park.flatMap { state.parked[$0.waiter] == nil ? nil : $0.waiter }
        }
        return parked
    }

    /// Runs an event whose answer is not a transition.
    func ask<Value: Sendable>(
        _ subject: Subject = .other, by asker: Asker = .anyone, _ completion: @escaping Answer<Value>,
        _ event: (inout ArbiterStateMachine, inout Identities, inout Step) throws(ArbiterError) -> Value
    ) {
        run(subject, by: asker, event) { _, result in
            .answer { failure in
                completion(failure.map { .failure($0) } ?? result)
            }
        }
    }

    /// Runs an event whose answer is not a transition and that needs no ids.
    func ask<Value: Sendable>(
        by asker: Asker = .anyone, _ completion: @escaping Answer<Value>,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Value
    ) {
        ask(.other, by: asker, completion) { machine, _, step throws(ArbiterError) in try event(&machine, &step) }
    }

    /// Runs an event that has no answer.
    func tell(
        by asker: Asker = .anyone, prepare: (inout State) -> Void = { _ in },
        _ event: (inout ArbiterStateMachine, inout Step) -> Void
    ) {
        run(by: asker, prepare: prepare) { machine, _, step in
            event(&machine, &step)
        } answer: { _, _ in
            nil
        }
    }

    /// Runs an event that has no answer, and that nobody tells of again: while the journal takes no commits, it waits.
    func tellOnce(prepare: (inout State) -> Void = { _ in }, _ event: @escaping MissedEvent) {
        run(prepare: prepare) { machine, _, step in
            event(&machine, &step)
        } answer: { state, result in
            if case .failure = result { state.access.miss(event) }
            return nil
        }
    }

    /// Does what is due, in a turn without an event.
    ///
    /// - Parameter alarm: the instant for which the alarm that rang was set.
    func tick(for alarm: Instant) {
        tell { state in
            while let next = state.alarms.last, next <= alarm { state.alarms.removeLast() }
        } _: { _, _ in
        }
    }
}
