internal import ArbiterEngine
internal import CLinux
internal import Foundation
internal import Glibc

/// Watches the sockets of connections that have waited, and reports when a client has closed its side.
///
/// libmicrohttpd does not watch suspended connections, so a thread of our own does. It only speeds things up: leases
/// and tickets run out even if no close is noticed.
final class PeerWatcher: Sendable {
    private static let eventsAtOnce = 256

    private let epoll: Int32
    /// An eventfd that ends the thread.
    private let stopping: Int32
    private let peers = Guarded(Peers())

    private struct Peers {
        var watched: [UInt64: WatchedPeer] = [:]
        /// No key is used twice, so a late event finds no connection.
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

    /// Ends the thread.
    func stop() {
        eventfd_write(stopping, 1)
    }

    /// Reports it once to the peer when it has closed its side; the system ends this with the descriptor.
    ///
    /// - Returns: the key for `report` and `end`.
    fileprivate func begin(_ peer: WatchedPeer, _ descriptor: Int32) -> UInt64 {
        let key = peers.withLock { peers in
            peers.lastKey += 1
            peers.watched[peers.lastKey] = peer
            return peers.lastKey
        }
        control(EPOLL_CTL_ADD, descriptor, events: Self.closing, key: key)
        return key
    }

    /// Reports it once more to the peer, which has closed its side.
    fileprivate func report(_ key: UInt64, _ descriptor: Int32) {
        control(EPOLL_CTL_MOD, descriptor, events: Self.closing, key: key)
    }

    fileprivate func end(_ key: UInt64) {
        peers.withLock { _ = $0.watched.removeValue(forKey: key) }
    }

    /// Edge-triggered, so that a connection costs one system call, however often it waits.
    private static var closing: UInt32 { EPOLLRDHUP.rawValue | EPOLLET.rawValue }

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
                peers.withLock { $0.watched[key] }?.hasClosed()
            }
        }
    }
}

/// The client's side of one connection.
final class WatchedPeer: Sendable {
    private let watcher: PeerWatcher
    private let descriptor: Int32
    private let state = Guarded(State())

    private struct State {
        /// The watcher's key, from the first wait on.
        var key: UInt64?
        var hasClosed = false
        var action: (@Sendable () -> Void)?
    }

    init(_ descriptor: Int32, watcher: PeerWatcher) {
        self.descriptor = descriptor
        self.watcher = watcher
    }

    /// Calls the action, once and on another thread, if the peer closes its side before `forget`, or has closed it.
    func watch(_ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.action = action
            if let key = state.key {
                if state.hasClosed { watcher.report(key, descriptor) }
            } else {
                state.key = watcher.begin(self, descriptor)
            }
        }
    }

    func forget() {
        state.withLock { $0.action = nil }
    }

    /// The connection is about to be closed.
    func end() {
        if let key = state.withLock({ $0.key }) { watcher.end(key) }
    }

    fileprivate func hasClosed() {
        let action = state.withLock { state in
            state.hasClosed = true
            return state.action.take()
        }
        action?()
    }
}
