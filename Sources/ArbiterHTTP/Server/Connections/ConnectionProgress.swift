/// The progress of a connection's current request, with its start; decides when a request takes too long.
struct ConnectionProgress {
    private var phase: Phase
    /// The bytes of all earlier requests on the connection.
    private var consumedBytes: UInt64 = 0

    private enum Phase {
        /// A request has begun, and its head is incomplete. Can transition to: `body`.
        case head(since: ContinuousClock.Instant)
        /// The head is complete. Can transition to: `answering`, `idle`.
        case body(since: ContinuousClock.Instant)
        /// The request is complete. Can transition to: `idle`.
        case answering
        /// The answer has been sent, and nothing has arrived since. Can transition to: `head`, `body`.
        case idle
    }

    /// The bytes that a request took of those that arrived.
    enum RequestSize {
        case bytes(Int)
        /// The body was chunked, so only the total for the connection is known.
        case unknown
    }

    /// The time for the first head starts when the connection is accepted, even if no byte arrives.
    init(acceptedAt now: ContinuousClock.Instant) {
        phase = .head(since: now)
    }

    /// Whether a request's body is being received.
    var isReceivingBody: Bool {
        if case .body = phase { true } else { false }
    }

    mutating func headIsWhole(at now: ContinuousClock.Instant) {
        phase = .body(since: now)
    }

    mutating func requestIsWhole() {
        phase = .answering
    }

    /// - Parameters:
    ///   - size: the bytes that the request took.
    ///   - receivedBytes: all bytes that have arrived on the connection; called only if needed.
    mutating func answerHasLeft(_ size: RequestSize, receivedBytes: () -> UInt64) {
        switch size {
        case .bytes(let count): consumedBytes += UInt64(count)
        case .unknown: consumedBytes = receivedBytes()
        }
        phase = .idle
    }

    /// Whether the current request takes too long; also detects that another request has begun on an idle connection.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - limits: how long a head and a body may take.
    ///   - receivedBytes: all bytes that have arrived on the connection; called only if needed.
    /// - Returns: whether the connection has to be closed.
    mutating func isOverdue(
        at now: ContinuousClock.Instant, _ limits: ServerLimits, receivedBytes: () -> UInt64
    ) -> Bool {
        switch phase {
        case .head(let start):
            return start + limits.head <= now
        case .body(let start):
            return start + limits.body <= now
        case .answering:
            return false
        case .idle:
            if receivedBytes() > consumedBytes { phase = .head(since: now) }
            return false
        }
    }
}
