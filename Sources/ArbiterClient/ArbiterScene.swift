internal import Foundation

/// One arbitrated interface.
public struct ArbiterScene: Sendable {
    /// The name of the scene.
    public let name: String
    /// The client that it was asked of.
    public let arbiter: Arbiter

    init(_ name: String, of arbiter: Arbiter) {
        self.name = name
        self.arbiter = arbiter
    }

    /// Tries at once.
    ///
    /// - Returns: the transition; `nil` if another one is in the way. Then the event is dropped. One with
    ///   ``HeldTransition/isNoop`` holds no lock.
    /// - Throws: `ClientError.refused` if what it asks for is impossible, and with `invalid-field` before anything is sent if a
    ///   duration is; `ended` if it ended before it ran, `unreachable`; `CancellationError`.
    public func start(_ options: TransitionOptions = TransitionOptions()) async throws -> HeldTransition? {
        try options.check()
        let ticket = PendingTransition(name, options)
        return try await start(ticket) ? HeldTransition(ticket, of: arbiter) : nil
    }

    /// Tries to begin a transition that a finger drives.
    ///
    /// - Returns: the transition; `nil` if another one is in the way. Then the gesture does not begin.
    /// - Throws: what ``start(_:)`` throws.
    public func startInteractive(_ options: TransitionOptions) async throws -> InteractiveTransition? {
        var options = options
        options.isInteractive = true
        try options.check()
        let ticket = PendingTransition(name, options)
        guard try await start(ticket) else { return nil }
        let finger = Finger(ticket, of: arbiter)
        let transition = HeldTransition(ticket, of: arbiter, finger: finger)
        return InteractiveTransition(finger, turn: Task { transition })
    }

    /// Waits for its turn, first come, first served among equal priorities.
    ///
    /// - Parameters:
    ///   - options: what is asked.
    ///   - timeout: how long the turn may take to come, not negative; for ever unless set.
    ///   - waiting: called with the ticket whenever the daemon says that it still waits, at least every 10 seconds: its
    ///     `state`, and while that is `queued` its `position` and `blockers`.
    /// - Returns: the transition, which runs, or has ended with ``HeldTransition/isNoop`` if there was nothing to do.
    /// - Throws: `ClientError.timedOut`; `blockedBySelf` in the body of a transition that is in its way; `ended` if it is
    ///   impossible when its turn comes; `refused` if it cannot even queue,
    ///   and with `invalid-field` before anything is sent if a duration is impossible; `unreachable`; `CancellationError`
    ///   if the task is cancelled, which gives the ticket up.
    public func serialize(
        _ options: TransitionOptions = TransitionOptions(), timeout: Duration? = nil,
        waiting: @Sendable (JSONValue) -> Void = { _ in }
    ) async throws -> HeldTransition {
        try await serialize(options, timeout: timeout, asked: {}, waiting: waiting)
    }

    /// Asks for the turn of a transition that a finger drives, and does not wait for it.
    ///
    /// ```swift
    /// let drag = scene.serializeInteractive(TransitionOptions(.pop("nav")))
    /// drag.update(0.7)
    /// try await drag.finish { remaining, _ in await animate(for: remaining) }
    /// ```
    ///
    /// What goes wrong is thrown by what is asked of the gesture then. A gesture to which nobody refers any more leaves the queue.
    ///
    /// - Parameters:
    ///   - options: what is asked.
    ///   - timeout: how long the turn may take to come, not negative; for ever unless set. A gesture that has finished by then
    ///     finishes at its turn all the same, without its animation.
    ///   - waiting: called as by ``serialize(_:timeout:waiting:)``.
    /// - Returns: the transition, which waits for its turn.
    public func serializeInteractive(
        _ options: TransitionOptions, timeout: Duration? = nil,
        waiting: @escaping @Sendable (JSONValue) -> Void = { _ in }
    ) -> InteractiveTransition {
        var options = options
        options.isInteractive = true
        // Nobody waits for the grant here.
        options.waitsForSelf = true
        let (ticket, asked) = (PendingTransition(name, options), SingleResult<Void>())
        let finger = Finger(ticket, of: arbiter, asked: asked)
        let turn = Task { [options] in
            do {
                try await serialize(ticket, options, timeout, asked: { asked.finish(.success(())) }, waiting)
            } catch {
                finger.fail(error)
                throw error
            }
            return HeldTransition(ticket, of: arbiter, finger: finger)
        }
        return InteractiveTransition(finger, turn: turn)
    }

