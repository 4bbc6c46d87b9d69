/// A reading of the arbiter's monotonic clock, in nanoseconds from an arbitrary origin.
///
/// Every duration (lease, ticket, wait) is the difference of two instants, so a jump of the wall clock changes none.
package struct Instant: Hashable, Sendable, InstantProtocol {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds + duration.wholeNanoseconds)
    }

    package func duration(to other: Instant) -> Duration {
        Duration(wholeNanoseconds: other.nanoseconds - nanoseconds)
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A wall-clock time in milliseconds since 1970-01-01T00:00:00Z, for people to read; no decision depends on it.
package struct Timestamp: Hashable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }
}

/// The time of a turn on both clocks, read once by the engine.
package struct Moment: Hashable, Sendable {
    package let instant: Instant
    package let timestamp: Timestamp

    package init(instant: Instant, timestamp: Timestamp) {
        self.instant = instant
        self.timestamp = timestamp
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero; the limits keep every duration far below 292 years.
    package var wholeNanoseconds: Int64 {
        // The quotient fits into 64 bits, which processors divide much sooner than two numbers of 128 bits.
        let attoseconds = self.attoseconds
        let (high, low) = (attoseconds.magnitude >> 64, UInt64(truncatingIfNeeded: attoseconds.magnitude))
        let magnitude = Self.attosecondsInNanosecond.dividingFullWidth((UInt64(high), low)).quotient
        return attoseconds < 0 ? -Int64(magnitude) : Int64(magnitude)
    }

    package init(wholeNanoseconds nanoseconds: Int64) {
        self.init(attoseconds: Int128(nanoseconds) * Int128(Self.attosecondsInNanosecond))
    }

    private static let attosecondsInNanosecond: UInt64 = 1_000_000_000
}
