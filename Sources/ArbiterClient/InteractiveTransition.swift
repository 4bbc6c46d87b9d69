internal import Synchronization

/// A transition that a finger drives, from the request on, in the words of `UIPercentDrivenInteractiveTransition`.
///
/// ```swift
/// guard let drag = try await scene.startInteractive(TransitionOptions(.pop("nav"))) else { return }
/// drag.update(0.3)
/// drag.update(0.7)
/// let hasFinished = try await drag.release { remaining, transition in
///     await animate(back: transition.decision != "finish", for: remaining)
/// }
/// ```
///
/// The finger may move and leave before the turn has come, see ``ArbiterScene/serializeInteractive(_:timeout:waiting:)``.
public final class InteractiveTransition: Sendable {
    /// Plays the rest of the animation, which takes so long, and returns when that is over.
    ///
    /// It goes back, unless ``HeldTransition/decision`` is `finish`. A long animation stops when ``HeldTransition/isLost`` is true.
    public typealias Rest = (_ remaining: Duration, _ transition: HeldTransition) async throws -> Void

    private let finger: Finger
    private let turn: Task<HeldTransition, any Error>
    private let isPlaying = Mutex(false)
    /// Whether it has finished, once its rest has been played.
    private let played = SingleResult<Bool>()

    init(_ finger: Finger, turn: Task<HeldTransition, any Error>) {
        self.finger = finger
        self.turn = turn
    }

    // Nobody can release it any more.
    deinit { turn.cancel() }

    /// The transition, when its turn has come; it says whether it is lost.
    ///
    /// Throws what ``ArbiterScene/serialize(_:timeout:waiting:)`` throws; a task that is cancelled while it waits gives the
    /// ticket up, unless the gesture has finished before.
    public var granted: HeldTransition {
        get async throws {
            try await checkThatItIsNotBlockedByItself()
            return try await withTaskCancellationHandler {
                try await turn.value
            } onCancel: {
                turn.cancel()
            }
        }
    }

    /// Says where the finger is.
    ///
    /// It returns at once. One position is sent at a time, and while it is on its way, only the newest is kept. What cannot be
    /// sent is dropped, since the next position replaces it.
    ///
    /// - Parameters:
    ///   - fraction: how much of the transition is done, from 0 to 1; what is less or more counts as 0 or 1, and what is no number
    ///     is ignored.
    ///   - velocity: fractions per second; negative towards the beginning.
    public func update(_ fraction: Double, velocity: Double? = nil) {
        guard fraction.isFinite else { return }
        _ = finger.move(fraction, velocity: velocity?.isFinite == true ? velocity : nil)
    }

    /// The finger has left, and the transition finishes.
    ///
    /// If its turn does not come in time, or the task is cancelled meanwhile, this throws, and the transition finishes at its turn
    /// all the same, without its animation.
    ///
    /// - Parameter rest: plays the rest of the animation; unless given, its time passes.
    /// - Throws: `ClientError.ended` if it was lost, or could not run when its turn came; `refused`, with `already-decided` if it
    ///   goes back; `timedOut`, `blockedBySelf`, `unreachable`; `CancellationError`; what `rest` throws: it ends as decided
    ///   nevertheless.
    public func finish(_ rest: Rest? = nil) async throws {
        _ = try await settle("finish", rest)
    }

    /// The finger has left, and the transition goes back; its operation is not applied.
    ///
    /// Before its turn, it leaves the queue, and `rest` is not called.
    ///
    /// - Parameter rest: plays the way back; unless given, its time passes.
    /// - Throws: the same as `finish(_:)`; nothing if it has left the queue already.
    public func cancel(_ rest: Rest? = nil) async throws {
        _ = try await settle("cancel", rest)
    }

    /// The finger has left, and the policy of the transition decides by the newest position; unless it has another one, it
    /// finishes if more than half is done.
    ///
    /// What is released a second time, while the rest is played or afterwards, waits for that, and does not play it again.
    ///
    /// - Parameter rest: plays the rest of the animation, or the way back; unless given, its time passes.
    /// - Returns: whether it finished; not if there was nothing to do, for which `rest` plays the way back.
    /// - Throws: the same as `finish(_:)`.
    public func release(_ rest: Rest? = nil) async throws -> Bool {
        try await settle(nil, rest)
    }

    private func settle(_ decision: String?, _ rest: Rest?) async throws -> Bool {
        do {
            return try await settled(decision, rest)
        } catch let error as CancellationError {
            // Nobody waits for it any more: it leaves the queue, or ends as it was decided.
            turn.cancel()
            _ = try? await Task { [turn] in try await turn.value.abandon() }.value
            throw error
        }
    }

    private func settled(_ decision: String?, _ rest: Rest?) async throws -> Bool {
        if let failure = finger.failure {
            if decision == "cancel" { return false }
            throw failure
        }
        if decision != "cancel" { try await checkThatItIsNotBlockedByItself() }
        // What is lost must not be decided: that would count when its lease runs out.
        if finger.isGranted, let ending = try await granted.ending { throw ClientError.ended(ending) }
        let released = try await finger.release(decision.map { ["decision": .string($0)] } ?? [:])
        // It has left the queue before its turn, or was released and has ended before.
        if !finger.isNoop, released["state"] == "ended" { return released["outcome"] == "completed" }
        let isFirst = isPlaying.withLock { isPlaying in
            defer { isPlaying = true }
            return !isPlaying
        }
        guard isFirst else { return try await played.value() }
        do {
            let hasFinished = try await play(rest, remaining: released["remaining"]?.number.map { .seconds($0) })
            played.finish(.success(hasFinished))
            return hasFinished
        } catch {
            played.finish(.failure(error))
            throw error
        }
    }

    /// Plays the rest when its turn has come, ends it, and says whether it has finished.
    private func play(_ rest: Rest?, remaining: Duration?) async throws -> Bool {
        let transition = try await granted
        if let ending = transition.ending { throw ClientError.ended(ending) }
        do {
            let bodies = HeldTransition.bodies.union([transition.id])
            try await HeldTransition.$bodies.withValue(bodies) {
                // A finger that left before the turn has drawn nothing.
                let remaining = remaining ?? transition.duration
                if let rest { return try await rest(remaining, transition) }
                await transition.pass(remaining)
                try Task.checkCancellation()
            }
        } catch {
            // The decision stands, however the animation went.
            _ = await Task { try? await transition.endAsDecided() }.value
            throw error
        }
        return try await transition.endAsDecided()["outcome"] == "completed" && !transition.isNoop
    }

    /// - Throws: `ClientError.blockedBySelf`, after which the ticket is given up.
    private func checkThatItIsNotBlockedByItself() async throws {
        let bodies = HeldTransition.bodies
        guard !bodies.isEmpty, let blocked = try await finger.blocked(by: bodies) else { return }
        turn.cancel()
        throw ClientError.blockedBySelf(blocked)
    }
}
