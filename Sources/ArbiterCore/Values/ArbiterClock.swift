/// The arbiter's clock: it goes with the machine's, and stands still while the arbiter's process does not run.
///
/// It has to be read often, whether or not anybody needs the time. Then a long gap between two readings means that the
/// process was stopped, swapped out or on a suspended machine. Nobody could be heard in the gap, so it counts for
/// nobody, and the clock stands still for a moment longer, so that what arrived meanwhile is heard before time goes on.
///
/// A gap is either counted whole or not at all, and only one reading sees it. So the clock never goes back, and however
/// many gaps follow one another, it stands still for one moment behind the last of them.
package struct ArbiterClock: Hashable, Sendable {
    /// What it shows.
    package private(set) var instant: Instant
    /// For how long it is still to stand still.
    package private(set) var standstill = Duration.zero
    /// What the machine's clock showed at the last reading.
    private var machine: Instant

    /// A clock that shows an instant, while the machine's shows another.
    package init(showing instant: Instant, at machine: Instant) {
        self.instant = instant
        self.machine = machine
    }

    /// Takes note of what the machine's clock shows now.
    ///
    /// - Returns: what this one shows.
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
