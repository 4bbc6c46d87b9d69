internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// What is waited for.
enum Milestone: String, ExpressibleByArgument, CaseIterable {
    case granted
    case running
    case interrupted
    case ended

    /// Whether a transition has got there.
    func isReached(by transition: JSONValue) -> Bool {
        let state = transition["state"]?.string
        return switch self {
        case .granted: state != "queued"
        case .running: state == "running" || state == "ended"
        case .interrupted: state == "ended" || transition["interruption"] != nil
        case .ended: state == "ended"
        }
    }
}

/// A transition, with its token if it is one's own.
struct OwnedTransition {
    let id: String
    let token: String?
    /// Whether the daemon has shown it to this command: if it does not know it any more, it is lost.
    private var wasSeen = false

    init(id: String, token: String?) {
        self.id = id
        self.token = token
    }

    /// A transition as the daemon shows it to its owner.
    init(_ document: JSONValue) {
        self.init(id: document["id"]?.string ?? "", token: document["token"]?.string)
        wasSeen = true
    }

    /// Sends a request of the owner, whose answer may take longer by `wait`.
    ///
    /// - Throws: `ClientError`; `Failure` if the daemon does not know the transition any more.
    func ask(
        _ arbiter: Arbiter, _ call: String, _ members: [String: JSONValue] = [:], wait: Duration? = nil
    ) async throws -> JSONValue {
        var members = members
        (members["id"], members["token"]) = (.string(id), token.map { .string($0) })
        let request = WireRequest(
            "POST", "/transitions/\(call)", .object(members), timeout: WireTimes.margin, wait: wait)
        return try await answer(arbiter, request)
    }

    private func answer(_ arbiter: Arbiter, _ request: WireRequest) async throws -> JSONValue {
        do {
            return try await arbiter.ask(request).accepted()
        } catch ClientError.refused(let refusal) where wasSeen && refusal.code == "unknown-transition" {
            let why = "it was started again without its journal, or the transition ended long ago"
            throw Failure(code: Exit.lost, text: "the daemon no longer knows \(id): \(why)")
        }
    }

    /// Waits until the transition is at a milestone.
    ///
    /// - Parameters:
    ///   - arbiter: whom to ask.
    ///   - known: how it is, if that is known.
    ///   - milestone: what is waited for.
    ///   - deadline: until when.
    /// - Returns: how it is then; `nil` if the time is over before.
    /// - Throws: `ClientError`; `Failure` if the daemon does not know it any more.
    func wait(
        _ arbiter: Arbiter, _ known: JSONValue? = nil, until milestone: Milestone, deadline: Deadline
    ) async throws -> JSONValue? {
        // The first answer comes at once: only from then on, an id that is not known is that of a lost transition.
        var reached = if let known { known } else { try await awaited(arbiter, milestone, .zero) }
        var seen = self
        seen.wasSeen = true
        var hasWaited = false
        while !milestone.isReached(by: reached) {
            guard !deadline.isOver else { return nil }
            reached = try await seen.awaited(arbiter, milestone, deadline.nextWait())
            hasWaited = true
        }
        // A grant is claimed by a word after it.
        let isGranted = hasWaited && token != nil && reached["state"]?.string != "ended"
        return isGranted ? try await seen.awaited(arbiter, milestone, .zero) : reached
    }

    private func awaited(_ arbiter: Arbiter, _ milestone: Milestone, _ wait: Duration) async throws -> JSONValue {
        if token != nil {
            // If this process is killed, and a proxy keeps its connections, a grant that it waits for lasts for seconds only.
            let members: [String: JSONValue] = [
                "until": .string(milestone.rawValue), "wait": .number(wait.inSeconds),
                "claim": .bool(milestone == .granted || milestone == .running),
            ]
            return try await ask(arbiter, "await", members, wait: wait)
        }
        let query = "id=\(id)&until=\(milestone.rawValue)&wait=\(wait.inSeconds)"
        let request = WireRequest("GET", "/transitions/await?\(query)", wait: wait)
        return try await answer(arbiter, request)
    }

    /// Takes a ticket out of the queue.
    func giveUp(_ arbiter: Arbiter) async {
        _ = try? await ask(arbiter, "end", ["outcome": "cancelled"])
    }
}

/// The id and the token on a command line.
struct OwnedArguments: ParsableArguments {
    @Argument(help: "The id of the transition.")
    var id: String

    @Argument(help: "Its token; ARBITER_TRANSITION_TOKEN unless given.")
    var token: String?

    private var givenToken: String? {
        token ?? Environment.variable("ARBITER_TRANSITION_TOKEN")
    }

    /// The transition that is meant.
    var owned: OwnedTransition { OwnedTransition(id: id, token: givenToken) }

    func validate() throws {
        try Self.check(id)
        guard givenToken != nil else {
            throw ValidationError("give the token of the transition, or set ARBITER_TRANSITION_TOKEN")
        }
    }

    /// - Throws: `ValidationError` if the text cannot be an id.
    static func check(_ id: String) throws {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (48...57 ~= $0) || (97...122 ~= $0) }) else {
            throw ValidationError("\(id.printable) is not the id of a transition")
        }
    }
}
