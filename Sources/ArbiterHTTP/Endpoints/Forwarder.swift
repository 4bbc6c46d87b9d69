internal import ArbiterCore
package import ArbiterTransfers
internal import Synchronization

/// Passes requests on to the nodes that serve their scenes, and the answers back.
///
/// A request is sent once. If its connection breaks, it may have been carried out, and the client is told so.
package final class Forwarder: Sendable {
    /// By how many nodes a request may be passed on: the second one may know of a move that the first one has not heard of.
    private static let hopLimit = 2
    /// How long connecting to a node may take.
    private static let connecting = Duration.seconds(2)
    /// How long an answer may take beyond the longest wait of a request.
    private static let patience = Duration.seconds(30)
    /// How long the stream of another node may be silent: two of its comments may be missing, as for a client.
    private static let silence = TransferRequest.Limit.silence(.seconds(15)) { head in
        Heartbeat.silence(saidBy: head.value(of: Heartbeat.field))
    }

    private let loop: TransferLoop
    private let trust: Mutex<TransferRequest.Trust>
    /// Tells the requests of this run from those of others.
    private let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let last = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - loop: where the transfers take place.
    ///   - trust: by what the nodes know each other.
    package init(loop: TransferLoop, trust: TransferRequest.Trust) {
        self.loop = loop
        self.trust = Mutex(trust)
    }

    /// Knows the other nodes by something else from now on; requests that are on their way go on.
    package func replace(_ trust: TransferRequest.Trust) { self.trust.withLock { $0 = trust } }

    /// Whether a request may be passed on (again).
    func mayForward(_ request: Request) -> Bool {
        guard request.peer.isNode else { return true }
        // A part of an answer is asked for where it is.
        return request.headers.value(of: .part) == nil && ForwardedClient(request.headers).hops < Self.hopLimit
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
        var transfer = TransferRequest(owner + path, limit: call.isStream ? Self.silence : .whole(Self.patience))
        transfer.fields =
            ForwardedClient.fields(of: call.request, call.permission) + [
                "\(HeaderName.requestID.rawValue): \(call.requestID)",
                "\(HeaderName.part.rawValue): \(shards.map(String.init).joined(separator: ","))",
            ]
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = Self.connecting
        return transfer
    }

    /// A message to another node, which it may get twice.
    func request(to owner: String, _ path: String, within patience: Duration) -> TransferRequest {
        var transfer = TransferRequest(owner + path, limit: .whole(patience))
        transfer.method = "POST"
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = Self.connecting
        return transfer
    }

    /// Follows the events of some shards that another node serves.
    ///
    /// - Parameters:
    ///   - request: what it is asked.
    ///   - outlet: woken when there is something to read.
    /// - Returns: the stream.
    func follow(_ request: TransferRequest, outlet: any StreamOutlet) -> NodeEvents {
        NodeEvents(request, loop, outlet: outlet)
    }

    /// Fetches another node's part of an answer.
    func fetch(
        _ request: TransferRequest, completion: @escaping @Sendable (Result<TransferAnswer, TransferFailure>) -> Void
    ) {
        loop.fetch(request, completion: completion)
    }

    /// Passes a request on; on the thread of its connection.
    func forward(_ request: Request, to owner: String, for call: Call) {
        guard call.exchange.reservePlace() else {
            return call.respond(
                Problem(
                    .tooManyConnections, "No more requests can be passed on to other nodes here; try again.",
                    retryAfter: Problem.briefly
                ).response)
        }
        let name = "\(run)-\(last.wrappingAdd(1, ordering: .relaxed).newValue)"
        var departure = self.request(to: owner, Departures.path, within: Self.connecting)
        departure.fields = ["\(HeaderName.forwarded.rawValue): \(name)"]
        let answer = ForwardedAnswer(call, loop, departure: departure)
        answer.begin(transfer(of: request, to: owner, call, named: name))
    }

    private func transfer(
        of request: Request, to owner: String, _ call: Call, named name: String
    ) -> TransferRequest {
        let query = request.query.map { item in item.value.isEmpty ? item.name : "\(item.name)=\(item.value)" }
        let target = request.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        let isStream = call.isStream
        var transfer = TransferRequest(
            owner + target,
            limit: isStream ? Self.silence : .whole(Limits.waitDurations.upperBound + Self.patience))
        transfer.method = request.method
        transfer.fields =
            HeaderName.passedOn.compactMap { name in
                request.headers.value(of: name).map { "\(name.rawValue): \($0)" }
            } + ForwardedClient.fields(of: request, call.permission) + [
                "\(HeaderName.requestID.rawValue): \(call.requestID)", "\(HeaderName.forwarded.rawValue): \(name)",
            ]
        if !request.body.isEmpty || !["GET", "HEAD"].contains(request.method) { transfer.body = request.body }
        transfer.mayBeSentTwice = false
        transfer.trust = trust.withLock { $0 }
        transfer.connecting = Self.connecting
        return transfer
    }
}

extension HeaderName {
    /// The fields of a request that the node which serves it reads.
    fileprivate static let passedOn: [HeaderName] = [
        .accept, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .prefer, .session, .traceParent,
    ]
}
