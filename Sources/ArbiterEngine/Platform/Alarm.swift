internal import ArbiterCore
internal import Dispatch

/// Calls back later.
package protocol Alarm: Sendable {
    /// Calls the bell once this delay is over; earlier settings stay.
    func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void)
}

/// An alarm on a queue of its own, by the machine's monotonic clock.
package final class SystemAlarm: Alarm {
    private let queue = DispatchQueue(label: "arbiter.alarm", qos: .userInitiated)

    package init() {}

    package func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(max(.zero, delay).wholeNanoseconds)), execute: bell)
    }
}
