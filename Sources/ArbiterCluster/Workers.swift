internal import Dispatch

/// Where work is done that may wait for etcd, and how it waits.
///
/// In a daemon these are threads; the simulation has one thing happen after another.
package protocol Workers: Sendable {
    /// A queue that does one thing after another, where it may wait.
    func queue(_ name: String, isUrgent: Bool) -> any WorkQueue

    /// A bell that has not rung yet.
    func bell() -> any WaitingBell
}

/// Does one thing after another.
package protocol WorkQueue: Sendable {
    func add(_ work: @escaping @Sendable () -> Void)
}

/// What is waited for.
package protocol WaitingBell: Sendable {
    /// Ends one wait: one that has begun, or else the next one.
    func ring()

    /// Waits until it has rung; not to be called where it rings.
    func wait()
}

extension Workers {
    /// Does something on a queue, after what it has to do already, and waits until that is done.
    func finish(on queue: any WorkQueue, _ work: @escaping @Sendable () -> Void = {}) {
        let bell = bell()
        queue.add {
            work()
            bell.ring()
        }
        bell.wait()
    }
}

/// Queues of the system, each of which has a thread while it works.
package struct DispatchWorkers: Workers {
    package init() {}

    package func queue(_ name: String, isUrgent: Bool) -> any WorkQueue {
        DispatchWorkQueue(queue: DispatchQueue(label: name, qos: isUrgent ? .userInitiated : .utility))
    }

    package func bell() -> any WaitingBell { SemaphoreBell() }
}

private struct DispatchWorkQueue: WorkQueue {
    let queue: DispatchQueue

    func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

private struct SemaphoreBell: WaitingBell {
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() { semaphore.signal() }

    func wait() { semaphore.wait() }
}
