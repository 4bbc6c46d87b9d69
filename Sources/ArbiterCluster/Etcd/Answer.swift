internal import ArbiterEngine
internal import Dispatch

/// Waits for answers, on threads that have nothing else to do.
enum Answer {
    /// Calls something that answers later, and waits for the answer; not to be called on the thread that gives it.
    static func wait<Value: Sendable, Failure: Error>(
        for ask: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) throws(Failure) -> Value {
        let semaphore = DispatchSemaphore(value: 0)
        let answer = Guarded(Result<Value, Failure>?.none)
        ask { result in
            answer.withLock { $0 = result }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = answer.withLock({ $0 }) else { preconditionFailure("an answer without a result") }
        return try result.get()
    }
}

/// What a thread waits for between two attempts.
struct WaitingBell: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    @Sendable func ring() { semaphore.signal() }

    func wait() { semaphore.wait() }
}
