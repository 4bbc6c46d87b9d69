internal import ArbiterCore
internal import ArbiterEngine

/// A clock from which a new owner continues only if that is behind the last record.
///
/// The engine continues from the last record at its first reading. If this clock is ahead of the record, it shows the record's
/// instant at that reading, so that the engine takes itself for neither ahead nor behind.
final class ClampedTime: TimeSource {
    private let time: RunningTime
    private let first: Guarded<Moment?>

    init(_ time: RunningTime, last: Moment?) {
        self.time = time
        let now = time.now()
        let isAhead = last.map { $0.instant < now.instant } ?? false
        first = Guarded(last.flatMap { isAhead ? Moment(instant: $0.instant, timestamp: now.timestamp) : nil })
    }

    func now() -> Moment {
        let first = first.withLock { first in
            defer { first = nil }
            return first
        }
        return first ?? time.now()
    }

    var standstill: Duration { time.standstill }
}
