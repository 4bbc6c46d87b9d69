internal import ArbiterCore
internal import ArbiterEngine

// Sessions that are used in other shards than that of their home: what `ArbiterHTTP.Guests` sends and receives.

/// What a node answers another one.
enum PeerAnswer: Sendable {
    /// A session as its home lends it; `nil` if there is none.
    case lent(LentSession?)
    /// The sessions that have ended.
    case ended([Token])
    /// It has no answer, or none came.
    case none
}

extension SimulatedNode {
    /// How long an answer of another node is waited for.
    private static let patience = Duration.seconds(5)

    func hear(_ token: Token) {
        let home = engine(of: shard(of: token.slot))
        home?.hear(token)
        reports.hear(token, from: .anyone, isKnown: home != nil)
    }

    // MARK: - Admission

    /// Has a session admitted as a guest; the completion is called with whether its home could be asked.
    func admit(
        _ token: Token, to shard: Int, _ engine: Engine, _ completion: @escaping @Sendable (Bool) -> Void
    ) {
        ask(shard: self.shard(of: token.slot)) { node, answer in
            node.lend(token, to: shard, answer)
        } completion: { answer in
            switch answer {
            case .lent(let session?):
                engine.admit(guest: session) { result in
                    if case .failure(.notOwner) = result { completion(false) } else { completion(true) }
                }
            case .lent(nil): completion(true)
            case .ended, .none: completion(false)
            }
        }
    }

    private func lend(_ token: Token, to shard: Int, _ answer: @escaping @Sendable (PeerAnswer) -> Void) {
        guard let home = engine(of: self.shard(of: token.slot)) else { return answer(.none) }
        home.lend(token, to: UInt16(shard), for: .anyone) { result in
            switch result {
            case .success(let session): answer(.lent(session))
            case .failure(.refused(.unknownSession)): answer(.lent(nil))
            case .failure: answer(.none)
            }
        }
    }

    // MARK: - Reports

    func reportAgain(after pause: Duration) {
        process.ring(after: pause) { [self] in reportAgain(after: report()) }
    }

    private func report() -> Duration {
        let count = cluster.settings.shards
        let (found, pause) = reports.gather(from: shards.map { (Shard($0.shard, of: count), $0.running.engine) })
        // In an order that does not change from run to run.
        let sorted = found.sorted {
            ($0.report.token.high, $0.report.token.low, $0.report.shard)
                < ($1.report.token.high, $1.report.token.low, $1.report.shard)
        }
        let homes = Dictionary(grouping: sorted) { shard(of: $0.report.token.slot) }
        for (home, reported) in homes.sorted(by: { $0.key < $1.key }) { send(reported, toHome: home) }
        return pause
    }

    private func send(_ reported: [ReportedGuest], toHome home: Int) {
        ask(shard: home) { node, answer in
            node.take(reported.map(\.report), home: home, answer)
        } completion: { [self] answer in
            switch answer {
            case .ended(let tokens):
                // Guests that wait to be told don't look at the answer.
                let ended = cluster.settings.fault == .guestsWaitToBeTold ? [] : Set(tokens)
                reports.finish(reported, ended: ended)
            case .lent, .none: reports.keep(reported)
            }
        }
    }

    private func take(_ taken: [GuestReport], home: Int, _ answer: @escaping @Sendable (PeerAnswer) -> Void) {
        guard let engine = engine(of: home) else { return answer(.none) }
        GuestReports.take([(engine, taken)]) { result in
            switch result {
            case .success(let ended): answer(.ended(ended))
            case .failure: answer(.none)
            }
        }
    }

    // MARK: - Messages

    /// Asks the node of a shard, which may be this one.
    private func ask(
        shard: Int, _ question: @escaping @Sendable (SimulatedNode, @escaping @Sendable (PeerAnswer) -> Void) -> Void,
        completion: @escaping @Sendable (PeerAnswer) -> Void
    ) {
        if engine(of: shard) != nil { return question(self, completion) }
        guard let owner = owner(of: shard) else { return completion(.none) }
        let number = state.withLock { state in
            state.lastMessage += 1
            state.awaited[state.lastMessage] = completion
            return state.lastMessage
        }
        process.ring(after: Self.patience) { [self] in finish(number, .none) }
        let (process, cluster) = (process, cluster)
        let isReached = cluster.send(from: process, to: owner) { [self] node in
            question(node) { [self] answer in
                let (from, network) = (node.process, cluster.world.network)
                guard !from.isDead else { return }
                network.send(from: .node(from.node), to: .node(process.node), in: process) { [self] in
                    finish(number, answer)
                }
            }
        }
        if !isReached { finish(number, .none) }
    }

    private func finish(_ number: Int, _ answer: PeerAnswer) {
        state.withLock { $0.awaited.removeValue(forKey: number) }?(answer)
    }

    /// Tells every other node that a session has ended, once: only with the planted fault.
    func tellOfEnd(_ token: Token) {
        for other in 0..<cluster.settings.nodes where other != process.node {
            _ = cluster.send(from: process, to: other) { node in
                for (_, running) in node.shards { running.engine.end(guests: [token]) }
            }
        }
        for (shard, running) in shards where shard != self.shard(of: token.slot) {
            running.engine.end(guests: [token])
        }
    }
}
