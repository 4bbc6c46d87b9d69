internal import ArbiterEngine
internal import DequeModule

/// Wakes readers a few at a time.
///
/// Whoever is woken reads at once, on a thread that serves requests too: a thousand woken together would all be served
/// before the request that comes next.
final class WakeGate: Sendable {
    private let limit: Int
    private let state = Guarded(State())

    private struct State {
        var waiting: Deque<EventSubscription> = []
        /// How many have been woken and have not read yet.
        var passing = 0
    }

    /// - Parameter limit: how many may be on their way at once, from 1.
    init(limit: Int) {
        self.limit = limit
    }

    /// Wakes a reader at its turn.
    func wake(_ reader: EventSubscription) {
        state.withLock { $0.waiting.append(reader) }
        letPass()
    }

    /// One that was woken has read, or is over.
    func passed() {
        state.withLock { $0.passing -= 1 }
        letPass()
    }

    private func letPass() {
        while let reader = next() {
            if !reader.wakeNow() { state.withLock { $0.passing -= 1 } }
        }
    }

    private func next() -> EventSubscription? {
        state.withLock { [limit] state in
            guard state.passing < limit, let reader = state.waiting.popFirst() else { return nil }
            state.passing += 1
            return reader
        }
    }
}
