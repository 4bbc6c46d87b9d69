/// What goes wrong.
public enum ClientError: Error, Hashable, Sendable {
    /// No answer came from the daemon within `Arbiter.patience`: it is not there, or the connection is cut.
    case unreachable(String)
    /// The turn did not come in time; the ticket has been given up.
    case timedOut
    /// The daemon refused a request.
    case refused(Refusal)
    /// The transition ended without its owner, before or after its turn came.
    case ended(EndedTransition)
    /// `Arbiter.close()` was called before.
    case closed
}

/// Why the daemon refused a request, as a problem of RFC 9457.
public struct Refusal: Hashable, Sendable {
    /// The status of HTTP, 400 or more.
    public let status: Int
    /// For programs, for example `queue-full`.
    public let code: String
    /// A sentence for people.
    public let detail: String
    /// The whole problem.
    public let problem: JSONValue

    package init(status: Int, _ problem: JSONValue) {
        self.status = status
        self.problem = problem
        code = problem["code"]?.string ?? "unknown"
        detail = problem["detail"]?.string ?? problem["title"]?.string ?? "HTTP \(status)"
    }
}

/// How a transition ended without its owner.
public struct EndedTransition: Hashable, Sendable {
    /// `expired`, `rejected`, `superseded` or `revoked`; `cancelled` or `completed` if somebody with its token ended it.
    public let outcome: String
    /// For example `session-lost`; `unreachable` if its lease ran out unseen, because the daemon could not be reached.
    public let reason: String?
    /// Which refusal it was, of a rejected one.
    public let code: String?
    /// The transition; `nil` if its lease ran out unseen.
    public let document: JSONValue?

    package init(_ document: JSONValue?) {
        self.document = document
        outcome = document?["outcome"]?.string ?? "expired"
        reason = document == nil ? "unreachable" : document?["reason"]?.string
        code = document?["code"]?.string
    }
}

extension ClientError: CustomStringConvertible {
    /// What went wrong, for people.
    public var description: String {
        switch self {
        case .unreachable(let reason): "the daemon cannot be reached: \(reason)"
        case .timedOut: "the turn did not come in time"
        case .closed: "the client is closed"
        case .refused(let refusal): "\(refusal.detail) (\(refusal.code))"
        case .ended(let ending):
            "the transition is \(ending.outcome)"
                + ((ending.document?["detail"]?.string ?? ending.reason).map { ": \($0)" } ?? "")
        }
    }
}
