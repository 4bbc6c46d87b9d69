internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// The other nodes, as one of them reaches them.
final class SimulatedPeers: Peers {
    private let process: Process
    private let cluster: SimulatedCluster

    init(_ process: Process, _ cluster: SimulatedCluster) { (self.process, self.cluster) = (process, cluster) }

    func lend(
        _ word: GuestReport, by node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<LentSession?, PeerFailure>) -> Void
    ) {
        ask(node, within: patience, completion) { guests, answer throws(Misplaced) in
            try guests.lend(word, completion: answer)
        }
    }

    func report(
        _ reports: [GuestReport], to node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<TakenReports, PeerFailure>) -> Void
    ) {
        ask(node, within: patience, completion) { guests, answer throws(Misplaced) in
            try guests.take(reports, completion: answer)
        }
    }

    private func ask<Value: Sendable>(
        _ address: String, within patience: Duration,
        _ completion: @escaping @Sendable (Result<Value, PeerFailure>) -> Void,
        _ question:
            @escaping @Sendable (Guests, @escaping @Sendable (Result<Value, EngineError>) -> Void) throws(Misplaced)
            -> Void
    ) {
        let waiting = Guarded<(@Sendable (Result<Value, PeerFailure>) -> Void)?>(completion)
        let finish = { @Sendable (result: Result<Value, PeerFailure>) in waiting.withLock { $0.take() }?(result) }
        process.ring(after: patience) { finish(.failure(PeerFailure("no answer in time"))) }
        let (process, network) = (process, cluster.world.network)
        let isReached = SimulatedNode.number(at: address).map { number in
            cluster.send(from: process, to: number) { node in
                let answer = { @Sendable (result: Result<Value, PeerFailure>) in
                    guard !node.process.isDead else { return }
                    network.send(from: .node(node.process.node), to: .node(process.node), in: process) {
                        finish(result)
                    }
                }
                guard let guests = node.relay.guests else { return answer(.failure(PeerFailure("there is one shard"))) }
                do throws(Misplaced) {
                    try question(guests) { result in answer(result.mapError { PeerFailure("\($0)") }) }
                } catch {
                    answer(.failure(PeerFailure("its home is not there")))
                }
            }
        }
        if isReached != true { finish(.failure(PeerFailure("nothing listens there"))) }
    }
}
