internal import ArbiterCore
internal import ArbiterEngine

/// The clocks of the simulated machine, which the simulation moves.
final class MachineClock: TimeSource {
    private struct State {
        /// The clients' time.
        var outside = Instant(nanoseconds: 0)
        /// How far the machine's clock is ahead of it; a restart of the machine changes it.
        var ahead = Duration.zero
        /// How far the wall clock is ahead of it.
        var wallAhead = Duration.seconds(1_000_000)
    }

    private let state = Guarded(State())

    func now() -> Moment {
        state.withLock { state in
            let wall = state.outside.advanced(by: state.wallAhead).nanoseconds
            return Moment(
                instant: state.outside.advanced(by: state.ahead),
                timestamp: Timestamp(milliseconds: wall / 1_000_000))
        }
    }

    /// The clients' time, which goes on when the machine does not run.
    var outside: Instant { state.withLock { $0.outside } }

    func advance(by duration: Duration) {
        state.withLock { $0.outside = $0.outside.advanced(by: duration) }
    }

    func jumpWall(by duration: Duration) {
        state.withLock { $0.wallAhead += duration }
    }

    /// The machine restarts, and its clock begins at another instant.
    func restart(showing instant: Instant) {
        state.withLock { $0.ahead = $0.outside.duration(to: instant) }
    }
}
