package import ArbiterCore
internal import ArbiterEngine

/// Clocks that move only on command.
package final class ManualTime: TimeSource {
    private let moment: Guarded<Moment>

    /// Clocks that show this moment; by default an hour after the monotonic clock's origin, on 2026-01-01.
    package init(
        instant: Instant = Instant(nanoseconds: 3_600_000_000_000),
        timestamp: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)
    ) {
        moment = Guarded(Moment(instant: instant, timestamp: timestamp))
    }

    package func now() -> Moment {
        moment.withLock { $0 }
    }

    /// Advances both clocks.
    package func advance(by duration: Duration) {
        moment.withLock { moment in
            moment = Moment(
                instant: moment.instant.advanced(by: duration),
                timestamp: moment.timestamp.advanced(by: duration))
        }
    }

    /// Moves the wall clock only; backwards if the duration is negative.
    package func jumpWallClock(by duration: Duration) {
        moment.withLock { moment in
            moment = Moment(instant: moment.instant, timestamp: moment.timestamp.advanced(by: duration))
        }
    }
}

extension Timestamp {
    fileprivate func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds + duration.wholeNanoseconds / 1_000_000)
    }
}
