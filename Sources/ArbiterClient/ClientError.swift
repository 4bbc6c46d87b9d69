public import Foundation

/// What goes wrong.
public enum ClientError: Error, Hashable, Sendable {
    /// No answer came from the daemon within `Arbiter.patience`: it is not there, or the connection is cut. The text says what was
    /// asked, where, and why there was no answer.
    case unreachable(String)
    /// The turn did not come in time; the ticket has been given up.
    case timedOut
    /// The turn would never come, because it is asked for in the body of a transition that is in its way: locks are not
    /// re-entrant. The ticket, which is given here, has been given up.
    case blockedBySelf(JSONValue)
    /// The daemon refused a request, or this client did, because it cannot be sent or its answer cannot be read.
    case refused(Refusal)
    /// The transition ended without its owner, before or after its turn came.
    case ended(EndedTransition)
    /// `Arbiter.close()` was called before.
    case closed
}

extension ClientError {
    /// A value that this client refuses, as the daemon would.
    static func misuse(_ field: String, _ detail: String) -> ClientError {
        .refused(Refusal(misuseOf: field, detail))
    }

    /// A body with a number that JSON does not have.
    static let infiniteNumber = ClientError.refused(
        Refusal(status: 400, ["code": "malformed-json", "detail": "JSON has no infinite number."]))
}

/// Why the daemon refused a request, as a problem of RFC 9457; or why this client refuses to send it, in the same form.
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

    /// Whether the daemon may have said it, which gives each problem a code.
    ///
    /// A proxy says that there is nothing, or that something fails, also in JSON.
    var mayBeOfDaemon: Bool { (status != 404 && status < 500) || problem["code"]?.string != nil }

    /// A value that this client refuses, as the daemon would.
    init(misuseOf field: String, _ detail: String) {
        self.init(status: 400, ["code": "invalid-field", "detail": .string(detail), "field": .string(field)])
    }
}

/// How a transition ended without its owner.
public struct EndedTransition: Hashable, Sendable {
    /// `expired`, `rejected`, `superseded` or `revoked`; `cancelled` or `completed` if somebody with its token ended it.
    public let outcome: String
    /// For example `session-lost`; `unreachable` if its lease ran out unseen, because no answer of the daemon kept it;
    /// `forgotten` if the daemon answers that it does not know the transition, as after a restart without its journal.
    public let reason: String?
    /// Which refusal it was: of a rejected one, or of what keeps the lease.
    public let code: String?
    /// The transition; `nil` if its end was not seen.
    public let document: JSONValue?

    /// An end that the daemon has shown.
    package init(_ document: JSONValue) {
        self.document = document
        outcome = document["outcome"]?.string ?? "expired"
        reason = document["reason"]?.string
        code = document["code"]?.string
    }

    /// An end that was not seen: without a refusal, because no answer came while the lease lasted.
    init(unseen refusal: Refusal?) {
        document = nil
        outcome = "expired"
        code = refusal?.code
        reason = refusal.map { $0.code == "unknown-transition" ? "forgotten" : $0.code } ?? "unreachable"
    }

    /// Why it ended, in words as far as there are some.
    package var words: String? {
        switch (document?["detail"]?.string, reason) {
        case (let detail?, _): detail
        case (nil, "unreachable"): "no answer of the daemon kept it for as long as its lease lasts (unreachable)"
        case (nil, "forgotten"): "the daemon no longer knows the transition (forgotten)"
        case (nil, let reason): reason
        }
    }
}

extension ClientError: CustomStringConvertible, LocalizedError {
    /// What went wrong, for people.
    public var description: String {
        switch self {
        case .unreachable(let reason): "the daemon cannot be reached: \(reason)"
        case .timedOut: "what was waited for did not come in time"
        case .blockedBySelf:
            "the turn is asked for in the body of a transition that is in its way: do this as a part of that one, or after its end"
        case .closed: "the client is closed"
        case .refused(let refusal): "\(refusal.detail) (\(refusal.code))"
        case .ended(let ending):
            "the transition is \(ending.outcome)" + (ending.words.map { ": \($0)" } ?? "")
        }
    }

    /// The same, as `localizedDescription`; there are no translations.
    public var errorDescription: String? { description }
}
