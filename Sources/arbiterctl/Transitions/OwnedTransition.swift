internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// What is waited for.
enum Milestone: String, ExpressibleByArgument, CaseIterable {
    case granted
    case running
    case ended

    /// Whether a transition in this state has got there.
    func isReached(by state: String?) -> Bool {
        switch self {
        case .granted: state != "queued"
        case .running: state == "running" || state == "ended"
        case .ended: state == "ended"
        }
    }
}

/// A transition, with its token if it is one's own.
struct OwnedTransition {
    let id: String
    let token: String?

    init(id: String, token: String?) {
        self.id = id
        self.token = token
    }

    init(_ document: JSONValue) {
        self.init(id: document["id"]?.string ?? "", token: document["token"]?.string)
    }

    /// Sends a request of the owner, whose answer may take longer by `wait`.
    func ask(
        _ arbiter: Arbiter, _ call: String, _ members: [String: JSONValue] = [:], wait: Duration = .zero
    ) async throws -> JSONValue {
        var members = members
        (members["id"], members["token"]) = (.string(id), token.map { .string($0) })
        let request = WireRequest(
            "POST", "/transitions/\(call)", .object(members), timeout: wait + WireTimes.margin)
        return try await arbiter.ask(request).accepted()
    }

    /// Waits until the transition is at a milestone.
    ///
    /// - Parameters:
    ///   - arbiter: whom to ask.
    ///   - known: how it is, if that is known.
    ///   - milestone: what is waited for.
    ///   - deadline: until when; for ever unless given.
    /// - Returns: how it is then; `nil` if the time is over before.
    /// - Throws: `ClientError`.
    func wait(
        _ arbiter: Arbiter, _ known: JSONValue? = nil, until milestone: Milestone,
        deadline: ContinuousClock.Instant?
    ) async throws -> JSONValue? {
        var known = known
        while true {
            if let known, milestone.isReached(by: known["state"]?.string) { return known }
            let left = deadline.map { $0 - ContinuousClock.now } ?? WireTimes.longestWait
            guard left > .zero || known == nil else { return nil }
            known = try await awaited(arbiter, milestone, max(.zero, min(left, WireTimes.longestWait)))
        }
    }

    private func awaited(_ arbiter: Arbiter, _ milestone: Milestone, _ wait: Duration) async throws -> JSONValue {
        if token != nil {
            let members: [String: JSONValue] = [
                "until": .string(milestone.rawValue), "wait": .number(wait.inSeconds),
            ]
            return try await ask(arbiter, "await", members, wait: wait)
        }
        let query = "id=\(id)&until=\(milestone.rawValue)&wait=\(wait.inSeconds)"
        let request = WireRequest("GET", "/transitions/await?\(query)", timeout: wait + WireTimes.margin)
        return try await arbiter.ask(request).accepted()
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

    func validate() throws { try Self.check(id) }

    /// - Throws: `ValidationError` if there is no token.
    func owned() throws -> OwnedTransition {
        guard let token = token ?? ProcessInfo.processInfo.environment["ARBITER_TRANSITION_TOKEN"] else {
            throw ValidationError("give the token of the transition, or set ARBITER_TRANSITION_TOKEN")
        }
        return OwnedTransition(id: id, token: token)
    }

    /// - Throws: `ValidationError` if the text cannot be an id.
    static func check(_ id: String) throws {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (48...57 ~= $0) || (97...122 ~= $0) }) else {
            throw ValidationError("\(id.printable) is not the id of a transition")
        }
    }
}
