internal import HeapModule

/// Alarms that have not rung yet.
struct PendingAlarms: Sendable {
    typealias Bell = @Sendable () -> Void

    private var heap: Heap<Entry> = []
    /// Counts the alarms, so that those of one instant ring in the order in which they were set.
    private var lastNumber: UInt64 = 0

    private struct Entry: Comparable, Sendable {
        /// In nanoseconds of the loop's clock.
        let instant: Int64
        let number: UInt64
        let bell: Bell

        static func == (first: Entry, second: Entry) -> Bool { first.number == second.number }

        static func < (first: Entry, second: Entry) -> Bool {
            (first.instant, first.number) < (second.instant, second.number)
        }
    }

    /// When the next one rings.
    var next: Int64? { heap.min?.instant }

    /// Sets an alarm.
    ///
    /// - Returns: whether it is the next one to ring.
    mutating func set(for instant: Int64, _ bell: @escaping Bell) -> Bool {
        lastNumber += 1
        heap.insert(Entry(instant: instant, number: lastNumber, bell: bell))
        return heap.min?.number == lastNumber
    }

    /// Takes the next alarm out, if its time has come.
    mutating func takeDue(at now: Int64) -> Bell? {
        guard let next, next <= now else { return nil }
        return heap.removeMin().bell
    }
}