    /// Waits for its turn, and says when it has its place in the queue.
    func serialize(
        _ options: TransitionOptions, timeout: Duration? = nil, asked: () -> Void,
        waiting: @Sendable (JSONValue) -> Void = { _ in }
    ) async throws -> HeldTransition {
        let ticket = PendingTransition(name, options)
        try await serialize(ticket, options, timeout, asked: asked, waiting)
        return HeldTransition(ticket, of: arbiter)
    }

    /// Begins it at once: `false` if another one is in the way.
    private func start(_ ticket: PendingTransition) async throws -> Bool {
        try await givingUp(ticket) {
            let body = ticket.body.filter { !TransitionOptions.turnMembers.contains($0.key) }
            let answer = try await arbiter.askInSession("/transitions/start", .object(body), for: ticket)
            if answer.status == 409, answer.document["code"]?.string == "busy" { return false }
            try ticket.note(answer)
            try await waitUntilRunning(ticket, deadline: nil)
            return true
        }
    }

    private func serialize(
        _ ticket: PendingTransition, _ options: TransitionOptions, _ timeout: Duration?, asked: () -> Void,
        _ waiting: @Sendable (JSONValue) -> Void
    ) async throws {
        try options.check()
        if let timeout, timeout < .zero { throw ClientError.misuse("timeout", "The timeout must not be negative.") }
        try await givingUp(ticket) {
            let deadline = timeout.map { ContinuousClock.now + $0 }
            let body = ticket.body.merging(["wait": 0]) { $1 }
            let room = deadline.map { WaitForRoom.until($0) } ?? .patiently
            try ticket.note(
                await arbiter.askInSession("/transitions/serialize", .object(body), for: ticket, room: room))
            asked()
            if !options.waitsForSelf, ticket.blockers.contains(where: HeldTransition.bodies.contains) {
                throw ClientError.blockedBySelf(ticket.shown)
            }
            try await waitUntilRunning(ticket, deadline: deadline, waiting)
        }
    }

    /// Waits for its turn, and holds it while the body runs.
    ///
    /// If the operation would change nothing, there is nothing to lock: **the body runs without the lock**, with
    /// ``HeldTransition/isNoop``, and without a ``HeldTransition/fence``. A body that must be alone leaves then:
    ///
    /// ```swift
    /// try await scene.withTransition(.pop("nav")) { transition in
    ///     guard !transition.isNoop else { return }
    ///     try await animate(for: transition.duration)
    /// }
    /// ```
    ///
    /// Without an operation, there is always a lock.
    ///
    /// The transition is completed when the body returns, and cancelled if it throws; one whose gesture was decided ends as
    /// that was, and one that the body has ended is left alone. If the transition is lost meanwhile,
    /// ``HeldTransition/isLost`` is true at once, and what waits in ``HeldTransition/untilLost()`` goes on.
    ///
    /// - Parameters:
    ///   - options: what is asked.
    ///   - timeout: how long the turn may take to come; for ever unless set.
    ///   - waiting: called with the ticket whenever the daemon says that it still waits; see
    ///     ``serialize(_:timeout:waiting:)``.
    ///   - isolation: where the body runs.
    ///   - body: what must not overlap with other transitions; see above for an operation that changes nothing.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws, what ``serialize(_:timeout:waiting:)`` throws, and `ClientError.ended` if it was lost.
    public func withTransition<Result>(
        _ options: TransitionOptions = TransitionOptions(), timeout: Duration? = nil,
        waiting: @Sendable (JSONValue) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (HeldTransition) async throws -> Result
    ) async throws -> Result {
        try await hold(try await serialize(options, timeout: timeout, waiting: waiting), body)
    }

