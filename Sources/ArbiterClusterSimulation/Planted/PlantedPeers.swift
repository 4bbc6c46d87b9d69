internal import ArbiterCore
internal import ArbiterRelay

/// The other nodes, as a node hears them that takes every refusal to lend a session for "there is no such session".
struct MisheardPeers: Peers {
    let peers: SimulatedPeers

    func lend(
        _ word: GuestReport, by node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<LentSession?, PeerFailure>) -> Void
    ) {
        peers.lend(word, by: node, within: patience) { result in
            if case .success(let session) = result { completion(.success(session)) } else { completion(.success(nil)) }
        }
    }

    func report(
        _ reports: [GuestReport], to node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<TakenReports, PeerFailure>) -> Void
    ) { peers.report(reports, to: node, within: patience, completion: completion) }
}

/// The other nodes, as a node hears them that does not look which sessions have ended.
struct UnreadPeers: Peers {
    let peers: SimulatedPeers

    func lend(
        _ word: GuestReport, by node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<LentSession?, PeerFailure>) -> Void
    ) { peers.lend(word, by: node, within: patience, completion: completion) }

    func report(
        _ reports: [GuestReport], to node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<TakenReports, PeerFailure>) -> Void
    ) {
        peers.report(reports, to: node, within: patience) { result in
            completion(result.map { TakenReports(ended: [], missing: $0.missing) })
        }
    }
}
