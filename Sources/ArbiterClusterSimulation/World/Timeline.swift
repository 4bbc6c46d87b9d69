internal import ArbiterCore
internal import ArbiterEngine
internal import HeapModule

/// What is going to happen, and when, on one clock that nobody in the simulated world can read.
final class Timeline: Sendable {
    /// Something that happens at an instant.
    struct Entry: Comparable, Sendable {
        let instant: Instant
        let number: UInt64
        /// Where it happens; `nil` if that is in no process.
        let process: Process?
        let body: @Sendable () -> Void

        static func < (left: Entry, right: Entry) -> Bool {
            (left.instant, left.number) < (right.instant, right.number)
        }

        static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
    }

    private struct State {
        var now = Instant(nanoseconds: 0)
        var entries = Heap<Entry>()
        var lastNumber: UInt64 = 0
    }

    private let state = Guarded(State())

    var now: Instant { state.withLock { $0.now } }

    /// Has something happen after a while.
    ///
    /// - Parameters:
    ///   - delay: after how long.
    ///   - process: where; what happens in a process that is paused waits, and in a dead one it does not happen.
    ///   - body: what happens.
    func schedule(after delay: Duration, in process: Process? = nil, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.lastNumber += 1
            state.entries.insert(
                Entry(
                    instant: state.now.advanced(by: max(.zero, delay)), number: state.lastNumber, process: process,
                    body: body))
        }
    }

    /// Takes what happens next, and moves on to its instant.
    func takeNext() -> Entry? {
        state.withLock { state in
            guard let entry = state.entries.popMin() else { return nil }
            state.now = max(state.now, entry.instant)
            return entry
        }
    }

    /// Forgets everything that was going to happen.
    func clear() { state.withLock { $0.entries = Heap() } }
}