    /// Tries at once, and holds the transition while the body runs; see ``start(_:)``.
    ///
    /// - Parameters:
    ///   - options: what is asked.
    ///   - isolation: where the body runs.
    ///   - body: what must not overlap with other transitions; not called if another one is in the way.
    /// - Returns: what the body returns; `nil` if another one is in the way.
    /// - Throws: what the body throws, what ``start(_:)`` throws, and `ClientError.ended` if it was lost.
    public func withTransition<Result>(
        ifFree options: TransitionOptions, isolation: isolated (any Actor)? = #isolation,
        _ body: (HeldTransition) async throws -> Result
    ) async throws -> Result? {
        guard let transition = try await start(options) else { return nil }
        return try await hold(transition, body)
    }

    /// Runs the body, and ends the transition.
    func hold<Result>(
        _ transition: HeldTransition, isolation: isolated (any Actor)? = #isolation,
        _ body: (HeldTransition) async throws -> Result
    ) async throws -> Result {
        let result: Result
        do {
            let bodies = HeldTransition.bodies.union([transition.id])
            result = try await HeldTransition.$bodies.withValue(bodies) { try await body(transition) }
        } catch {
            // What the body threw is what the caller has to know. It ends also if the task is cancelled.
            await Task { await transition.abandon() }.value
            throw error
        }
        try await Task { try await transition.end(failed: false) }.value
        return result
    }

    /// The same for one operation, and with the same exception if it would change nothing.
    public func withTransition<Result>(
        _ operation: TransitionOperation, timeout: Duration? = nil,
        waiting: @Sendable (JSONValue) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (HeldTransition) async throws -> Result
    ) async throws -> Result {
        try await withTransition(
            TransitionOptions(operation), timeout: timeout, waiting: waiting, isolation: isolation, body)
    }

    /// Declares the hierarchy, segues, transition types and defaults.
    ///
    /// It is sent again if its answer is lost: then it may return `nil` for the one that did it too, and may replace what
    /// others have changed in between.
    ///
    /// - Parameters:
    ///   - storyboard: the document, as openapi.yaml of the daemon describes it.
    ///   - ifUndeclared: whether to do so only if nobody has, so that one of several processes that start together does it.
    ///   - isDryRun: whether nothing is changed.
    /// - Returns: the name of the scene, and its revision; the whole storyboard after a dry run; `nil` if somebody had declared it.
    /// - Throws: `ClientError`, for example `refused` with `busy` while a transition is unfinished; `CancellationError`.
    @discardableResult
    public func declare(
        _ storyboard: JSONValue, ifUndeclared: Bool = false, isDryRun: Bool = false
    ) async throws -> JSONValue? {
        let headers = ifUndeclared ? ["If-None-Match": "*"] : [:]
        let path = path(isDryRun ? "/storyboard?dryRun=true" : "/storyboard")
        let answer = try await arbiter.ask(WireRequest("PUT", path, storyboard, headers: headers))
        if ifUndeclared, answer.document["code"]?.string == "already-declared" { return nil }
        return try answer.accepted()
    }

    /// Its hierarchy, who runs and who waits.
    ///
    /// - Throws: `ClientError`, for example `refused` with `unknown-scene`; `CancellationError`.
    public func read() async throws -> JSONValue {
        try await arbiter.ask(WireRequest("GET", path())).accepted()
    }

    /// Its hierarchy, kept by its events; empty while there is no such scene.
    ///
    /// - Throws: `ClientError`; `CancellationError`.
    public func hierarchy() async throws -> LiveHierarchy { try await LiveHierarchy(of: self) }

