internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

/// The answer of another node on its way to the client: kept until it is whole, unless it is long or a stream.
final class ForwardedAnswer: StreamSource, Forwarding {
    /// How much of an answer is kept before it is passed on piece by piece.
    private static let keptBytes = 1 << 20
    /// The fields of an answer that are about its own connection, or that every answer of this node has.
    private static let ownFields: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "date", "content-type", "cache-control",
        "x-content-type-options", "x-request-id", "access-control-allow-origin", "access-control-expose-headers",
        "vary", Response.untouched.lowercased(),
    ]

    private struct State {
        var number: TransferLoop.Number?
        var head: TransferHead?
        var arrived = ArrivedStream()
        var isStreaming = false
        var isClosed = false
        /// Whether the client has left before it was answered.
        var isAbandoned = false
        /// Whether the other node has been told so.
        var hasDeparted = false
        /// Whether the shard has another owner than the one that was asked.
        var hasMoved = false
        /// Called once when nothing is under way any more.
        var ended: (@Sendable (ForwardingEnd) -> Void)?
    }

    private let call: Call
    private let loop: TransferLoop
    private let request: TransferRequest
    private let departure: TransferRequest
    private let state = Guarded(State())

    /// - Parameters:
    ///   - call: what is answered.
    ///   - loop: where the transfers take place.
    ///   - request: what the other node is asked.
    ///   - departure: the request that tells it that the client has left.
    init(_ call: Call, _ loop: TransferLoop, _ request: TransferRequest, departure: TransferRequest) {
        (self.call, self.loop, self.request, self.departure) = (call, loop, request, departure)
    }

    func begin(_ ended: @escaping @Sendable (ForwardingEnd) -> Void) {
        state.withLock { $0.ended = ended }
        // First, so that it takes the place of nothing that is set once the transfer has ended.
        call.exchange.whenAbandoned { [self] in
            let number = state.withLock { state in
                state.isAbandoned = true
                return state.number
            }
            if let number { depart(number) }
        }
        let number = loop.begin(request) { [self] event in take(event) }
        // What has happened since then had no number.
        let (hasMoved, hasLeft) = state.withLock { state in
            state.number = number
            return (state.hasMoved, state.isAbandoned || state.isClosed && state.arrived.ending == nil)
        }
        if hasMoved { failBecauseMoved(number) }
        if hasLeft { depart(number) }
    }

    private func end(as end: ForwardingEnd) { state.withLock { $0.ended.take() }?(end) }

    /// Asks no longer, because the shard has another owner.
    func endBecauseMoved() {
        let number = state.withLock { state in
            state.hasMoved = true
            return state.number
        }
        if let number { failBecauseMoved(number) }
    }

    private func failBecauseMoved(_ number: TransferLoop.Number) {
        loop.fail(number, because: "another node serves the scene now")
    }

    // MARK: - From the other node

    private func take(_ event: TransferLoop.Event) {
        switch event {
        case .head(let head):
            state.withLock { $0.head = head }
            if head.type == .eventStream { stream() }
        case .bytes(let bytes): take(bytes)
        case .ended(nil): finish()
        case .ended(let failure?): fail(failure)
        }
    }

    private func take(_ bytes: [UInt8]) {
        let (isStreaming, count) = state.withLock { state in
            if !state.isClosed { state.arrived.bytes += bytes }
            if state.isStreaming { state.arrived.steer(state.number, in: loop) }
            return (state.isStreaming, state.arrived.bytes.count)
        }
        if isStreaming {
            call.exchange.wake()
        } else if count > Self.keptBytes {
            stream()
        }
    }

    private func stream() {
        let head = state.withLock { state in
            state.isStreaming = true
            state.arrived.steer(state.number, in: loop)
            return state.head
        }
        guard let head else { return }
        call.stream(Response(head.status, head.type, body: [], headers: head.passedOn(Self.ownFields)), from: self)
    }

    private func finish() {
        let (isStreaming, head, bytes) = state.withLock { ($0.isStreaming, $0.head, $0.arrived.bytes) }
        if isStreaming { return end(with: .end) }
        guard let head else { return fail(TransferFailure(reason: "there is no answer", wasSent: true)) }
        let isUntouched = head.status == 503 && head.value(of: Response.untouched.lowercased()) != nil
        if isUntouched { return end(as: .untouched(reason: "it says that another node does")) }
        end(as: .answered)
        var response = Response(head.status, head.type, body: bytes, headers: head.passedOn(Self.ownFields))
        guard call.request.method == "HEAD", head.type != nil else { return call.respond(response) }
        response.announcedBytes = head.value(of: "content-length").flatMap { Int($0) }
        guard response.announcedBytes == nil else { return call.respond(response) }
        call.stream(response, from: EmptySource())
    }

    private func fail(_ failure: TransferFailure) {
        if state.withLock({ $0.isStreaming }) { return end(with: .cut) }
        // A request that only reads has changed nothing at the earlier owner, even if it has reached that owner.
        let isCertain = !failure.wasSent || state.withLock({ $0.hasMoved }) && call.request.onlyReads
        if isCertain { return end(as: .untouched(reason: "it cannot be asked: \(failure.reason)")) }
        end(as: .answered)
        call.respond(
            Problem(
                .journalUnavailable,
                "The node that serves the scene did not answer (\(failure.reason)); the request may have been carried out.",
                retryAfter: Problem.retrySoon
            ).response)
    }

    private func end(with piece: StreamPiece) {
        end(as: .answered)
        state.withLock { if $0.arrived.ending == nil { $0.arrived.ending = piece } }
        call.exchange.wake()
    }

    // MARK: - To the client

    func read(upTo count: Int) -> StreamPiece {
        state.withLock { state in
            defer { state.arrived.steer(state.number, in: loop) }
            return state.arrived.read(upTo: count)
        }
    }

    func close() {
        end(as: .answered)
        let number = state.withLock { state in
            state.isClosed = true
            state.arrived.bytes = []
            return state.arrived.ending == nil ? state.number : nil
        }
        if let number { depart(number) }
    }

    /// Tells the other node that the client has left, and ends the transfer only then: a connection that just ends says
    /// nothing about the client.
    private func depart(_ number: TransferLoop.Number) {
        end(as: .answered)
        let isFirst = state.withLock { state in
            defer { state.hasDeparted = true }
            return !state.hasDeparted
        }
        guard isFirst else { return }
        guard call.clientAtClose == .gone else { return loop.cancel(number) }
        loop.fetch(departure) { [loop] _ in loop.cancel(number) }
    }
}

extension TransferHead {
    fileprivate var type: ContentType? { value(of: "content-type").flatMap { ContentType(rawValue: $0) } }

    fileprivate func passedOn(_ others: Set<String>) -> [HeaderField] {
        fields.filter { !others.contains($0.name.lowercased()) }.map { HeaderField($0.name, $0.value) }
    }
}
