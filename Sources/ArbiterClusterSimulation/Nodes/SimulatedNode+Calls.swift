internal import ArbiterCore
internal import ArbiterEngine

// Calls of clients, which any node takes.

extension SimulatedNode {
    /// A call arrives.
    ///
    /// - Parameters:
    ///   - ask: the call.
    ///   - relay: the node that passes it on; `nil` if it comes from its client.
    func take(_ ask: Ask, over relay: Process? = nil) {
        if let session = ask.session { hear(session) }
        let shard = shard(of: ask.question.slot)
        guard let engine = engine(of: shard) else {
            guard relay == nil, let owner = owner(of: shard) else { return answer(ask, .notOwner, over: relay) }
            return forward(ask, to: owner)
        }
        guard let session = ask.question.boundSession, self.shard(of: session.slot) != shard,
            !engine.inspect({ $0.knows(session) })
        else {
            return carryOut(ask, by: engine, over: relay)
        }
        admit(session, to: shard, engine) { [self] isPossible in
            if isPossible { carryOut(ask, by: engine, over: relay) } else { answer(ask, .notOwner, over: relay) }
        }
    }

    private func forward(_ ask: Ask, to owner: Int) {
        let process = process
        let isReached = cluster.send(from: process, to: owner) { $0.take(ask, over: process) }
        // Nothing listens there, so nothing was sent.
        if !isReached { answer(ask, .notOwner, over: nil) }
    }

    private func answer(_ ask: Ask, _ reply: Reply, over relay: Process?) {
        guard !process.isDead else { return }
        cluster.signals.post(.answer(ask.number, reply, by: process, over: relay))
    }

    private func carryOut(_ ask: Ask, by engine: Engine, over relay: Process?) {
        let transition: Engine.Completion = { [self] in answer(ask, Reply($0), over: relay) }
        let session: Engine.Answer<SessionView> = { [self] in answer(ask, Reply($0), over: relay) }
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
                if case .success(let attachment) = result {
                    state.withLock { $0.streams[ask.number] = Stream(attachment: attachment, engine: engine) }
                }
                answer(ask, Reply(result) { _ in .attached }, over: relay)
            }
        }
    }

    // MARK: - Streams

    /// Whether a stream goes on here.
    func has(_ stream: Int) -> Bool {
        guard let engine = state.withLock({ $0.streams[stream]?.engine }) else { return false }
        return shards.contains { $0.running.engine === engine }
    }

    /// The client of a stream has closed it, as its relay says, or as this node sees itself.
    func close(_ stream: Int) { detach(stream, isCut: true) }

    /// The relay of a stream is gone, which says nothing about the client.
    func loseRelay(of stream: Int) { detach(stream, isCut: cluster.settings.fault == .graceAfterLoss) }

    private func detach(_ stream: Int, isCut: Bool) {
        guard let stream = state.withLock({ $0.streams.removeValue(forKey: stream) }) else { return }
        stream.engine.detach(stream.attachment, isCut: isCut)
    }
}
