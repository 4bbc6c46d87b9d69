package import ArbiterCore
internal import Glibc

/// Where the engine reads the time.
package protocol TimeSource: Sendable {
    func now() -> Moment
}

/// The machine's clocks: `CLOCK_MONOTONIC` to reckon with, `CLOCK_REALTIME` to show.
package struct SystemTimeSource: TimeSource {
    package init() {}

    package func now() -> Moment {
        let wall = Self.read(CLOCK_REALTIME)
        return Moment(
            instant: Instant(nanoseconds: Self.read(CLOCK_MONOTONIC)),
            timestamp: Timestamp(milliseconds: wall / 1_000_000)
        )
    }

    /// A clock's reading in nanoseconds.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let status = unsafe clock_gettime(clock, &time)
        precondition(status == 0, "clock \(clock) cannot be read")
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
