/// A transition that this client holds, until it ends it.
///
/// Its lease is kept by a parked request, which also tells at once if it is lost. One that nobody refers to any more is given
/// back, and standard error says so.
public final class HeldTransition: Sendable {
    private let ticket: PendingTransition
    private let arbiter: Arbiter
    private let keeper: LeaseKeeper
    private let finger: Finger

    /// The ids of the transitions in whose bodies this task is, or the one that has begun it.
    @TaskLocal static var bodies: Set<String> = []

    init(_ ticket: PendingTransition, of arbiter: Arbiter, finger: Finger? = nil) {
        self.ticket = ticket
        self.arbiter = arbiter
        self.finger = finger ?? Finger(ticket, of: arbiter)
        keeper = LeaseKeeper(ticket, of: arbiter)
    }

    deinit { keeper.forget() }

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

    /// The transition as it was granted, or given its operation, without its token; after its end the ended one.
    ///
    /// ``Arbiter/read(_:)`` asks for how it is now.
    public var document: JSONValue { keeper.endedByOwner ?? ending?.document ?? ticket.shown }

    /// How long its animation takes, as the daemon has resolved it.
    public var duration: Duration {
        .seconds(ticket.isAnimated ? ticket.document?["animation"]?["duration"]?.number ?? 0 : 0)
    }

    /// How its gesture was decided, `finish` or `cancel`; `nil` before that, and if there was nothing to do.
    public var decision: String? { ticket.decision }

    /// What its operation has removed, once its owner has completed it.
    var removed: [String] { keeper.endedByOwner?.removed ?? [] }

    /// Whether it has ended without its owner: what was begun must not be continued.
    public var isLost: Bool { ending != nil }

    /// How it was lost; `nil` while it is not.
    public var ending: EndedTransition? { keeper.loss }

    /// Its interruption, with `by`, `client` and `graceRemaining` as they were when it was heard of; `nil` before that.
    ///
    /// It ends when its grace is over, or when its owner ends it: put the screen in order until then.
    public var interruption: JSONValue? { keeper.interruption }

    /// Returns as soon as its interruption begins, it has ended, or the task is cancelled.
    public func untilInterrupted() async { await keeper.untilOver(orInterrupted: true) }

    /// Until when the lease certainly lasts.
    package var heldUntil: ContinuousClock.Instant { ticket.heldUntil }

    /// Whether the daemon was asked twice in vain since its last answer.
    package var isUnanswered: Bool { keeper.isUnanswered }

    /// Returns as soon as it is lost, its owner has ended it, or the task is cancelled.
    public func untilLost() async { await keeper.untilOver() }

    /// Passes its ``duration``, or less if it is lost or the task is cancelled.
    public func passDuration() async { await pass(duration) }

