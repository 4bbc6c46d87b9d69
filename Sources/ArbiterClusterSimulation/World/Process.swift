internal import ArbiterCore
internal import ArbiterEngine

/// A process of a node, from its start to its death: with the clock of its machine, alarms and queues.
///
/// While it is paused, what should happen in it waits. In a dead one nothing happens any more: every wait ends at once, so
/// that its threads come to their ends without doing anything that somebody else could see.
final class Process: TimeSource, Alarm {
    private struct State {
        var isPaused = false
        var isDead = false
        /// What has happened during the pause, in its order.
        var missed: [@Sendable () -> Void] = []
    }

    let world: World
    /// The number of the node.
    let node: Int
    private let clock: MachineClock
    private let state = Guarded(State())

    init(_ world: World, node: Int, clock: MachineClock) {
        (self.world, self.node, self.clock) = (world, node, clock)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }
    var isDead: Bool { state.withLock { $0.isDead } }
    var isRunning: Bool { state.withLock { !$0.isPaused && !$0.isDead } }

    /// The clocks of its machine; those of the dead show an instant after everything.
    func now() -> Moment {
        let moment = clock.moment(at: world.timeline.now)
        guard isDead else { return moment }
        return Moment(instant: moment.instant.advanced(by: .seconds(1_000_000)), timestamp: moment.timestamp)
    }

    func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        guard !isDead else { return }
        // An alarm may be late.
        let delay = clock.outside(delay) + world.chance.duration(.zero ... .milliseconds(2))
        world.timeline.schedule(after: delay, in: self, bell)
    }

    /// Has something happen here now, or after the pause.
    func run(_ body: @escaping @Sendable () -> Void) {
        let isRunning = state.withLock { state in
            if state.isPaused, !state.isDead { state.missed.append(body) }
            return !state.isPaused && !state.isDead
        }
        if isRunning { body() }
    }

    func pause() { state.withLock { $0.isPaused = true } }

    /// Goes on; what has happened meanwhile happens now, nearly at once and not quite in its order.
    func goOn() {
        let missed = state.withLock { state in
            defer { (state.isPaused, state.missed) = (false, []) }
            return state.missed
        }
        for body in missed {
            world.timeline.schedule(after: world.chance.duration(.zero ... .milliseconds(40)), in: self, body)
        }
    }

    func die() { state.withLock { ($0.isDead, $0.isPaused, $0.missed) = (true, false, []) } }
}

/// The clock of a machine, with a speed and an origin of its own.
struct MachineClock: Sendable {
    /// What it shows at the beginning of the world.
    let origin: Instant
    /// How much faster it runs than the world's, in millionths.
    let drift: Int64

    /// What it shows.
    func moment(at now: Instant) -> Moment {
        let passed = now.nanoseconds + now.nanoseconds / 1_000_000 * drift
        return Moment(
            instant: origin.advanced(by: .nanoseconds(passed)),
            timestamp: Timestamp(milliseconds: 1_700_000_000_000 + passed / 1_000_000))
    }

    /// How long a duration on this clock is in the world.
    func outside(_ duration: Duration) -> Duration {
        let nanoseconds = Double(max(0, duration.wholeNanoseconds)) / (1 + Double(drift) / 1_000_000)
        return .nanoseconds(Int64(nanoseconds.rounded(.up)))
    }
}
