import ArbiterClient

// The examples of TransitionLock.

extension Agent {
    /// The first example of TransitionLock.
    func performSegue(_ lock: TransitionLock) async throws -> [String: JSONValue] {
        guard try await lock.startTransition() else { return ["started": false] }
        return try await Self.completion { done in
            lock.performSegue("mySegue", sender: "list") { completion in
                lock.endTransition()
                done(completion)
            }
        }
    }

    /// The second one.
    func dismissInTurn(_ lock: TransitionLock, then next: String) async throws -> [String: JSONValue] {
        let (dismissed, again) = (SingleCompletion(), SingleCompletion())
        let pushed = SingleCompletion()
        let turn = try await Self.completion { done in
            lock.serializeTransition {
                lock.dismiss("list") { dismissed.note($0) }
                lock.dismiss("list") { completion in
                    again.note(completion)
                    lock.transitionComplete()
                    // A transition of its own, which comes after the one of the block.
                    lock.push(ControllerNode(.string(next)), onto: "nav") { pushed.note($0) }
                }
            } completion: {
                done($0)
            }
        }
        guard case .finished = await pushed.value() else { return [:] }
        return await turn.merging(["dismissed": dismissed.shown(), "again": again.shown()]) { $1 }
    }

    /// A block whose transition is lost while its operation is drawn, and that goes on.
    func loseInTurn(_ lock: TransitionLock) async -> [String: JSONValue] {
        let (turn, editor, note) = (SingleCompletion(), SingleCompletion(), SingleCompletion())
        lock.serializeTransition {
            lock.push("editor", onto: "nav") {
                editor.note($0)
                lock.push("note", onto: "nav") { note.note($0) }
            }
        } completion: {
            turn.note($0)
        }
        return await ["turn": turn.shown(), "pushed": [editor.shown(), note.shown()]]
    }

    /// What a completion is called with, once.
    private static func completion(
        _ begin: (@escaping @Sendable (TransitionLock.Completion) -> Void) -> Void
    ) async throws -> [String: JSONValue] {
        // A second call would end the process.
        switch await withCheckedContinuation({ done in begin { done.resume(returning: $0) } }) {
        case .finished(let removed): return ["removed": .array(removed.map { .string($0) })]
        case .cancelled(let error): throw error
        }
    }
}

/// What a completion is called with, once.
final class SingleCompletion: Sendable {
    private let stream = AsyncStream<TransitionLock.Completion>.makeStream()

    func note(_ completion: TransitionLock.Completion) { stream.continuation.yield(completion) }

    func value() async -> TransitionLock.Completion? {
        for await completion in stream.stream { return completion }
        return nil
    }

    /// What was removed, the code of the refusal, or how it ended.
    func shown() async -> JSONValue {
        switch await value() {
        case .finished(let removed): .array(removed.map { .string($0) })
        case .cancelled(ClientError.refused(let refusal)): .string(refusal.code)
        case .cancelled(ClientError.ended(let ending)): .string(ending.outcome)
        case .cancelled, nil: .null
        }
    }
}
