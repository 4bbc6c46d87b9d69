package import ArbiterCore
package import ArbiterEngine

/// An alarm that rings only on command.
package final class ManualAlarm: Alarm {
    private struct State {
        var pending: [(instant: Instant, bell: @Sendable () -> Void)] = []
        var settings: [Instant] = []
    }

    private let state = Guarded(State())
    private let time: any TimeSource

    package init(time: any TimeSource) {
        self.time = time
    }

    package func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        let instant = time.now().instant.advanced(by: delay)
        state.withLock { state in
            state.pending.append((instant, bell))
            state.settings.append(instant)
        }
    }

    /// Every instant for which it was ever set, in the order of the calls.
    package var settings: [Instant] {
        state.withLock { $0.settings }
    }

    /// The instants for which it has not rung yet, the earliest first.
    package var pending: [Instant] {
        state.withLock { $0.pending.map(\.instant).sorted() }
    }

    /// Rings everything that is due, the earliest first, including what is set meanwhile.
    ///
    /// - Returns: how often it rang.
    @discardableResult
    package func ringDue() -> Int {
        var count = 0
        while ringNext(by: time.now().instant) { count += 1 }
        return count
    }

    /// Rings the earliest setting, even if it is not due.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func ringEarliest() -> Bool {
        ringNext(by: Instant(nanoseconds: .max))
    }

    private func ringNext(by limit: Instant) -> Bool {
        let bell = state.withLock { state -> (@Sendable () -> Void)? in
            let index = state.pending.indices.min { state.pending[$0].instant < state.pending[$1].instant }
            guard let index, state.pending[index].instant <= limit else { return nil }
            return state.pending.remove(at: index).bell
        }
        bell?()
        return bell != nil
    }
}