    /// What happens here.
    ///
    /// A stream that is cut is resumed without a gap. Where the past is gone, an event named `reset` has the scene as it is.
    ///
    /// - Parameters:
    ///   - since: the id of the last event that is known; without it, events come from now on.
    ///   - isAttached: whether the stream keeps the session alive: a client that takes part in the transitions of others has
    ///     one.
    /// - Returns: the events, until the task is cancelled.
    public func events(since: String? = nil, isAttached: Bool = false) -> ArbiterEvents {
        ArbiterEvents(arbiter, path: path("/events"), since: since, isAttached: isAttached)
    }

    package func path(_ rest: String = "") -> String {
        "/scenes/\(name.inPath)\(rest)"
    }

    private func waitUntilRunning(
        _ ticket: PendingTransition, deadline: ContinuousClock.Instant?,
        _ waiting: @Sendable (JSONValue) -> Void = { _ in }
    ) async throws {
        while ticket.isWaiting {
            waiting(ticket.shown)
            let left = deadline.map { $0 - ContinuousClock.now } ?? WireTimes.longestWait
            guard left > .zero else { throw ClientError.timedOut }
            try await awaitRunning(ticket, min(left, WireTimes.longestWait))
        }
        // The answer to a request that was parked for long says nothing about when it was given; and a grant is to be claimed.
        if !ticket.hasEnded, ticket.isUnclaimed || ticket.heldUntil - .now < ticket.lease / 2 {
            try await awaitRunning(ticket, .zero)
        }
        if ticket.hasEnded, !ticket.isNoop { throw ClientError.ended(EndedTransition(ticket.shown)) }
    }

    private func awaitRunning(_ ticket: PendingTransition, _ wait: Duration) async throws {
        // So that a client which is gone, and whose connections a proxy keeps, holds the lock for seconds only.
        let body = ticket.named(["until": "running", "claim": true, "wait": .number(wait.inSeconds)])
        try ticket.note(
            await arbiter.ask(WireRequest("POST", "/transitions/await", body, headers: ticket.headers, wait: wait)))
    }

    private func givingUp<Result: Sendable>(
        _ ticket: PendingTransition, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            // In a task of its own, because this one may be cancelled.
            if ticket.mayWait(after: error) { await Task { await arbiter.giveUp(ticket) }.value }
            throw error
        }
    }
}

extension Arbiter {
    /// The answer to a request of the owner.
    ///
    /// - Throws: `ClientError.ended` if the transition has ended otherwise, or the daemon does not know it any more; `unreachable`;
    ///   `CancellationError`.
    func act(
        _ call: String, on ticket: PendingTransition, _ fields: [String: JSONValue]
    ) async throws -> WireAnswer {
        let request = WireRequest("POST", "/transitions/\(call)", ticket.named(fields), timeout: WireTimes.margin)
        let answer = try await ask(request)
        if let ended = answer.endedTransition { throw ClientError.ended(ended) }
        return answer
    }

    /// Takes back what was asked, wherever it was cut off; what cannot be taken back ends with the session.
    func giveUp(_ ticket: PendingTransition) async {
        if ticket.document == nil {
            // The request may have arrived: the same one with the same key leads to what it made.
            guard let again = ticket.asked, let answer = await lastWords(again), (try? ticket.note(answer)) != nil
            else { return }
        }
        guard !ticket.hasEnded else { return }
        for outcome: [String: JSONValue] in [["outcome": "cancelled"], [:]] {
            let end = WireRequest("POST", "/transitions/end", ticket.named(outcome), timeout: WireTimes.margin)
            // One whose gesture was decided ends as that was.
            guard await lastWords(end)?.document["code"] == "already-decided" else { return }
        }
    }

    /// The answer to a request, which is sent once more if the connection was cut: one that is kept open may have been cut before.
    private func lastWords(_ request: WireRequest) async -> WireAnswer? {
        if let answer = try? await sendOnce(request) { answer } else { try? await sendOnce(request) }
    }
}
