internal import Dispatch
internal import Synchronization

/// Where work is done that takes more than a few milliseconds: one thing after the other, and on no thread that serves
/// connections, so that short requests are answered meanwhile.
///
/// No more can wait here than there are connections: a request has one thing to be done at a time, and its connection is suspended
/// until it is answered.
package final class LongWork: Sendable {
    private let queue = DispatchQueue(label: "arbiter.long-work")
    private let unfinished = Atomic(0)

    /// How many things are to be done, the one that is being done included.
    package var count: Int { unfinished.load(ordering: .relaxed) }

    /// Does something after what has to be done already.
    func add(_ work: @escaping @Sendable () -> Void) {
        unfinished.add(1, ordering: .relaxed)
        queue.async { [self] in
            work()
            unfinished.subtract(1, ordering: .relaxed)
        }
    }
}
