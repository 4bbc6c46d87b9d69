internal import Synchronization

/// What is awaited once, and finished once: later results are ignored.
final class SingleResult<Value: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var result: Result<Value, any Error>?
        var continuation: CheckedContinuation<Value, any Error>?
    }

    var isFinished: Bool { state.withLock { $0.result != nil } }

    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func finish(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
