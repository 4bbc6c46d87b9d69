internal import Synchronization

/// A transition that this client holds, until it ends it.
///
/// Its lease is kept by a parked request, which also tells at once if it is lost.
public final class HeldTransition: Sendable {
    private let ticket: PendingTransition
    private let arbiter: Arbiter
    private let state: Mutex<State>

    private struct State {
        /// How it was ended by its owner, or before it was held; `nil` while it runs, and if it was lost.
        var ended: JSONValue?
        /// How it ended without its owner; `nil` if it did not.
        var loss: EndedTransition?
        /// Whether its owner ends it now.
        var isEnding = false
        /// What is heard of its end meanwhile: it is the owner's, or counts after a refusal.
        var unseen: [EndedTransition] = []
        /// Whether it need not be kept any longer, because its owner has ended it or has lost it.
        var isOver = false
        /// Whether its gesture was decided, so that it ends as that was.
        var isDecided = false
        var keeper: Task<Void, Never>?
        /// Passes the time until the keeper tries again.
        var pause: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0
    }

    init(_ ticket: PendingTransition, of arbiter: Arbiter) {
        self.ticket = ticket
        self.arbiter = arbiter
        state = Mutex(State(ended: ticket.hasEnded ? ticket.shown : nil, isOver: ticket.hasEnded))
        guard !ticket.hasEnded else { return }
        let keeper = Task { await self.keep() }
        state.withLock { $0.keeper = keeper }
        arbiter.note(held: self)
    }

    /// The id, by which everybody may ask for the transition.
    public var id: String { ticket.id }

    /// Grows with every grant of the scene: what is written with a lower one is from an earlier holder.
    ///
    /// `nil` with ``isNoop``, since nothing was granted.
    public var fence: Int? { ticket.document?["fence"]?.number.map { Int($0) } }

    /// Whether its operation would have changed nothing, for example the pop of a navigation at its root.
    ///
    /// Then it has completed already: it has held no lock and has no ``fence``, and what must be alone must not be done.
    public var isNoop: Bool { ticket.isNoop }

    /// The transition as the daemon last showed it, without its token.
    public var document: JSONValue { ticket.shown }

    /// How long its animation takes, as the daemon has resolved it.
    public var duration: Duration {
        .seconds(ticket.document?["animation"]?["duration"]?.number ?? 0)
    }

    /// Whether it has ended without its owner: what was begun must not be continued.
    public var isLost: Bool { ending != nil }

    /// How it was lost; `nil` while it is not.
    public var ending: EndedTransition? { state.withLock { $0.loss } }

    /// Returns as soon as it is lost, its owner has ended it, or the task is cancelled.
    public func untilLost() async {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isOver, !Task.isCancelled else { return true }
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
    /// - Throws: `ClientError.ended` if it has ended without its owner, or the daemon does not know it any more; `refused` if its
    ///   gesture was decided otherwise; `unreachable`; `CancellationError`.
    @discardableResult
    public func complete() async throws -> JSONValue { try await end("completed") }

    /// Ends it without applying its operation.
    ///
    /// - Returns: the transition.
    /// - Throws: what ``complete()`` throws.
    @discardableResult
    public func cancel() async throws -> JSONValue { try await end("cancelled") }

    /// Where the finger is, of an interactive transition.
    ///
    /// - Parameters:
    ///   - fraction: how much of the transition is done, from 0 to 1.
    ///   - velocity: fractions per second; negative towards the beginning.
    ///   - sequence: of numbered positions, a late one does not replace a newer one.
    /// - Returns: whether it was applied, and the interaction.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func progress(
        _ fraction: Double, velocity: Double? = nil, sequence: Int? = nil
    ) async throws -> JSONValue {
        try await drive(
            "progress",
            [
                "fraction": .number(fraction), "velocity": velocity.map { .number($0) },
                "sequence": sequence.map { .number(Double($0)) },
            ])
    }

