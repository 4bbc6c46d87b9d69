internal import ArbiterEngine
internal import CLinux
internal import Glibc

/// Watches the sockets of connections that have waited, and reports when a client has closed its side.
///
/// libmicrohttpd does not watch suspended connections, so a thread of our own does. It only speeds things up: leases
/// and tickets run out even if no close is noticed.
final class PeerWatcher: Sendable {
    private let thread = EpollThread()
    /// The peers that are watched, by their keys.
    private let peers = Guarded<[UInt64: WatchedPeer]>([:])

    init() {
        thread.start(named: "arbiter.peers") { [self] key in peers.withLock { $0[key] }?.hasClosed() }
    }

    /// Ends the thread.
    func stop() { thread.stop() }

    /// Reports it once to the peer when it has closed its side; the system ends this with the descriptor.
    ///
    /// - Returns: the key for `report` and `end`.
    fileprivate func begin(_ peer: WatchedPeer, _ descriptor: Int32) -> UInt64 {
        let key = thread.newKey()
        peers.withLock { $0[key] = peer }
        thread.add(descriptor, for: Self.closing, key: key)
        return key
    }

    /// Reports it once more to the peer, which has closed its side.
    fileprivate func report(_ key: UInt64, _ descriptor: Int32) {
        thread.renew(descriptor, for: Self.closing, key: key)
    }

    fileprivate func end(_ key: UInt64) { peers.withLock { _ = $0.removeValue(forKey: key) } }

    /// Edge-triggered, so that a connection costs one system call, however often it waits.
    private static var closing: UInt32 { EPOLLRDHUP.rawValue | EPOLLET.rawValue }
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
