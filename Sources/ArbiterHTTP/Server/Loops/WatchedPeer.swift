internal import ArbiterEngine
internal import CLinux
internal import Glibc

/// The client's side of one connection; its loop tells when that is closed.
///
/// libmicrohttpd does not watch suspended connections. This only speeds things up: leases and tickets run out even if no close
/// is noticed.
final class WatchedPeer: Sendable {
    private let loop: ServingLoop
    private let descriptor: Int32
    private let key: UInt64
    /// The last look of the loop that did not know of it.
    private let firstLook: UInt64
    private let state = Guarded(State())

    private struct State {
        var hasClosed = false
        var action: ServingLoop.Action?
    }

    /// To be called on the loop's thread.
    init(_ descriptor: Int32, loop: ServingLoop) {
        self.loop = loop
        self.descriptor = descriptor
        key = loop.newKey()
        firstLook = loop.lookCount
        // Edge-triggered, because it is told once.
        loop.watch(descriptor, for: EPOLLRDHUP.rawValue | EPOLLET.rawValue, key: key) { [weak self] in self?.close() }
    }

    /// Calls the action, once and on the loop's thread, if the peer closes its side before `forget`, or has closed it.
    func watch(_ action: @escaping ServingLoop.Action) {
        let hasClosed = state.withLock { state in
            state.action = action
            return state.hasClosed
        }
        if hasClosed { loop.perform { [weak self] in self?.close() } }
    }

    func forget() {
        state.withLock { $0.action = nil }
    }

    /// Whether it is closed now; the system is asked only if the loop has not looked.
    var isClosed: Bool {
        if state.withLock({ $0.hasClosed }) { return true }
        if loop.isCurrent, loop.hasLooked(after: firstLook) { return false }
        return arbiter_is_closed_by_peer(descriptor) != 0
    }

    /// Something has been read from it or written to it.
    func noteProgress() { loop.noteProgress() }

    /// The connection is about to be closed.
    func end() { loop.forget(key) }

    private func close() {
        let action = state.withLock { state in
            state.hasClosed = true
            return state.action.take()
        }
        action?()
    }
}
