internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// Waits for events of descriptors, on a thread of its own.
final class EpollThread: Sendable {
    private static let eventsAtOnce = 127
    private static let stopKey: UInt64 = 0

    private let epoll: Int32
    /// An eventfd that ends the thread.
    private let stopping: Int32
    private let lastKey = Atomic(stopKey)

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        stopping = eventfd(0, Int32(EFD_CLOEXEC))
        precondition(epoll >= 0 && stopping >= 0, "no descriptors are left to wait with")
        add(stopping, for: EPOLLIN.rawValue, key: Self.stopKey)
    }

    deinit {
        close(epoll)
        close(stopping)
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - happened: called with the key of each descriptor that has an event; kept until the thread has ended.
    func start(named name: String, _ happened: @escaping @Sendable (UInt64) -> Void) {
        let thread = Thread { [self] in run(happened) }
        thread.name = name
        thread.start()
    }

    /// Ends the thread.
    func stop() { eventfd_write(stopping, 1) }

    /// Waits until the thread shall end, or until so many milliseconds are over.
    func pause(milliseconds: Int32) {
        var end = pollfd(fd: stopping, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&end, 1, milliseconds)
    }

    /// A key for a descriptor; none is given twice, so that a late event is recognised.
    func newKey() -> UInt64 { lastKey.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Hears of these events of a descriptor, until it is removed or closed.
    func add(_ descriptor: Int32, for events: UInt32, key: UInt64) { control(EPOLL_CTL_ADD, descriptor, events, key) }

    /// Hears of the events once more, if they are edge-triggered and have happened already.
    func renew(_ descriptor: Int32, for events: UInt32, key: UInt64) { control(EPOLL_CTL_MOD, descriptor, events, key) }

    /// Hears no more of a descriptor.
    func remove(_ descriptor: Int32) { control(EPOLL_CTL_DEL, descriptor, 0, Self.stopKey) }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ key: UInt64) {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = key
        unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    private func run(_ happened: (UInt64) -> Void) {
        var events = unsafe Array(repeating: epoll_event(), count: Self.eventsAtOnce)
        while true {
            let count = unsafe epoll_wait(epoll, &events, Int32(Self.eventsAtOnce), -1)
            guard count >= 0 else {
                precondition(errno == EINTR, "events of descriptors can no longer be waited for")
                continue
            }
            for index in 0..<Int(count) {
                let key = unsafe events[index].data.u64
                guard key != Self.stopKey else { return }
                happened(key)
            }
        }
    }
}
