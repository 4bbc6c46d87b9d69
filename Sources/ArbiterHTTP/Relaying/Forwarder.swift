package import ArbiterCore
internal import ArbiterEngine
package import ArbiterRelay
package import ArbiterTransfers
internal import Synchronization

/// Passes requests on to the nodes that serve their scenes, and the answers back.
package final class Forwarder: Sendable {
    let times: RelayTimes
    private let loop: TransferLoop
    private let trust: Guarded<TransferRequest.Trust>
    /// Tells the requests of this run from those of others.
    private let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let last = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - loop: where the transfers take place.
    ///   - trust: by what the nodes know each other.
    ///   - times: how long nodes wait for each other.
    package init(loop: TransferLoop, trust: TransferRequest.Trust, times: RelayTimes) {
        (self.loop, self.times) = (loop, times)
        self.trust = Guarded(trust)
    }

    /// Knows the other nodes by something else from now on; requests that are on their way go on.
    package func replace(_ trust: TransferRequest.Trust) { self.trust.withLock { $0 = trust } }

    /// How long the stream of another node may be silent, which its head may say itself.
    private var silence: TransferRequest.Limit {
        .silence(times.silenceBeforeHead) { [silence = times.silence] head in
            Heartbeat.silence(saidBy: head.value(of: Heartbeat.field)) ?? silence
        }
    }

    /// What another node is asked for its part of an answer.
    ///
    /// - Parameters:
    ///   - shards: the shards whose part it is.
    ///   - owner: the address of the node.
    ///   - path: what is asked for, with the query.
    ///   - call: the call that the answer is for.
    /// - Returns: the request.
    func part(of shards: [Int], from owner: String, _ path: String, for call: Call) -> TransferRequest {
        var transfer = TransferRequest(
            owner + path, limit: call.isStream ? silence : .whole(times.part))
        transfer.fields =
            ForwardedClient.fields(of: call.request, call.permission) + [
                "\(HeaderName.requestID.text): \(call.requestID)",
                "\(HeaderName.part.text): \(shards.map(String.init).joined(separator: ","))",
            ]
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = times.connecting
        return transfer
    }

    /// A message to another node, which it may get twice.
    func request(to owner: String, _ path: String, within patience: Duration) -> TransferRequest {
        var transfer = TransferRequest(owner + path, limit: .whole(patience))
        transfer.method = "POST"
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = times.connecting
        return transfer
    }

    /// Follows the events of some shards that another node serves.
    ///
    /// - Parameters:
    ///   - request: what it is asked.
    ///   - shards: the shards.
    ///   - open: what is under way.
    ///   - outlet: woken when there is something to read.
    /// - Returns: the stream.
    func follow(
        _ request: TransferRequest, of shards: [Int], among open: OpenTransfers, outlet: any StreamOutlet
    ) -> NodeEvents {
        NodeEvents(request, loop, of: shards, open, outlet: outlet)
    }

    /// Fetches another node's part of an answer.
    func fetch(
        _ request: TransferRequest, completion: @escaping @Sendable (Result<TransferAnswer, TransferFailure>) -> Void
    ) {
        loop.fetch(request, completion: completion)
    }

    /// What passes a request on.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - owner: the address of the node that serves its shard.
    ///   - wait: how long the request waits there, at most.
    /// - Returns: what asks the node once it is begun.
    func forwarding(_ call: Call, to owner: String, waiting wait: Duration) -> ForwardedAnswer {
        let name = "\(run)-\(last.wrappingAdd(1, ordering: .relaxed).newValue)"
        var departure = self.request(to: owner, Departures.path, within: times.connecting)
        departure.fields = ["\(HeaderName.forwarded.text): \(name)"]
        return ForwardedAnswer(
            call, loop, transfer(of: call, to: owner, named: name, waiting: wait), departure: departure)
    }

    private func transfer(
        of call: Call, to owner: String, named name: String, waiting wait: Duration
    ) -> TransferRequest {
        let request = call.request
        let query = request.query.map { item in item.value.isEmpty ? item.name : "\(item.name)=\(item.value)" }
        let target = request.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        var transfer = TransferRequest(
            owner + target,
            limit: call.isStream ? silence : .silence(wait + times.answering, saidBy: { [times] _ in times.answering }))
        transfer.method = request.method
        transfer.fields =
            HeaderName.passedOn.compactMap { name in
                request.headers.value(of: name).map { "\(name.text): \($0)" }
            } + ForwardedClient.fields(of: request, call.permission, waiting: wait) + [
                "\(HeaderName.requestID.text): \(call.requestID)", "\(HeaderName.forwarded.text): \(name)",
            ]
        let body = call.takeBody()
        if !body.isEmpty || !request.onlyReads { transfer.body = body }
        transfer.mayBeSentTwice = false
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = times.connecting
        return transfer
    }
}

extension Forwarder: Peers {
    package func lend(
        _ word: GuestReport, by node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<LentSession?, PeerFailure>) -> Void
    ) {
        ask(node, GuestMessages.lending, about: [word], within: patience, completion) { answer throws(PeerFailure) in
            // No other answer says that there is no such session: a living one would count as ended.
            guard !answer.body.isEmpty else { return nil }
            guard let session = GuestMessages.values(answer.body, of: LentSession.self)?.first else {
                throw .unreadable
            }
            return session
        }
    }

    package func report(
        _ reports: [GuestReport], to node: String, within patience: Duration,
        completion: @escaping @Sendable (Result<TakenReports, PeerFailure>) -> Void
    ) {
        ask(node, GuestMessages.reporting, about: reports, within: patience, completion) {
            answer throws(PeerFailure) in
            guard let ended = GuestMessages.values(answer.body, of: Token.self),
                let missing = GuestMessages.missing(saidBy: answer.head)
            else { throw .unreadable }
            return TakenReports(ended: ended, missing: missing)
        }
    }

    private func ask<Value: Sendable>(
        _ node: String, _ path: String, about reports: [GuestReport], within patience: Duration,
        _ completion: @escaping @Sendable (Result<Value, PeerFailure>) -> Void,
        read: @escaping @Sendable (TransferAnswer) throws(PeerFailure) -> Value
    ) {
        var request = request(to: node, path, within: patience)
        request.body = GuestMessages.bytes(of: reports)
        fetch(request) { result in
            completion(
                Result { () throws(PeerFailure) in
                    switch result {
                    case .success(let answer) where answer.head.status == 200: try read(answer)
                    case .success(let answer): throw PeerFailure("it answered \(answer.head.status)")
                    case .failure(let failure): throw PeerFailure(failure.reason)
                    }
                })
        }
    }
}

extension PeerFailure {
    fileprivate static let unreadable = PeerFailure("its answer cannot be read")
}

extension HeaderName {
    /// The fields of a request that the node which serves it reads.
    fileprivate static let passedOn = allCases.filter(\.isPassedOn)
}
