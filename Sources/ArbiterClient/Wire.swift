/// A request to the daemon.
package struct WireRequest: Hashable, Sendable {
    package var method: String
    package var path: String
    package var body: JSONValue?
    package var headers: [String: String]
    /// How long the answer may take.
    package var timeout: Duration
    /// For how long the daemon may park it, if it waits for something.
    package var wait: Duration?
    /// How many lines of a stream may wait for their reader; when there are more, the stream breaks.
    package var lineLimit = WireLimits.waitingLines

    package init(
        _ method: String, _ path: String, _ body: JSONValue? = nil, headers: [String: String] = [:],
        timeout: Duration = WireTimes.longestAnswer, wait: Duration? = nil
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.headers = headers
        self.timeout = wait.map { $0 + WireTimes.margin } ?? timeout
        self.wait = wait
    }
}

/// What the daemon answers.
package struct WireAnswer: Hashable, Sendable {
    package let status: Int
    package let document: JSONValue
    /// How long the daemon asks to wait before the next attempt; zero if it does not say.
    package let retryAfter: Duration
    /// When it was answered, by the daemon's clock, in the form of RFC 9110; `nil` if it does not say.
    package let date: String?
    /// The entity tag of the document, with its quotation marks; `nil` if it has none.
    package let tag: String?
    /// The path of the next page of a list; `nil` on the last one.
    package let next: String?
    /// When the request was sent: a lease is counted from there.
    package let sent: ContinuousClock.Instant

    package init(
        status: Int, document: JSONValue, retryAfter: Duration, date: String?, tag: String? = nil, link: String? = nil,
        sent: ContinuousClock.Instant
    ) {
        self.status = status
        self.document = document
        self.retryAfter = retryAfter
        self.date = date
        self.tag = tag
        // `</transitions?after=4711>; rel="next"` (RFC 8288)
        let parts = link?.split(separator: ">", maxSplits: 1) ?? []
        next = parts.last == "; rel=\"next\"" ? parts.first.map { String($0.dropFirst()) } : nil
        self.sent = sent
    }

    /// The document.
    ///
    /// - Throws: `refused` if it is a problem.
    package func accepted() throws(ClientError) -> JSONValue {
        guard status < 400 else { throw .refused(Refusal(status: status, document)) }
        return document
    }

    /// The transition that a request was refused for, because it has ended or is not known any more.
    var endedTransition: EndedTransition? {
        if status >= 400, let transition = document["transition"], transition["state"] == "ended" {
            return EndedTransition(transition)
        }
        guard status == 404, document["code"] == "unknown-transition" else { return nil }
        return EndedTransition(unseen: Refusal(status: status, document))
    }

    /// Whether the daemon says what it knows; not if it refuses to say so now, or a proxy answers in its place.
    var decides: Bool {
        status < 400 || (status < 500 && status != 429 && document["code"]?.string != nil)
    }

    /// The same, if it may be one of the daemon.
    ///
    /// - Throws: `unreachable`.
    func ofDaemon() throws(ClientError) -> WireAnswer {
        guard status >= 400, !Refusal(status: status, document).mayBeOfDaemon else { return self }
        throw .unreachable("an answer of status \(status) is not one of the daemon")
    }

    /// Whether it refuses something that may be accepted later, or that may have happened.
    ///
    /// So does every 503 that this client does not know, but not what an earlier version of a node refuses. A queue that is full is the caller's to handle.
    var passes: Bool {
        switch status {
        case 429: document["code"] == "too-many-requests"
        case 503: !isOutOfRoom && document["code"] != "older-rules"
        default: false
        }
    }

    /// Whether there is no room for anything new, which may last.
    var isOutOfRoom: Bool { status == 503 && document["code"] == "out-of-room" }
}

/// How long a daemon is asked again that has no room for anything new.
enum WaitForRoom {
    /// It is told at once.
    case none
    /// As long as the patience of the client lasts.
    case patiently
    /// The same, but not later than this.
    case until(ContinuousClock.Instant)

    func allows(_ next: ContinuousClock.Instant) -> Bool {
        switch self {
        case .none: false
        case .patiently: true
        case .until(let end): next < end
        }
    }
}

/// How requests reach the daemon.
package protocol WireTransport: Sendable {
    /// Why it can reach nothing; `nil` if it can.
    var misuse: Refusal? { get }

    /// Where the daemon is, for people: the URL without a name and a password.
    var address: String { get }

    /// Sends a request; a task that is cancelled ends it.
    ///
    /// - Throws: `ClientError.unreachable`; `refused` if the answer cannot be read; `CancellationError`.
    func send(_ request: WireRequest) async throws -> WireAnswer

    /// The lines of a stream, without their ends, until it is over.
    ///
    /// A problem is thrown as `ClientError.refused`, and as `unreachable` a connection that is cut, or that more lines came over
    /// than the request lets wait for their reader.
    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error>
}

extension WireTransport {
    /// What is wrong with a URL of the daemon.
    static func misuse(url: String, schemes: [String]) -> Refusal? {
        guard !schemes.contains(where: { url.lowercased().hasPrefix($0) }) else { return nil }
        let detail = "The URL of the daemon must begin with \(schemes.joined(separator: " or "))."
        return Refusal(status: 400, ["code": "invalid-url", "detail": .string(detail)])
    }

    /// A URL without a name and a password.
    static func address(of url: String) -> String {
        guard !url.hasPrefix("unix:") else { return url }
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, let user = parts[2].lastIndex(of: "@") else { return url }
        let host = parts[2][parts[2].index(after: user)...]
        return (parts[..<2] + [host] + parts.dropFirst(3)).joined(separator: "/")
    }
}

package enum WireLimits {
    /// How many lines of a stream of events may wait for their reader; an event has four.
    package static let waitingLines = 40_000
    /// The most entries on a page of a list.
    static let longestPage = 1_000
}

package enum WireTimes {
    /// The longest wait of one request: shorter than the time in which proxies want an answer.
    package static let longestWait = Duration.seconds(10)
    /// The longest wait that the wire has.
    package static let mostWait = Duration.seconds(120)
    /// What an answer may take that waits for nothing.
    package static let longestAnswer = Duration.seconds(30)
    /// What an answer may take besides the wait.
    package static let margin = Duration.seconds(5)
    /// What an answer that keeps a lease may take besides the wait: a sixth of the lease, if that is not less.
    static let keepingMargin = Duration.seconds(1)
    /// The shortest time between two attempts to keep a lease or a place.
    static let shortestDelay = Duration.milliseconds(50)
    /// The longest one: the daemon ends a session two seconds after its last connection was cut.
    static let longestDelay = Duration.milliseconds(400)
    /// For how long a stream may be silent if its daemon does not say how often a comment comes.
    package static let silence = Duration.seconds(45)
    /// What the head of a stream may take at least.
    static let shortestSilence = Duration.seconds(3)
    /// For how long the first request of a client finds no daemon before that is said.
    static let silenceBeforeWords = Duration.seconds(2)
    package static let lease = Duration.seconds(10)
}

/// Delays between attempts: doubled from 0.1 seconds to the longest, each drawn between half and all of it.
struct Backoff {
    private let longest: Duration
    private var delay = Duration.milliseconds(100)

    init(longest: Duration = .seconds(5)) { self.longest = longest }

    mutating func next() -> Duration {
        defer { delay = min(delay * 2, longest) }
        return delay * Double.random(in: 0.5...1)
    }
}
