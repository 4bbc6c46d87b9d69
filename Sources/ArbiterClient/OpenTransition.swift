internal import Synchronization

/// A transition that a `TransitionLock` has begun without an operation, and that may be given one.
final class OpenTransition: Sendable {
    /// A lock, for its transitions, which do not refer to it: one that is dropped gives back what it holds.
    final class Lock: Sendable {}

    let transition: HeldTransition
    let lock: Lock
    private let completed = SingleResult<Void>()
    private let state = Mutex(State())

    /// The transition whose operation this code draws.
    @TaskLocal private static var drawn: OpenTransition?

    private struct State {
        var isOpen = true
        /// The operation that was asked last.
        var last: Task<[String], any Error>?
        /// Whether it has its operation.
        var isPerformed = false
        /// Why its operation was not drawn to the end, or may have been accepted unheard, so that it is not to be applied.
        var failure: (any Error)?
    }

    init(_ transition: HeldTransition, of lock: Lock) {
        self.transition = transition
        self.lock = lock
    }

    /// Whether its owner has not said that it is complete.
    var isOpen: Bool { state.withLock { $0.isOpen } }
    var failure: (any Error)? { state.withLock { $0.failure } }

    // MARK: - Operations

    /// Performs an operation as its own.
    ///
    /// - Parameters:
    ///   - operation: the operation.
    ///   - expectations: what must hold.
    ///   - isAnimated: whether it is drawn.
    ///   - performer: draws it.
    /// - Returns: what the operation removes; `nil` if it does not belong to this transition, because that is complete.
    func perform(
        _ operation: TransitionOperation, _ expectations: JSONValue?, _ isAnimated: Bool,
        by performer: @escaping TransitionLock.Performer
    ) -> Task<[String], any Error>? {
        state.withLock { state in
            // What is asked of one that is lost fails as it does.
            if let lost = transition.ending { return Task { throw ClientError.ended(lost) } }
            guard state.isOpen else { return nil }
            // Not after what is drawn now, which may be what asks.
            if state.isPerformed { return Task { throw ClientError.alreadyPerformed } }
            let last = state.last
            let performed = Task {
                // One after the other, in the order of the calls.
                _ = await last?.result
                return try await perform(operation, expectations, isAnimated, performer)
            }
            state.last = performed
            return performed
        }
    }

    private func perform(
        _ operation: TransitionOperation, _ expectations: JSONValue?, _ isAnimated: Bool,
        _ performer: TransitionLock.Performer
    ) async throws -> [String] {
        guard !state.withLock({ $0.isPerformed }) else { throw ClientError.alreadyPerformed }
        let performed = try await ask(operation, expectations, isAnimated)
        guard performed["noop"] != true else { return [] }
        do {
            try await Self.$drawn.withValue(self) { try await performer(transition) }
            if let lost = transition.ending { throw ClientError.ended(lost) }
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
        return performed.removed
    }

    private func ask(
        _ operation: TransitionOperation, _ expectations: JSONValue?, _ isAnimated: Bool
    ) async throws -> JSONValue {
        do {
            let performed = try await transition.perform(operation, expecting: expectations, isAnimated: isAnimated)
            // What was asked before was not accepted, or was this.
            if performed["noop"] != true { state.withLock { ($0.isPerformed, $0.failure) = (true, nil) } }
            return performed
        } catch {
            if error.mayHaveHappened { state.withLock { $0.failure = error } }
            throw error
        }
    }

    // MARK: - Ends

    /// It gets no operation any more, and its block is over.
    func complete() {
        state.withLock { $0.isOpen = false }
        lose()
    }

    /// Its block is over, whatever that still does.
    func lose() { completed.finish(.success(())) }

    func untilComplete() async { _ = try? await completed.value() }

    /// Returns when what it was asked has been performed, it is lost, or this code is what draws.
    func untilPerformed() async {
        guard Self.drawn !== self, let last = state.withLock({ $0.last }) else { return }
        let over = SingleResult<Void>()
        let losing = Task {
            await transition.untilLost()
            over.finish(.success(()))
        }
        Task {
            _ = await last.result
            over.finish(.success(()))
        }
        _ = try? await over.value()
        losing.cancel()
    }

    /// Ends it when what it was asked has been performed.
    func end() async throws {
        await untilPerformed()
        try await transition.end(failed: failure != nil)
    }
}

extension ClientError {
    /// What the daemon says of another operation; it takes the same one for a repetition.
    fileprivate static var alreadyPerformed: ClientError {
        .refused(
            Refusal(
                status: 409,
                [
                    "code": "already-performed", "title": "The transition has another operation already",
                    "detail": "A transition has one operation: ask for another transition.",
                ]))
    }
}

extension Error {
    /// Whether what was asked may have happened nevertheless.
    fileprivate var mayHaveHappened: Bool {
        guard case .refused(let refusal) = self as? ClientError else { return true }
        return [429, 503].contains(refusal.status) && refusal.code != "older-rules"
    }
}
