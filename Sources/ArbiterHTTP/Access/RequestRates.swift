/// How many requests clients make, as token buckets: a client may make the requests of one second at once.
struct RequestRates {
    /// Clients whose rates are known at once.
    static let clients = 10_000

    private let perSecond: Double
    private var buckets: [String: Bucket] = [:]

    private struct Bucket {
        /// The requests that the client may make now.
        var left: Double
        var at: ContinuousClock.Instant
    }

    /// - Parameter perSecond: the requests that a client may make in a second.
    init(perSecond: Int) {
        self.perSecond = Double(perSecond)
    }

    /// A client makes a request.
    ///
    /// - Returns: how long it has to wait; `nil` if it may make the request now.
    mutating func take(_ client: String, at now: ContinuousClock.Instant) -> Duration? {
        var left = perSecond
        if let bucket = buckets[client] {
            left = min(perSecond, bucket.left + bucket.at.duration(to: now) / .seconds(1) * perSecond)
        } else if buckets.count >= Self.clients {
            makeRoom(at: now)
        }
        guard left >= 1 else {
            buckets[client] = Bucket(left: left, at: now)
            return .seconds((1 - left) / perSecond)
        }
        buckets[client] = Bucket(left: left - 1, at: now)
        return nil
    }

    /// Forgets the clients that have made no request for a second, and so may make as many as new ones; if there are none,
    /// all.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        buckets = buckets.filter { $0.value.at.duration(to: now) < .seconds(1) }
        if buckets.count >= Self.clients { buckets = [:] }
    }

    /// How many clients are known.
    var count: Int { buckets.count }
}
