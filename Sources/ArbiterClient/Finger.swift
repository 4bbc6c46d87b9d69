internal import Synchronization

/// The finger of a gesture: one of its positions is on its way at a time, and the newest waits for that.
final class Finger: Sendable {
    private let ticket: PendingTransition
    private let arbiter: Arbiter
    /// Over when the ticket has an id.
    private let asked: SingleResult<Void>?
    private let state = Mutex(State())

    private struct State {
        var number = 0
        /// The newest position, which the release has too: it may overtake what is on its way.
        var last: [String: JSONValue] = [:]
        /// The newest position, if it was not sent yet.
        var next: [String: JSONValue]?
        var sender: Task<JSONValue, any Error>?
        var isReleased = false
        /// Why its turn does not come.
        var failure: (any Error)?
    }

    init(_ ticket: PendingTransition, of arbiter: Arbiter, asked: SingleResult<Void>? = nil) {
        self.ticket = ticket
        self.arbiter = arbiter
        self.asked = asked
    }

    /// Why its turn does not come; `nil` if it may.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Its turn does not come.
    func fail(_ failure: any Error) {
        state.withLock { $0.failure = failure }
        asked?.finish(.failure(failure))
    }

    /// Whether its turn has come.
    var isGranted: Bool { ["running", "ended"].contains(ticket.document?["state"]?.string) }

    /// Whether there was nothing to do.
    var isNoop: Bool { ticket.isNoop }

    /// Its ticket, if it waits for one of these transitions.
    func blocked(by transitions: Set<String>) async throws -> JSONValue? {
        try await asked?.value()
        return !isGranted && ticket.blockers.contains(where: transitions.contains) ? ticket.shown : nil
    }

    /// The answer to a position that is not newer than what is known.
    var ignored: JSONValue {
        .object((ticket.shown.object ?? [:]).merging(["applied": false]) { $1 })
    }

    /// Takes in a position, to be sent.
    ///
    /// - Returns: what sends it, or a newer one; `nil` if it is not newer than the last one, or the finger has left.
    func move(_ fraction: Double, velocity: Double?, sequence: Int? = nil) -> Task<JSONValue, any Error>? {
        state.withLock { state in
            let number = sequence ?? state.number + 1
            guard !state.isReleased, number > state.number else { return nil }
            state.number = number
            state.last = ["fraction": .number(fraction)]
            state.last["velocity"] = velocity.map { .number($0) }
            state.next = state.last.merging(["sequence": .number(Double(number))]) { $1 }
            let sender = state.sender ?? Task { try await send() }
            state.sender = sender
            return sender
        }
    }

    /// Says that the finger has left, and where: at the newest position unless the fields have another one.
    func release(_ fields: [String: JSONValue]) async throws -> JSONValue {
        let last = state.withLock { state in
            state.isReleased = true
            return state.last
        }
        do {
            try await asked?.value()
            // There was nothing to do, and so nothing is decided.
            if ticket.isNoop { return ticket.shown }
            let released = try await arbiter.act("release", on: ticket, last.merging(fields) { $1 }).accepted()
            ticket.decision = released["decision"]?.string
            return released
        } catch {
            // It is still there, unless another release was accepted.
            state.withLock { $0.isReleased = ticket.decision != nil }
            throw error
        }
    }

    private func send() async throws -> JSONValue {
        var last = Result<JSONValue, any Error>.success(ignored)
        while let next = state.withLock({ state in
            defer { state.next = nil }
            if state.next == nil { state.sender = nil }
            return state.next
        }) {
            do {
                try await asked?.value()
                last = .success(try await arbiter.act("progress", on: ticket, next).accepted())
            } catch {
                // What the release, or an end by its owner, has overtaken does not count.
                last = state.withLock { $0.isReleased } || error.isLate ? .success(ignored) : .failure(error)
            }
        }
        return try last.get()
    }
}

extension Error {
    /// Whether a position came after the decision or the end.
    fileprivate var isLate: Bool {
        switch self as? ClientError {
        case .refused(let refusal): refusal.code == "already-decided"
        case .ended(let ending): ["completed", "cancelled"].contains(ending.outcome)
        default: false
        }
    }
}
