internal import ArbiterEngine
internal import CLinux
internal import Foundation
internal import Glibc

/// Watches the sockets of parked connections, and reports when a client has closed its side.
///
/// libmicrohttpd does not watch suspended connections, so a thread of our own does. It only speeds things up: leases
/// and tickets run out even if no close is noticed.
final class PeerWatcher: Sendable {
    private static let eventsAtOnce = 256

    private let epoll: Int32
    /// An eventfd that ends the thread.
    private let stopping: Int32
    private let watched = Guarded(Watched())

    private struct Watched {
        var actions: [UInt64: @Sendable () -> Void] = [:]
        /// No key is used twice, so a late event finds no action.
        var lastKey: UInt64 = 0
    }

    private static let stopKey: UInt64 = 0

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        stopping = eventfd(0, Int32(EFD_CLOEXEC))
        precondition(epoll >= 0 && stopping >= 0, "no descriptors are left to watch connections with")
        control(EPOLL_CTL_ADD, stopping, events: EPOLLIN.rawValue, key: Self.stopKey)
        let thread = Thread { [self] in run() }
        thread.name = "arbiter.peers"
        thread.start()
    }

    deinit {
        close(epoll)
        close(stopping)
    }

    /// Calls the action, once, if the peer closes the connection before `forget`.
    ///
    /// - Returns: the key for `forget`.
    func watch(_ descriptor: Int32, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        let key = watched.withLock { watched in
            watched.lastKey += 1
            watched.actions[watched.lastKey] = action
            return watched.lastKey
        }
        control(EPOLL_CTL_ADD, descriptor, events: EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue, key: key)
        return key
    }

    func forget(_ descriptor: Int32, key: UInt64) {
        control(EPOLL_CTL_DEL, descriptor, events: 0, key: key)
        watched.withLock { _ = $0.actions.removeValue(forKey: key) }
    }

    /// Ends the thread.
    func stop() {
        eventfd_write(stopping, 1)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, events: UInt32, key: UInt64) {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = key
        unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    private func run() {
        var events = unsafe Array(repeating: epoll_event(), count: Self.eventsAtOnce)
        while true {
            let count = unsafe epoll_wait(epoll, &events, Int32(Self.eventsAtOnce), -1)
            guard count >= 0 else {
                precondition(errno == EINTR, "parked connections can no longer be watched")
                continue
            }
            for index in 0..<Int(count) {
                let key = unsafe events[index].data.u64
                guard key != Self.stopKey else { return }
                let action = watched.withLock { $0.actions.removeValue(forKey: key) }
                action?()
            }
        }
    }
}
