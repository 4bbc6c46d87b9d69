internal import CLinux
internal import Dispatch

/// Gives memory back to the system that was needed for a while, on a queue of its own.
///
/// glibc keeps what is freed below something that is still in use, for as long as the process lives.
package final class FreedMemory: Sendable {
    /// How often it looks.
    private static let interval = DispatchTimeInterval.seconds(5)
    /// It returns memory if there is so much more of it than there was when it last did, in bytes.
    private static let step: Int64 = 32 << 20

    private let queue = DispatchQueue(label: "arbiter.memory")
    /// What could not be returned the last time, or less.
    private let rest = Guarded(Int64(0))

    /// The size, in bytes, from which a block gets memory of its own, which the system has back as soon as it is freed.
    ///
    /// By default glibc raises this size as it goes on, so that more and more large blocks lie among small ones.
    private static let largeBytes: Int32 = 32 << 10

    package init() {
        mallopt(M_MMAP_THRESHOLD, Self.largeBytes)
    }

    /// Begins to look; it does so as long as it exists.
    package func begin() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            self?.look()
            self?.begin()
        }
    }

    private func look() {
        let unused = arbiter_unused_memory()
        let isMuch = rest.withLock { rest in
            rest = min(rest, unused)
            return unused > rest + Self.step
        }
        guard isMuch else { return }
        arbiter_return_memory()
        rest.withLock { $0 = arbiter_unused_memory() }
    }
}
