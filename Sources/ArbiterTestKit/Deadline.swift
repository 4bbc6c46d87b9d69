internal import Glibc

/// The instant until which something may take, on a clock that no one sets.
struct Deadline {
    private let instant: ContinuousClock.Instant

    init(after duration: Duration) {
        instant = ContinuousClock.now + duration
    }

    var hasPassed: Bool { instant <= .now }

    /// Waits until the descriptor can do one of the things asked for, or has been closed at its other end.
    ///
    /// - Returns: whether that came before the deadline.
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

/// Asks again and again until the answer is yes; every question should be one that takes a while, such as a request.
///
/// - Returns: whether the answer ever was yes.
package func eventually(within limit: Duration = .seconds(60), _ isTrue: () throws -> Bool) rethrows -> Bool {
    let deadline = Deadline(after: limit)
    repeat {
        if try isTrue() { return true }
        sched_yield()
    } while !deadline.hasPassed
    return false
}
