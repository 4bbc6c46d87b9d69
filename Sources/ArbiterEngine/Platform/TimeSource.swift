package import ArbiterCore
internal import Glibc

/// The engine's source of time.
package protocol TimeSource: Sendable {
    func now() -> Moment

    /// How long the instants will stay the same from now on.
    var standstill: Duration { get }
}

extension TimeSource {
    package var standstill: Duration { .zero }
}

/// The machine's clocks: `CLOCK_BOOTTIME` for durations, because it also counts while the machine is suspended, and
/// `CLOCK_REALTIME` for timestamps.
package struct SystemTimeSource: TimeSource {
    package init() {}

    package func now() -> Moment {
        let wall = Self.read(CLOCK_REALTIME)
        return Moment(
            instant: Instant(nanoseconds: Self.read(CLOCK_BOOTTIME)),
            timestamp: Timestamp(milliseconds: wall / 1_000_000)
        )
    }

    /// The time of a clock in nanoseconds.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let status = unsafe clock_gettime(clock, &time)
        precondition(status == 0, "clock \(clock) cannot be read")
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
