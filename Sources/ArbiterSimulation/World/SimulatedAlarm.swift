internal import ArbiterCore
internal import ArbiterEngine

/// An alarm whose bells the simulation rings, on time or late, by the machine's clock.
final class SimulatedAlarm: Alarm {
    private struct Setting {
        let instant: Instant
        let bell: @Sendable () -> Void
    }

    private let machine: MachineClock
    /// In the order of their instants.
    private let settings = Guarded<[Setting]>([])

    init(_ machine: MachineClock) {
        self.machine = machine
    }

    func ring(after delay: Duration, _ bell: @escaping @Sendable () -> Void) {
        let instant = machine.now().instant.advanced(by: max(.zero, delay))
        settings.withLock { settings in
            let index = settings.firstIndex { instant < $0.instant } ?? settings.endIndex
            settings.insert(Setting(instant: instant, bell: bell), at: index)
        }
    }

    /// The instant of the next bell, by the machine's clock.
    var next: Instant? { settings.withLock { $0.first?.instant } }

    /// Removes and returns the first bell that is due.
    func takeDue() -> (@Sendable () -> Void)? {
        let now = machine.now().instant
        return settings.withLock { settings in
            guard let first = settings.first, first.instant <= now else { return nil }
            settings.removeFirst()
            return first.bell
        }
    }
}
