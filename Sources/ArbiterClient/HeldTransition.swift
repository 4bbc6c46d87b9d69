internal import Synchronization

/// A transition that this client holds, until it ends it.
///
/// Its lease is kept by a parked request, which also tells at once if it is lost.
public final class HeldTransition: Sendable {
    private let ticket: PendingTransition
    private let arbiter: Arbiter
    private let state: Mutex<State>

    private struct State {
        var ended: JSONValue?
        var isEnding = false
        /// Whether its gesture was decided, so that it ends as that was.
        var isDecided = false
        var isLost = false
        var keeper: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0
    }

    init(_ ticket: PendingTransition, of arbiter: Arbiter) {
        self.ticket = ticket
        self.arbiter = arbiter
        state = Mutex(State(ended: ticket.hasEnded ? ticket.shown : nil))
        guard !ticket.hasEnded else { return }
        let keeper = Task { await self.keep() }
        state.withLock { $0.keeper = keeper }
        arbiter.note(held: self)
    }

    /// The id, by which everybody may ask for the transition.
    public var id: String { ticket.id }

    /// Grows with every grant of the scene: what is written with a lower one is from an earlier holder.
    public var fence: Int? { ticket.document?["fence"]?.number.map { Int($0) } }

    /// Whether there was nothing to do: then it has completed already, and holds nothing.
    public var isNoop: Bool { ticket.isNoop }

    /// The transition as the daemon last showed it, without its token.
    public var document: JSONValue { ticket.shown }

    /// How long its animation takes, as the daemon has resolved it.
    public var duration: Duration {
        .seconds(ticket.document?["animation"]?["duration"]?.number ?? 0)
    }

    /// Whether it has ended without its owner: what was begun must not be continued.
    public var isLost: Bool { state.withLock { $0.isLost } }

    /// How it was lost; `nil` while it is not.
    public var ending: EndedTransition? { state.withLock { $0.isLost ? EndedTransition($0.ended) : nil } }

    /// Returns as soon as it is lost, its owner has ended it, or the task is cancelled.
    public func untilLost() async {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.ended == nil, !state.isLost, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Ends it, and applies its operation.
    ///
    /// - Returns: the transition, with what its operation inserted and removed.
    /// - Throws: `ClientError.ended` if it has ended without its owner; `unreachable`; `CancellationError`.
    @discardableResult
    public func complete() async throws -> JSONValue { try await end("completed") }

    /// Ends it without applying its operation.
    ///
    /// - Returns: the transition.
    /// - Throws: `ClientError.ended` if it has ended without its owner; `unreachable`; `CancellationError`.
    @discardableResult
    public func cancel() async throws -> JSONValue { try await end("cancelled") }

    /// Where the finger is, from 0 to 1, of an interactive transition.
    ///
    /// - Returns: whether it was applied, and the interaction.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func progress(_ fraction: Double, velocity: Double? = nil) async throws -> JSONValue {
        try await drive("progress", ["fraction": .number(fraction), "velocity": velocity.map { .number($0) }])
    }

