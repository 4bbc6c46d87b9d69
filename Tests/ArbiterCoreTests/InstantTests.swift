import ArbiterCore
import Testing

struct InstantTests {
    @Test(arguments: [Duration.zero, .nanoseconds(1), .milliseconds(2500), .seconds(86_400), .seconds(-3)])
    func `the way to an instant is what was added`(duration: Duration) {
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(start.duration(to: start.advanced(by: duration)) == duration)
    }

    @Test func `what is shorter than a nanosecond is left out`() {
        #expect(Duration(secondsComponent: 1, attosecondsComponent: 1_999_999_999).wholeNanoseconds == 1_000_000_001)
    }

    @Test func `later instants are greater`() {
        #expect(Instant(nanoseconds: 1) < Instant(nanoseconds: 2))
        #expect(!(Instant(nanoseconds: 2) < Instant(nanoseconds: 2)))
    }
}
