internal import Glibc

/// The latest instant for something, on a monotonic clock.
struct Deadline {
    private let instant: ContinuousClock.Instant

    init(after duration: Duration) {
        instant = ContinuousClock.now + duration
    }

    var hasPassed: Bool { instant <= .now }

    /// Waits until the descriptor is ready for one of the events, or has been closed by the peer.
    ///
    /// - Returns: whether that happened before the deadline.
    func wait(for descriptor: Int32, toDo events: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let remaining = ContinuousClock.now.duration(to: instant).components
            let milliseconds = remaining.seconds * 1000 + remaining.attoseconds / 1_000_000_000_000_000 + 1
            let count = unsafe poll(&entry, 1, Int32(clamping: max(0, milliseconds)))
            if count > 0 { return true }
            if count == 0, hasPassed { return false }
            precondition(count == 0 || errno == EINTR, "poll fails with \(errno)")
        }
    }
}

/// Repeats a question, a millisecond after each answer, until the answer is yes.
///
/// - Returns: whether the answer was yes before the deadline.
package func eventually(within limit: Duration = .seconds(60), _ isTrue: () throws -> Bool) rethrows -> Bool {
    let deadline = Deadline(after: limit)
    repeat {
        if try isTrue() { return true }
        // What it waits for may need the processor.
        usleep(1_000)
    } while !deadline.hasPassed
    return false
}
