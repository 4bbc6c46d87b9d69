package import ArbiterCore
internal import Foundation

/// The time that passes while this process runs; pauses of the process or the machine do not count.
///
/// The lock is held for a single reading only, so the heartbeat thread never waits for other work of the daemon.
package final class RunningTime: TimeSource {
    private let machine: any TimeSource
    private let clock: Guarded<ArbiterClock>

    /// Creates a clock that starts at the current time of the machine's clock.
    ///
    /// - Parameters:
    ///   - machine: the machine's clocks.
    ///   - heartbeat: how often a thread reads the clock; `nil` if the caller reads it often enough.
    package init(_ machine: any TimeSource = SystemTimeSource(), heartbeat: Duration? = Limits.heartbeat) {
        self.machine = machine
        let begun = machine.now().instant
        clock = Guarded(ArbiterClock(showing: begun, at: begun))
        guard let heartbeat else { return }
        let thread = Thread { [weak self] in Self.beat(every: heartbeat) { self?.now() != nil } }
        thread.name = "arbiter.heartbeat"
        thread.start()
    }

    package func now() -> Moment {
        clock.withLock { clock in
            // Read under the lock, so that readings arrive in order.
            let moment = machine.now()
            return Moment(instant: clock.read(moment.instant), timestamp: moment.timestamp)
        }
    }

    package var standstill: Duration { clock.withLock { $0.standstill } }

    /// Reads at intervals until `read` returns `false`, which it does when the clock has been released.
    private static func beat(every heartbeat: Duration, _ read: () -> Bool) {
        let microseconds = UInt32(clamping: heartbeat.wholeNanoseconds / 1000)
        while read() { usleep(microseconds) }
    }
}
