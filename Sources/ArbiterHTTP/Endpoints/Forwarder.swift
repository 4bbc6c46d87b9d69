package import ArbiterEngine
package import ArbiterTransfers
internal import Synchronization

/// Passes requests on to the nodes that serve their scenes, and the answers back.
///
/// A request is sent again, to the same owner or to another one, only if the one that was asked has said that nothing of it was
/// carried out. If its connection breaks, it may have been carried out, and the client is told so.
package final class Forwarder: Sendable {
    /// By how many nodes a request may be passed on: the second one may know of a move that the first one has not heard of.
    private static let hopLimit = 2
    /// How many requests may be held until their shards are served.
    private static let mostHeld = 1024

    let times: RelayTimes
    /// The places of requests that are held until their shards are served.
    let held = Places(limit: mostHeld)
    private let loop: TransferLoop
    private let trust: Guarded<TransferRequest.Trust>
    private let alarm: any Alarm
    /// What is under way.
    private let open: OpenTransfers
    /// Tells the requests of this run from those of others.
    private let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let last = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - loop: where the transfers take place.
    ///   - trust: by what the nodes know each other.
    ///   - times: how long nodes wait for each other.
    ///   - alarm: what rings when that is over.
    package init(
        loop: TransferLoop, trust: TransferRequest.Trust, times: RelayTimes, alarm: any Alarm = SystemAlarm()
    ) {
        (self.loop, self.times, self.alarm) = (loop, times, alarm)
        self.trust = Guarded(trust)
        open = OpenTransfers(grace: times.grace, alarm: alarm)
    }

    /// Knows the other nodes by something else from now on; requests that are on their way go on.
    package func replace(_ trust: TransferRequest.Trust) { self.trust.withLock { $0 = trust } }

    /// Takes notice of who owns what.
    func note(_ owners: [Int: ClusterMap.Owner]) { open.note(owners) }

    /// Does something soon, or after a while, on another thread.
    func later(after delay: Duration = .zero, _ action: @escaping @Sendable () -> Void) {
        alarm.ring(after: delay, action)
    }

    /// Whether a request that another node has to carry out may be passed on or held; not so a part of an answer, which is
    /// asked for where it is.
    func mayHelp(_ request: Request) -> Bool { !request.peer.isNode || request.headers.value(of: .part) == nil }

    /// Whether a request may be passed on (again).
    func mayForward(_ request: Request) -> Bool {
        !request.peer.isNode || ForwardedClient(request.headers).hops < Self.hopLimit
    }

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
                "\(HeaderName.requestID.rawValue): \(call.requestID)",
                "\(HeaderName.part.rawValue): \(shards.map(String.init).joined(separator: ","))",
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
    ///   - outlet: woken when there is something to read.
    /// - Returns: the stream.
    func follow(_ request: TransferRequest, of shards: [Int], outlet: any StreamOutlet) -> NodeEvents {
        NodeEvents(request, loop, of: shards, open, outlet: outlet)
    }

    /// Fetches another node's part of an answer.
    func fetch(
        _ request: TransferRequest, completion: @escaping @Sendable (Result<TransferAnswer, TransferFailure>) -> Void
    ) {
        loop.fetch(request, completion: completion)
    }

    /// Passes a request on.
    ///
    /// - Parameters:
    ///   - call: the request.
    ///   - owner: who serves its shard.
    ///   - elsewhere: the shard, and how long the request waits.
    ///   - untouched: called instead of an answer if it is certain that nothing of the request was carried out.
    func forward(
        _ call: Call, to owner: ClusterMap.Owner, _ elsewhere: Elsewhere,
        untouched: @escaping @Sendable (Problem) -> Void
    ) {
        let name = "\(run)-\(last.wrappingAdd(1, ordering: .relaxed).newValue)"
        var departure = self.request(to: owner.address, Departures.path, within: times.connecting)
        departure.fields = ["\(HeaderName.forwarded.rawValue): \(name)"]
        let answer = ForwardedAnswer(call, loop, departure: departure, untouched: untouched)
        let number = open.begin([elsewhere.shard: owner.tenure]) { [answer] in answer.endBecauseMoved() }
        answer.begin(transfer(of: call, to: owner.address, named: name, waiting: elsewhere.wait)) { [open] in
            open.end(number)
        }
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
                request.headers.value(of: name).map { "\(name.rawValue): \($0)" }
            } + ForwardedClient.fields(of: request, call.permission, waiting: wait) + [
                "\(HeaderName.requestID.rawValue): \(call.requestID)", "\(HeaderName.forwarded.rawValue): \(name)",
            ]
        let body = call.takeBody()
        if !body.isEmpty || !request.onlyReads { transfer.body = body }
        transfer.mayBeSentTwice = false
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = times.connecting
        return transfer
    }
}

extension HeaderName {
    /// The fields of a request that the node which serves it reads.
    fileprivate static let passedOn: [HeaderName] = [
        .accept, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .prefer, .session, .traceParent,
    ]
}
