import Testing

@testable import ArbiterCore

struct ArbiterClockTests {
    private static let begun = Instant(nanoseconds: 1_000)

    /// A clock that shows something else than the machine's, and the machine's beside it.
    private struct Clocks {
        var clock = ArbiterClock(showing: begun, at: Instant(nanoseconds: 5_000_000_000_000))
        var machine = Instant(nanoseconds: 5_000_000_000_000)

        /// Lets time pass in which nobody reads the clock.
        ///
        /// - Returns: how long it has run in all after that.
        mutating func read(after duration: Duration) -> Duration {
            machine = machine.advanced(by: duration)
            return begun.duration(to: clock.read(machine))
        }

        /// Lets time pass in which the clock is read as often as it is in a process that runs.
        mutating func run(for duration: Duration) -> Duration {
            var left = duration
            while left > .zero {
                _ = read(after: min(left, Limits.heartbeat))
                left -= min(left, Limits.heartbeat)
            }
            return read(after: .zero)
        }
    }

    @Test func `while it is read it goes with the machine's clock`() {
        var clocks = Clocks()
        #expect(clocks.run(for: .seconds(100)) == .seconds(100))
        #expect(clocks.read(after: .nanoseconds(1)) == .seconds(100) + .nanoseconds(1))
        #expect(clocks.read(after: Limits.longestBetweenReadings) == .seconds(101) + .nanoseconds(1))
        #expect(clocks.clock.standstill == .zero)
    }

    @Test(arguments: [Duration.seconds(1) + .nanoseconds(1), .seconds(20), .seconds(86_400 * 365)])
    func `a pause counts for nothing, and neither does the second after it`(pause: Duration) {
        var clocks = Clocks()
        #expect(clocks.run(for: .seconds(3)) == .seconds(3))
        #expect(clocks.read(after: pause) == .seconds(3))
        #expect(clocks.clock.standstill == .seconds(1))
        #expect(clocks.read(after: .milliseconds(600)) == .seconds(3))
        #expect(clocks.clock.standstill == .milliseconds(400))
        #expect(clocks.read(after: .milliseconds(600)) == .milliseconds(3_200))
        #expect(clocks.clock.standstill == .zero)
        #expect(clocks.run(for: .seconds(5)) == .milliseconds(8_200))
    }

    @Test func `only one reading sees a pause`() {
        var clocks = Clocks()
        #expect(clocks.read(after: .seconds(20)) == .zero)
        #expect(clocks.read(after: .zero) == .zero)
        #expect(clocks.run(for: .milliseconds(1_500)) == .milliseconds(500))
    }

    @Test func `after many pauses it stands still for one second, not for many`() {
        var clocks = Clocks()
        for _ in 0..<100 {
            #expect(clocks.read(after: .seconds(2)) == .zero)
            #expect(clocks.read(after: .milliseconds(900)) == .zero)
        }
        #expect(clocks.run(for: .seconds(10)) == .seconds(10) - .milliseconds(100))
    }

    @Test func `a reading that comes late takes nothing back`() {
        var clocks = Clocks()
        #expect(clocks.run(for: .seconds(3)) == .seconds(3))
        #expect(clocks.read(after: .seconds(-2)) == .seconds(3))
        #expect(clocks.read(after: .seconds(2)) == .seconds(3))
        #expect(clocks.read(after: .milliseconds(1)) == .milliseconds(3_001))
    }
}