    /// Passes so much time, or less if it is lost or the task is cancelled.
    func pass(_ time: Duration) async {
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { await self.untilLost() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Gives it the operation that it was begun without, which is applied when it completes.
    ///
    /// An operation that would change nothing does not count: another one may follow.
    ///
    /// - Parameters:
    ///   - operation: what it does to the hierarchy; it touches only what is held.
    ///   - expecting: what must hold now, as `expect` of the wire.
    ///   - isAnimated: whether it is drawn; if not, ``duration`` is zero from now on.
    ///   - ignoresGuards: whether it may remove what others guard; that needs the role `design`.
    /// - Returns: the transition, with what the operation will have `inserted` and `removed`, or with `noop`.
    /// - Throws: `ClientError.refused` if the operation is not possible now, with `already-performed` if it has another one,
    ///   with `outside-scope`, and with `guarded`; `ended` if it has ended; `unreachable`; `CancellationError`.
    @discardableResult
    public func perform(
        _ operation: TransitionOperation, expecting: JSONValue? = nil, isAnimated: Bool = true,
        ignoresGuards: Bool = false
    ) async throws -> JSONValue {
        if let ending { throw ClientError.ended(ending) }
        var fields = operation.members
        fields["expect"] = expecting
        if ignoresGuards { fields["ignoreGuards"] = true }
        let answer = try await arbiter.act("perform", on: ticket, fields)
        let performed = try answer.accepted()
        if performed["noop"] == true { return performed }
        try ticket.note(answer)
        ticket.isAnimated = isAnimated
        return performed
    }

    /// Changes how it is animated.
    ///
    /// - Parameter animation: `duration`, `curve`, `completionSpeed` and `userInfo` as the wire has them; the others stay.
    /// - Returns: the transition.
    /// - Throws: `ClientError.ended` if it has ended; `refused`, `unreachable`; `CancellationError`.
    @discardableResult
    public func update(_ animation: JSONValue) async throws -> JSONValue {
        if let ending { throw ClientError.ended(ending) }
        let answer = try await arbiter.act("update", on: ticket, ["animation": animation])
        let updated = try answer.accepted()
        try ticket.note(answer)
        return updated
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
    /// One position is sent at a time, and while it is on its way, only the newest is kept. A late one is no error.
    ///
    /// - Parameters:
    ///   - fraction: how much of the transition is done, from 0 to 1.
    ///   - velocity: fractions per second; negative towards the beginning.
    ///   - sequence: a number that grows, if the positions do not come here in their order; one more than the last unless given.
    /// - Returns: the transition, and whether this position or a newer one was `applied`.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func progress(
        _ fraction: Double, velocity: Double? = nil, sequence: Int? = nil
    ) async throws -> JSONValue {
        guard fraction.isFinite, velocity?.isFinite ?? true else { throw ClientError.infiniteNumber }
        guard let sender = finger.move(fraction, velocity: velocity, sequence: sequence) else { return finger.ignored }
        // It goes on if this task is cancelled: it may have the position of another one.
        return try await sender.value
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
        let fields: [String: JSONValue?] = [
            "decision": decision.map { .string($0) }, "fraction": fraction.map { .number($0) },
            "velocity": velocity.map { .number($0) }, "cancelled": isCancelled.map { .bool($0) },
            "completionSpeed": completionSpeed.map { .number($0) },
        ]
        return try await finger.release(fields.compactMapValues(\.self))
    }

    /// Ends it as its gesture was decided, or as completed if there was none; nothing if its owner has ended it before.
    ///
    /// - Returns: the transition.
    /// - Throws: `ClientError.ended` if it has ended without its owner; `unreachable`; `CancellationError`.
    @discardableResult
    func endAsDecided() async throws -> JSONValue {
        if let ended = keeper.endedByOwner { return ended }
        return try await end(decision != nil ? nil : "completed")
    }

    /// Ends it as its gesture was decided, or as completed, or as cancelled if what it was held for has failed; nothing if its owner
    /// has ended it before.
    ///
    /// - Throws: what ``complete()`` throws.
    func end(failed: Bool) async throws {
        guard keeper.endedByOwner == nil else { return }
        do {
            _ = try await end(decision != nil ? nil : failed ? "cancelled" : "completed")
        } catch ClientError.refused(let refusal) {
            // It would go on, but nobody holds it any more.
            keeper.giveBack()
            throw ClientError.refused(refusal)
        }
    }

    /// How its owner has ended it, if not as completed.
    var endedOtherwise: EndedTransition? {
        guard let ended = keeper.endedByOwner, ended["outcome"] != "completed" else { return nil }
        return EndedTransition(ended)
    }

    /// Ends it because what it was held for has failed; nothing if its owner has ended it before.
    func abandon() async {
        _ = try? await end(failed: true)
    }

    private func end(_ outcome: String?) async throws -> JSONValue {
        isNoop ? document : try await keeper.end(outcome)
    }
}

extension JSONValue {
    /// What the operation of a transition removes, in the order popped or dismissed.
    var removed: [String] { self["removed"]?.array?.compactMap(\.string) ?? [] }
}
