/// How far a connection is with its request, and since when; it decides when a request takes too long.
struct ConnectionProgress {
    private var phase: Phase
    /// The bytes of all requests that are over, as they came.
    private(set) var consumedBytes: UInt64 = 0

    private enum Phase {
        /// A request has begun, and its head is not whole. Can transition to: `body`.
        case head(since: ContinuousClock.Instant)
        /// The head is whole. Can transition to: `answering`, `idle`.
        case body(since: ContinuousClock.Instant)
        /// The request is whole. Can transition to: `idle`.
        case answering
        /// The answer has left, and nothing has come since. Can transition to: `head`, `body`.
        case idle
    }

    /// What a request took of what came.
    enum RequestSize {
        case bytes(Int)
        /// It came in chunks, so only what has come in all is known.
        case unknown
    }

    /// A new connection has its time for the first head, whether or not anything comes.
    init(acceptedAt now: ContinuousClock.Instant) {
        phase = .head(since: now)
    }

    /// Whether the body of a request is on its way.
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
    ///   - size: what the request took.
    ///   - receivedBytes: what has come on the connection since it began; asked only if it is needed.
    mutating func answerHasLeft(_ size: RequestSize, receivedBytes: () -> UInt64) {
        switch size {
        case .bytes(let count): consumedBytes += UInt64(count)
        case .unknown: consumedBytes = receivedBytes()
        }
        phase = .idle
    }

    /// Whether what is on its way takes too long; notices here, too, that a request has begun behind another.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - receivedBytes: what has come on the connection since it began; asked only if it is needed.
    /// - Returns: whether the connection is to be closed.
    mutating func isOverdue(at now: ContinuousClock.Instant, receivedBytes: () -> UInt64) -> Bool {
        switch phase {
        case .head(let start):
            return start + ServerLimits.headDuration <= now
        case .body(let start):
            return start + ServerLimits.bodyDuration <= now
        case .answering:
            return false
        case .idle:
            if receivedBytes() > consumedBytes { phase = .head(since: now) }
            return false
        }
    }
}
