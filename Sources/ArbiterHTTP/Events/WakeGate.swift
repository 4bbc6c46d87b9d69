internal import ArbiterEngine
internal import DequeModule

/// Wakes a few readers at a time.
///
/// A reader that is woken is read at once, on a thread that also serves requests. If a thousand were woken together,
/// all of them would be served before the next request.
final class WakeGate: Sendable {
    private let limit: Int
    private let state = Guarded(State())

    private struct State {
        var waiting: Deque<EventSubscription> = []
        /// The number of readers that have been woken and have not read yet.
        var passing = 0
    }

    /// - Parameter limit: how many readers may be awake at once, at least 1.
    init(limit: Int) {
        self.limit = limit
    }

    /// Wakes a reader when its turn comes.
    func wake(_ reader: EventSubscription) {
        state.withLock { $0.waiting.append(reader) }
        letPass()
    }

    /// A reader that was woken has read, or is closed.
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
