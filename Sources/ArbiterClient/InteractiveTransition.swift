internal import Synchronization

/// A transition that a finger drives, in the words of `UIPercentDrivenInteractiveTransition`.
///
/// ```swift
/// guard let drag = try await scene.startInteractive(TransitionOptions(.pop("nav"))) else { return }
/// drag.update(0.3)
/// drag.update(0.7)
/// let hasFinished = try await drag.release { remaining in await animateRest(for: remaining) }
/// ```
public final class InteractiveTransition: Sendable {
    /// Plays the rest of the animation, which takes so long, and returns when that is over.
    public typealias Rest = @Sendable (_ remaining: Duration) async throws -> Void

    /// The transition, which says whether it is lost.
    public let transition: HeldTransition
    private let state = Mutex(State())

    private struct State {
        /// The newest position that was not sent yet.
        var next: Position?
        var sender: Task<Void, Never>?
        var isReleased = false
    }

    private struct Position {
        let fraction: Double
        let velocity: Double?
    }

    init(_ transition: HeldTransition) { self.transition = transition }

    /// Says where the finger is.
    ///
    /// It returns at once. One position is sent at a time, and while it is on its way, only the newest is kept. What cannot be
    /// sent is dropped, since the next position replaces it.
    ///
    /// - Parameters:
    ///   - fraction: how much of the transition is done, from 0 to 1.
    ///   - velocity: fractions per second; negative towards the beginning.
    public func update(_ fraction: Double, velocity: Double? = nil) {
        state.withLock { state in
            guard !state.isReleased else { return }
            state.next = Position(fraction: fraction, velocity: velocity)
            if state.sender == nil { state.sender = Task { await send() } }
        }
    }

    /// The finger has left, and the transition finishes.
    ///
    /// - Parameter rest: plays the rest of the animation; unless given, its time passes.
    /// - Throws: `ClientError.ended` if it was lost; `unreachable`; `CancellationError`; what `rest` throws: it ends as decided
    ///   nevertheless.
    public func finish(_ rest: @escaping Rest = { try await Task.sleep(for: $0) }) async throws {
        _ = try await settle("finish", rest)
    }

    /// The finger has left, and the transition goes back; its operation is not applied.
    ///
    /// - Parameter rest: plays the way back; unless given, its time passes.
    /// - Throws: the same as `finish(_:)`.
    public func cancel(_ rest: @escaping Rest = { try await Task.sleep(for: $0) }) async throws {
        _ = try await settle("cancel", rest)
    }

    /// The finger has left, and the policy of the transition decides; unless it has another one, it finishes if more than half
    /// is done.
    ///
    /// - Parameter rest: plays the rest of the animation, or the way back; unless given, its time passes.
    /// - Returns: whether it finished.
    /// - Throws: the same as `finish(_:)`.
    public func release(_ rest: @escaping Rest = { try await Task.sleep(for: $0) }) async throws -> Bool {
        try await settle(nil, rest)
    }

    private func settle(_ decision: String?, _ rest: Rest) async throws -> Bool {
        let sender = state.withLock { state in
            state.isReleased = true
            return state.sender
        }
        // The policy has to know the last position.
        await sender?.value
        let released = try await transition.release(decision)
        do {
            try await rest(.seconds(released["remaining"]?.number ?? 0))
        } catch {
            // The decision stands, however the animation went.
            _ = await Task { try? await transition.endAsDecided() }.value
            throw error
        }
        return try await transition.endAsDecided()["outcome"]?.string == "completed"
    }

    private func send() async {
        while let next = state.withLock({ state in
            defer { state.next = nil }
            if state.next == nil { state.sender = nil }
            return state.next
        }) {
            _ = try? await transition.progress(next.fraction, velocity: next.velocity)
        }
    }
}