    /// The finger has left: decides, once, whether an interactive transition will finish or cancel.
    ///
    /// - Parameters:
    ///   - decision: `finish` or `cancel`; unless given, the transition's policy decides.
    ///   - fraction: how much of the transition is done, from 0 to 1; the last position unless given.
    ///   - velocity: fractions per second; the last one unless given.
    ///   - isCancelled: whether the gesture was cancelled, for example by an incoming call.
    ///   - completionSpeed: what the rest of the animation is faster by than its duration.
    /// - Returns: the decision, and the seconds that the rest of the animation takes, as `remaining`.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func release(
        _ decision: String? = nil, fraction: Double? = nil, velocity: Double? = nil, isCancelled: Bool? = nil,
        completionSpeed: Double? = nil
    ) async throws -> JSONValue {
        let released = try await drive(
            "release",
            [
                "decision": decision.map { .string($0) }, "fraction": fraction.map { .number($0) },
                "velocity": velocity.map { .number($0) }, "cancelled": isCancelled.map { .bool($0) },
                "completionSpeed": completionSpeed.map { .number($0) },
            ])
        state.withLock { $0.isDecided = true }
        return released
    }

    /// Ends it as its gesture was decided, or as completed if there was none; nothing if its owner has ended it before.
    ///
    /// - Returns: the transition.
    /// - Throws: `ClientError.ended` if it has ended without its owner; `unreachable`; `CancellationError`.
    @discardableResult
    func endAsDecided() async throws -> JSONValue {
        let (isDecided, ended) = state.withLock { ($0.isDecided, $0.loss == nil ? $0.ended : nil) }
        if let ended { return ended }
        return try await end(isDecided ? nil : "completed")
    }

    /// Ends it because what it was held for has failed; nothing if its owner has ended it before.
    func abandon() async {
        let (isDecided, isEnded) = state.withLock { ($0.isDecided, $0.ended != nil && $0.loss == nil) }
        if !isEnded { _ = try? await end(isDecided ? nil : "cancelled") }
    }

    private func drive(_ call: String, _ fields: [String: JSONValue?]) async throws -> JSONValue {
        let body = ticket.named(fields.compactMapValues(\.self))
        return try await arbiter.ask(WireRequest("POST", "/transitions/\(call)", body, timeout: WireTimes.margin))
            .accepted()
    }

    private func end(_ outcome: String?) async throws -> JSONValue {
        if isNoop { return document }
        if let ending { throw ClientError.ended(ending) }
        state.withLock { $0.isEnding = true }
        let ended: JSONValue
        do {
            ended = try await askForEnd(outcome)
        } catch ClientError.refused(let refusal) {
            refuseEnd()
            throw ClientError.refused(refusal)
        } catch {
            finishEnd(nil)
            throw error
        }
        finishEnd(ended)
        // Its await is answered by the end, so that no connection is cut.
        await state.withLock { $0.keeper }?.value
        return ended
    }

    private func askForEnd(_ outcome: String?) async throws -> JSONValue {
        let body = ticket.named(outcome.map { ["outcome": .string($0)] } ?? [:])
        let answer = try await arbiter.ask(WireRequest("POST", "/transitions/end", body, timeout: WireTimes.margin))
        if answer.status >= 400, let transition = answer.document["transition"], transition["state"] == "ended" {
            throw ClientError.ended(EndedTransition(transition))
        }
        if answer.status == 404, answer.document["code"] == "unknown-transition" {
            throw ClientError.ended(EndedTransition(unseen: Refusal(status: answer.status, answer.document)))
        }
        return try answer.accepted()
    }

    private func finishEnd(_ ended: JSONValue?) {
        tell { state in (state.ended, state.isOver) = (ended, true) }
    }

    /// It goes on, as far as is known, and is kept.
    private func refuseEnd() {
        let unseen = state.withLock { state in
            state.isEnding = false
            return state.unseen.first
        }
        if let unseen { lose(unseen) }
    }

    // MARK: - Keeping the lease

    private var isOver: Bool { state.withLock { $0.isOver } }

    private func keep() async {
        let loss = await untilEnded()
        arbiter.note(over: self)
        lose(loss)
    }

    /// The client is closed, and its session with it.
    func loseSession() {
        let members = ticket.shown.object ?? [:]
        let ended = members.merging(["state": "ended", "outcome": "expired", "reason": "session-lost"]) { $1 }
        lose(EndedTransition(.object(ended)))
        state.withLock { $0.keeper }?.cancel()
    }

    /// Says that it has ended without its owner, unless its owner is ending it.
    private func lose(_ loss: EndedTransition) {
        tell { state in
            if state.isEnding { return state.unseen.append(loss) }
            if !state.isOver { (state.loss, state.isOver) = (loss, true) }
        }
    }

    /// Notes something, and if it is over then, tells those that wait for that.
    private func tell(_ note: (inout State) -> Void) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            note(&state)
            guard state.isOver else { return [] }
            state.pause?.cancel()
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// How it has ended, once it has or its lease may have run out.
    ///
    /// Each request is answered within a third of the lease: if none is, the lease is counted from the sending of the last one
    /// that was answered.
    private func untilEnded() async -> EndedTransition {
        let wait = min(ticket.lease / 3, WireTimes.longestWait)
        var headers = ticket.headers
        var backoff = Backoff()
        while !isOver, !Task.isCancelled, ticket.heldUntil > .now {
            var delay = backoff.next()
            let body = ticket.named(["until": "ended", "wait": .number(wait.inSeconds)])
            let timeout = min(wait + WireTimes.margin, ticket.heldUntil - .now)
            let request = WireRequest(
                "POST", "/transitions/await", body, headers: headers, timeout: timeout)
            if let answer = try? await arbiter.sendOnce(request) {
                if answer.status != 429, answer.status != 503 {
                    if answer.status >= 400 {
                        // It says how the transition ended, or the daemon does not know it any more.
                        if let ended = answer.document["transition"] { return EndedTransition(ended) }
                        let refusal = Refusal(status: answer.status, answer.document)
                        // Without the token of its session, which has ended, the daemon says what became of it.
                        guard Arbiter.isOverForSession(refusal),
                            headers.removeValue(forKey: Arbiter.sessionField) != nil
                        else { return EndedTransition(unseen: refusal) }
                        continue
                    }
                    guard answer.document["state"]?.string != "ended" else { return EndedTransition(answer.document) }
                    ticket.hold(until: answer.sent + ticket.lease)
                    backoff = Backoff()
                    continue
                }
                // Not until the lease has run out.
                delay = max(delay, min(answer.retryAfter, wait))
            }
            await pass(min(delay, ticket.heldUntil - .now))
        }
        return EndedTransition(unseen: nil)
    }

    /// Passes so much time, or less if it is over.
    private func pass(_ duration: Duration) async {
        let pause = Task { _ = try? await Task.sleep(for: duration) }
        state.withLock { state in
            state.pause = pause
            if state.isOver { pause.cancel() }
        }
        await pause.value
    }
}
