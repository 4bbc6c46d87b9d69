internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// A call at a node, as the relay has it.
final class SimulatedCall: RelayedRequest {
    /// Called once with the answer, and with whether a node that has passed the call on may ask the next owner.
    typealias Answer = @Sendable (Reply, _ isUntouched: Bool) -> Void

    private struct State {
        var answer: Answer?
        var whenAbandoned: (@Sendable () -> Void)?
        var isAbandoned = false
        /// Since when it is held; `nil` while it is not.
        var heldSince: Instant?
        /// Whether it was held for too long when that was looked at last.
        var isOverdue = false
        /// The tenures to which it was passed on, and when.
        var asked: [(tenure: UInt64, at: Instant)] = []
    }

    let ask: Ask
    /// The nodes that have passed it on, the one that the client has asked first.
    let relays: [Process]
    let node: SimulatedNode
    private let state: Guarded<State>

    init(_ ask: Ask, at node: SimulatedNode, over relays: [Process], _ answer: @escaping Answer) {
        (self.ask, self.node, self.relays) = (ask, node, relays)
        state = Guarded(State(answer: answer))
    }

    let asker = Asker.anyone

    func begin() {
        node.state.withLock { $0.calls[ObjectIdentifier(self)] = self }
        guard let misplaced = carryOut(mayNeedGuest: true) else { return }
        let origin: Errand.Origin = relays.isEmpty ? .client : .node(hops: relays.count)
        guard node.relay.mayHelp(misplaced, from: origin) else { return refuse(.misplaced(misplaced)) }
        node.relay.begin(self, from: origin, because: misplaced)
    }

    /// Answers, unless it is answered already.
    func answer(_ reply: Reply, isUntouched: Bool = false) {
        let answer = state.withLock { state in
            (state.whenAbandoned, state.heldSince) = (nil, nil)
            return state.answer.take()
        }
        node.state.withLock { $0.calls[ObjectIdentifier(self)] = nil }
        guard let answer, !node.process.isDead else { return }
        node.cluster.signals.post(.answer(ask.number) { answer(reply, isUntouched) })
    }

    /// Its client has closed the connection.
    func abandon() {
        let action = state.withLock { state in
            (state.heldSince, state.isAbandoned) = (nil, true)
            return state.whenAbandoned.take()
        }
        action?()
    }

    // MARK: - For the relay

    func forwarding(to owner: ClusterMap.Owner, _ elsewhere: Elsewhere) -> any Forwarding {
        let now = node.process.now().instant
        let asked = state.withLock { state in
            defer { state.asked.append((owner.tenure, now)) }
            return state.asked
        }
        if let wrong = wrong(with: owner.tenure, at: now, after: asked) {
            node.cluster.signals.post(.misrelayed("node \(node.process.node) \(wrong)"))
        }
        if !asked.isEmpty { node.cluster.signals.post(.counted(.callsPassedOnAgain)) }
        return SimulatedForwarding(self, to: owner.address)
    }

    func refuse(_ refusal: RelayRefusal) { answer(.notOwner, isUntouched: refusal.isUntouched) }

    /// The relay does so when it begins to hold it.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        let now = node.process.now().instant
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { (state.whenAbandoned, state.heldSince) = (action, now) }
            return state.isAbandoned
        }
        if isAbandoned { action() }
    }

    /// Asks the engine of its shard.
    func carryOut(mayNeedGuest: Bool) -> Misplaced? {
        state.withLock { ($0.heldSince, $0.whenAbandoned) = (nil, nil) }
        do throws(Misplaced) {
            let session = mayNeedGuest ? ask.question.boundSession : nil
            carryOut(by: try node.shards.engine(at: ask.question.slot, hosting: session))
            return nil
        } catch {
            return error.waiting(ask.question.wait)
        }
    }

    private func carryOut(by engine: Engine) {
        let transition: Engine.Completion = { [self] in answer($0) { .transition($0) } }
        let session: Engine.Answer<SessionView> = { [self] in answer($0) { .session($0) } }
        switch ask.question {
        case .start(let request): engine.start(request, completion: transition)
        case .serialize(let request, let wait): engine.serialize(request, wait: wait, completion: transition)
        case .await(let id, let token, let milestone, let wait):
            engine.wait(
                on: id, token: token, until: milestone, session: ask.session, wait: wait, completion: transition)
        case .renew(let id, let token): engine.renew(id, token: token, completion: transition)
        case .end(let id, let token, let outcome): engine.end(id, token: token, as: outcome, completion: transition)
        case .look(let id):
            engine.read { machine, now throws(ArbiterError) in
                try machine.view(of: id, at: now)
            } completion: {
                transition($0)
            }
        case .openSession(let scene, let timeToLive, let client):
            engine.openSession(client: client, timeToLive: timeToLive, homeAt: Slot(scene), completion: session)
        case .renewSession(let token): engine.renewSession(token, completion: session)
        case .endSession(let token): engine.endSession(token, completion: session)
        case .attach(let token):
            engine.attach(token) { [self] result in
                if case .success(let attachment) = result { begin(attachment, engine) }
                answer(result) { _ in .attached }
            }
        }
    }

    private func begin(_ attachment: Engine.Attachment, _ engine: Engine) {
        guard !node.process.isDead else { return }
        node.state.withLock { $0.streams[ask.number] = SimulatedNode.Stream(attachment: attachment, engine: engine) }
        node.cluster.signals.post(.attached(ask.number, home: node.process, relays: relays))
    }

    private func answer<Value>(_ result: Result<Value, EngineError>, _ reply: (Value) -> Reply) {
        let reply = Reply(result, reply)
        if case .notOwner = reply { answer(reply, isUntouched: true) } else { answer(reply) }
    }

    // MARK: - Checks

    /// What is wrong with passing it on to a tenure, after those that were asked before.
    private func wrong(with tenure: UInt64, at now: Instant, after asked: [(tenure: UInt64, at: Instant)]) -> String? {
        if let last = asked.last, last.tenure == tenure {
            let pause = last.at.duration(to: now)
            guard pause < node.cluster.settings.relayTimes.asking else { return nil }
            return "asks tenure \(tenure) again after \(pause)"
        }
        if asked.contains(where: { $0.tenure == tenure }) { return "asks tenure \(tenure) after a later one" }
        return Set(asked.map(\.tenure)).count >= Errand.mostTries ? "asks tenure \(tenure) after too many" : nil
    }

    /// Notes if it is held for longer than it may be; alarms may be a little late.
    func check(at now: Instant) {
        let times = node.cluster.settings.relayTimes
        let limit = max(times.holding, times.settling) + .seconds(1)
        let isWrong = state.withLock { state in
            let isOverdue = state.heldSince.map { $0.duration(to: now) > limit } ?? false
            defer { state.isOverdue = isOverdue }
            return isOverdue && state.isOverdue
        }
        guard isWrong else { return }
        node.cluster.signals.post(.misrelayed("node \(node.process.node) holds call \(ask.number) for too long"))
    }
}
