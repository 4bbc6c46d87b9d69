package import ArbiterCore

// What clients ask, and what the shell tells.

extension Engine {
    package func start(_ request: TransitionRequest, completion: @escaping Completion) {
        submit(completion: completion) { state in
            .start(request, id: state.unusedID(), token: state.token())
        }
    }

    /// Takes a place in the queue; the answer comes at the grant, or when `wait` has run out.
    ///
    /// - Returns: whom to name in `leave` if the connection closes before the answer.
    @discardableResult
    package func serialize(
        _ request: TransitionRequest, wait: Duration, completion: @escaping Completion
    ) -> WaiterID? {
        parking(for: wait, completion: completion) { state, park in
            .serialize(request, id: state.unusedID(), token: state.token(), park: park)
        }
    }

    /// Answers when the transition has reached the milestone, or when `wait` has run out.
    ///
    /// - Returns: whom to name in `leave` if the connection closes before the answer.
    @discardableResult
    package func wait(
        on id: TransitionID, token: Token?, until milestone: Milestone, wait: Duration,
        completion: @escaping Completion
    ) -> WaiterID? {
        parking(for: wait, completion: completion) { _, park in
            .await(id, token: token, until: milestone, park: park)
        }
    }

    /// Ends a transition; without an outcome, as its gesture was decided, and else as completed.
    package func end(_ id: TransitionID, token: Token, as outcome: EndOutcome?, completion: @escaping Completion) {
        submit(completion: completion) { _ in .end(id, token: token, outcome) }
    }

    /// Takes a transition from its owner.
    package func revoke(_ id: TransitionID, because reason: RevocationReason, completion: @escaping Completion) {
        submit(completion: completion) { _ in .revoke(id, reason) }
    }

    package func renew(_ id: TransitionID, token: Token, completion: @escaping Completion) {
        submit(completion: completion) { _ in .renew(id, token: token) }
    }

    /// Declares what a scene is now.
    package func declare(
        _ scene: SceneName, _ storyboard: Storyboard, ifMatch revision: Revision?,
        completion: @escaping @Sendable (Result<Reply, EngineError>) -> Void
    ) {
        ask(completion: completion) { _ in .declare(scene, storyboard, ifMatch: revision) }
    }

    /// Forgets a scene, if it has the revision or none is named.
    package func delete(
        _ scene: SceneName, ifMatch revision: Revision? = nil,
        completion: @escaping @Sendable (Result<Reply, EngineError>) -> Void
    ) {
        ask(completion: completion) { _ in .delete(scene, ifMatch: revision) }
    }

    /// The waiter's connection has closed: its completion will not be called.
    package func leave(_ waiter: WaiterID) {
        submit { state in
            state.parked.removeValue(forKey: waiter)
            return .leave(waiter)
        }
    }

    /// Answers everyone parked as things stand, and parks no more.
    package func drain() {
        submit { _ in .drain }
    }

    /// The number of each scene's newest event, and that of the newest of all; meant for the start, before anybody asks.
    package func lastEvents() -> (scenes: [SceneName: EventNumber], overall: EventNumber) {
        state.withLock { ($0.machine.lastEvents(), $0.machine.lastEvent) }
    }

    /// Asks without changing anything; what was seen is told once it is committed.
    package func read<Value: Sendable>(
        _ question: (borrowing ArbiterStateMachine, Instant) throws(ArbiterError) -> Value,
        completion: @escaping @Sendable (Result<Value, EngineError>) -> Void
    ) {
        let deliveries = state.withLock { state -> [Delivery] in
            if let failure = state.failure {
                return [.reading { _ in completion(.failure(.journalUnavailable(failure))) }]
            }
            var deliveries: [Delivery] = []
            let moment = now()
            decide(&state, at: moment, into: &deliveries)
            let answer: Result<Value, ArbiterError>
            do throws(ArbiterError) {
                answer = .success(try question(state.machine, moment.instant))
            } catch {
                answer = .failure(error)
            }
            deliveries.append(.reading { failure in completion(Self.told(answer, unless: failure)) })
            return withhold(deliveries, in: &state)
        }
        deliver(deliveries)
    }
}
