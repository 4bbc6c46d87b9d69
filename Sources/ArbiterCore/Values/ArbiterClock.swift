/// The arbiter's clock: it follows the machine's clock, but stands still while the process does not run.
///
/// It must be read often, even if no event needs the time. Then a long gap between two readings means that the
/// process was stopped or swapped out, or that the machine was suspended. No client could be heard during the gap, so
/// the gap does not count. The clock also stands still for a moment after the gap, in which the daemon reads the
/// requests that arrived meanwhile.
///
/// Each interval between two readings is counted in full or not at all, apart from that moment. So the clock never goes
/// back, and after several gaps in a row it stands still for one moment only, after the last of them.
package struct ArbiterClock: Hashable, Sendable {
    /// The time that this clock shows.
    package private(set) var instant: Instant
    /// The remaining time for which the clock stands still.
    package private(set) var standstill = Duration.zero
    /// The time of the machine's clock at the last reading.
    private var machine: Instant

    /// Creates a clock that shows `instant` when the machine's clock shows `machine`.
    package init(showing instant: Instant, at machine: Instant) {
        self.instant = instant
        self.machine = machine
    }

    /// Advances the clock to a reading of the machine's clock.
    ///
    /// - Returns: The time that this clock shows now.
    package mutating func read(_ machine: Instant) -> Instant {
        let passed = self.machine.duration(to: machine)
        guard passed > .zero else { return instant }
        self.machine = machine
        guard passed <= Limits.longestBetweenReadings else {
            standstill = Limits.standstillAfterPause
            return instant
        }
        let still = min(standstill, passed)
        standstill -= still
        instant = instant.advanced(by: passed - still)
        return instant
    }
}
