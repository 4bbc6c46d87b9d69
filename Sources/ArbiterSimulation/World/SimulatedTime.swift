internal import ArbiterCore
internal import ArbiterEngine

/// The engine's time: `RunningTime` on the simulated machine's clock, with the planted faults.
final class SimulatedTime: TimeSource {
    private struct State {
        /// A planted fault: how far the engine's clock is ahead.
        var skew = Duration.zero
        var lastRead: Moment?
    }

    private let running: RunningTime
    private let state = Guarded(State())

    init(_ machine: MachineClock) {
        running = RunningTime(machine, heartbeat: nil)
    }

    func now() -> Moment {
        let moment = running.now()
        return state.withLock { state in
            let read = Moment(instant: moment.instant.advanced(by: state.skew), timestamp: moment.timestamp)
            state.lastRead = read
            return read
        }
    }

    var standstill: Duration { running.standstill }

    /// Reads the clock without the faults, as the heartbeat does.
    var instant: Instant { running.now().instant }

    /// The last moment that the engine has read.
    var lastRead: Moment? { state.withLock { $0.lastRead } }

    /// Plants a fault: moves the engine's clock.
    func skew(by duration: Duration) {
        state.withLock { $0.skew += duration }
    }

    func resetSkew() {
        state.withLock { $0.skew = .zero }
    }
}
