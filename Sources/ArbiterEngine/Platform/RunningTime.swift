package import ArbiterCore
internal import Foundation

/// The time as it passes while this process runs: what passes while it is stopped or suspended does not count.
///
/// The lock here is held for one reading and nothing else, and so the thread that reads the clock although nobody needs
/// the time waits for nothing that the daemon does.
package final class RunningTime: TimeSource {
    private let machine: any TimeSource
    private let clock: Guarded<ArbiterClock>

    /// A clock that shows what the machine's does, from now on for as long as the process runs.
    ///
    /// - Parameters:
    ///   - machine: the machine's clocks.
    ///   - heartbeat: how often a thread reads it; `nil` if others see to that.
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
            // Under the lock, so that no reading is older than the one before it.
            let moment = machine.now()
            return Moment(instant: clock.read(moment.instant), timestamp: moment.timestamp)
        }
    }

    package var standstill: Duration { clock.withLock { $0.standstill } }

    /// Keeps no clock alive: it ends when the clock is gone.
    private static func beat(every heartbeat: Duration, _ read: () -> Bool) {
        let microseconds = UInt32(clamping: heartbeat.wholeNanoseconds / 1000)
        while read() { usleep(microseconds) }
    }
}
