internal import ArbiterCore
internal import Dispatch

/// Calls a closure after a delay.
package protocol Alarm: Sendable {
    /// Calls `bell` after the delay; earlier calls remain scheduled.
    func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void)
}

/// An alarm on its own queue, driven by the machine's monotonic clock.
package final class SystemAlarm: Alarm {
    private let queue = DispatchQueue(label: "arbiter.alarm", qos: .userInitiated)

    package init() {}

    package func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(max(.zero, delay).wholeNanoseconds)), execute: bell)
    }
}