    /// The finger has left: decides, once, whether an interactive transition will finish or cancel.
    ///
    /// - Parameter decision: `finish` or `cancel`; unless given, the transition's policy decides.
    /// - Returns: the decision, and the seconds that the rest of the animation takes, as `remaining`.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func release(_ decision: String? = nil) async throws -> JSONValue {
        let released = try await drive("release", ["decision": decision.map { .string($0) }])
        state.withLock { $0.isDecided = true }
        return released
    }

    /// Ends it as its gesture was decided, or as completed if there was none; nothing if its owner has ended it before.
    ///
    /// - Returns: the transition.
    /// - Throws: `ClientError.ended` if it has ended without its owner; `unreachable`; `CancellationError`.
    @discardableResult
    func endAsDecided() async throws -> JSONValue {
        let (isDecided, ended) = state.withLock { ($0.isDecided, $0.isEnding ? $0.ended : nil) }
        if let ended { return ended }
        return try await end(isDecided ? nil : "completed")
    }

    /// Ends it because what it was held for has failed; nothing if its owner has ended it before.
    func abandon() async {
        let (isDecided, isOver) = state.withLock { ($0.isDecided, $0.isEnding && $0.ended != nil) }
        if !isOver { _ = try? await end(isDecided ? nil : "cancelled") }
    }

    private func drive(_ call: String, _ fields: [String: JSONValue?]) async throws -> JSONValue {
        let body = ticket.named(fields.compactMapValues(\.self))
        return try await arbiter.ask(WireRequest("POST", "/transitions/\(call)", body, timeout: WireTimes.margin))
            .accepted()
    }

    private func end(_ outcome: String?) async throws -> JSONValue {
        if isNoop { return document }
        if let ending { throw ClientError.ended(ending) }
        let keeper = state.withLock { state in
            state.isEnding = true
            return state.keeper
        }
        let body = ticket.named(outcome.map { ["outcome": .string($0)] } ?? [:])
        let answer = try await arbiter.ask(WireRequest("POST", "/transitions/end", body, timeout: WireTimes.margin))
        if answer.status >= 400, let transition = answer.document["transition"], transition["state"]?.string == "ended"
        {
            throw ClientError.ended(EndedTransition(transition))
        }
        let ended: JSONValue
        do {
            ended = try answer.accepted()
        } catch {
            // It goes on, and so does its lease.
            keepOn()
            throw error
        }
        state.withLock { $0.ended = ended }
        // Its await is answered by the end, so that no connection is cut.
        await keeper?.value
        return ended
    }

    // MARK: - Keeping the lease

    /// Keeps the lease after an end that was refused.
    private func keepOn() {
        let keeper = Task { await self.keep() }
        state.withLock { state in
            state.isEnding = false
            state.keeper = keeper
        }
        arbiter.note(held: self)
    }

    private var isEnding: Bool { state.withLock { $0.isEnding } }

    private func keep() async {
        let ended = await untilEnded()
        arbiter.note(over: self)
        end { state in
            state.keeper = nil
            if !state.isEnding, !state.isLost { (state.ended, state.isLost) = (ended, true) }
        }
    }

    /// The client is closed, and its session with it.
    func lose() {
        let document = ticket.shown.object ?? [:]
        let ended = document.merging(["state": "ended", "outcome": "expired", "reason": "session-lost"]) { $1 }
        end { state in
            guard state.ended == nil, !state.isLost else { return }
            (state.ended, state.isLost) = (.object(ended), true)
            state.keeper?.cancel()
        }
    }

    /// Notes the end, and tells those that wait for it.
    private func end(_ note: (inout State) -> Void) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            note(&state)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The transition when it has ended; `nil` if the lease may have run out.
    ///
    /// Each request is answered within a third of the lease: if none is, the lease is counted from the sending of the last one
    /// that was answered.
    private func untilEnded() async -> JSONValue? {
        let wait = min(ticket.lease / 3, WireTimes.longestWait)
        var backoff = Backoff()
        while !isEnding, !Task.isCancelled, ticket.heldUntil > .now {
            var delay = backoff.next()
            let body = ticket.named(["until": "ended", "wait": .number(wait.inSeconds)])
            let timeout = min(wait + WireTimes.margin, ticket.heldUntil - .now)
            let request = WireRequest(
                "POST", "/transitions/await", body, headers: ticket.headers, timeout: timeout)
            if let answer = try? await arbiter.sendOnce(request) {
                if answer.status != 429, answer.status != 503 {
                    // The daemon does not know it any more, or says how it ended.
                    guard answer.status < 400 else { return answer.document["transition"] }
                    guard answer.document["state"]?.string != "ended" else { return answer.document }
                    ticket.hold(until: answer.sent + ticket.lease)
                    backoff = Backoff()
                    continue
                }
                delay = max(delay, answer.retryAfter)
            }
            guard !isEnding else { break }
            try? await Task.sleep(for: max(.zero, min(delay, ticket.heldUntil - .now)))
        }
        return nil
    }
}
