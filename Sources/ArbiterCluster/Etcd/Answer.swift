internal import ArbiterEngine

/// Waits for answers, where nothing else has to be done.
enum Answer {
    /// Calls something that answers later, and waits for the answer; not to be called where the answer is given.
    static func wait<Value: Sendable, Failure: Error>(
        _ workers: any Workers, for ask: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) throws(Failure) -> Value {
        let bell = workers.bell()
        let answer = Guarded(Result<Value, Failure>?.none)
        ask { result in
            answer.withLock { $0 = result }
            bell.ring()
        }
        bell.wait()
        guard let result = answer.withLock({ $0 }) else { preconditionFailure("an answer without a result") }
        return try result.get()
    }
}
