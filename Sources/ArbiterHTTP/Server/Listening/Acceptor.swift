internal import ArbiterEngine
internal import CLinux
internal import Glibc

/// Accepts the connections of listening sockets, on the thread of a loop.
///
/// libmicrohttpd could accept them itself. But when it is told to stop accepting while requests come in, version 0.9.75 may
/// end the whole process: `MHD_quiesce_daemon` and its own threads take the socket out of the same epoll set.
final class Acceptor: Sendable {
    /// What takes a connection, and closes it in the end.
    typealias Taker = @Sendable (AcceptedConnection) -> Void

    /// So that one socket does not keep the others waiting.
    private static let connectionsAtOnce = 64
    /// How long nothing is accepted if the system has no descriptors or no memory left, in nanoseconds.
    private static let pause: Int64 = 20_000_000

    private let loop: ServingLoop
    /// The sockets from which connections are accepted, by their keys.
    private let sockets = Guarded<[UInt64: Socket]>([:])

    private struct Socket {
        let descriptor: Int32
        let take: Taker
    }

    init(on loop: ServingLoop) {
        self.loop = loop
    }

    /// Accepts connections from now on.
    ///
    /// - Parameters:
    ///   - descriptor: a listening socket, which stays open until `end` has returned.
    ///   - take: called with each connection, on the loop's thread.
    /// - Returns: the key for `end`.
    func begin(_ descriptor: Int32, _ take: @escaping Taker) -> UInt64 {
        _ = arbiter_set_nonblocking(descriptor)
        let key = loop.newKey()
        sockets.withLock { $0[key] = Socket(descriptor: descriptor, take: take) }
        watch(descriptor, key)
        return key
    }

    /// Accepts no more connections of a socket: when this returns, the last one has been taken.
    func end(_ key: UInt64) {
        sockets.withLock { sockets in
            guard let socket = sockets.removeValue(forKey: key) else { return }
            loop.unwatch(socket.descriptor, key: key)
        }
    }

    private func watch(_ descriptor: Int32, _ key: UInt64) {
        loop.watch(descriptor, for: EPOLLIN.rawValue, key: key) { [weak self] in self?.acceptWaiting(key) }
    }

    // MARK: - On the thread

    private func acceptWaiting(_ key: UInt64) {
        for _ in 0..<Self.connectionsAtOnce {
            // Under the lock, so that `end` waits for the connection that is being taken.
            let result = sockets.withLock { sockets in
                sockets[key].map { accept($0) } ?? .nothing
            }
            switch result {
            case .taken: continue
            case .nothing: return
            // Until connections are closed; the socket is asked again after that.
            case .noRoom: return pause(key)
            }
        }
    }

    private func pause(_ key: UInt64) {
        sockets.withLock { sockets in
            if let socket = sockets[key] { loop.unwatch(socket.descriptor, key: key) }
        }
        loop.ring(after: Self.pause) { [weak self] in
            self?.sockets.withLock { sockets in
                if let socket = sockets[key] { self?.watch(socket.descriptor, key) }
            }
        }
    }

    private enum Result {
        case taken
        case nothing
        case noRoom
    }

    private func accept(_ socket: Socket) -> Result {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = unsafe arbiter_accept(socket.descriptor, &address, &size)
        guard descriptor >= 0 else {
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .noRoom
            case EAGAIN, EBADF, EINVAL, ENOTSOCK: return .nothing
            // A connection that was gone before it was accepted; the next one may be there.
            default: return .taken
            }
        }
        socket.take(AcceptedConnection(descriptor: descriptor, address: address, size: size))
        return .taken
    }
}

/// A connection that nobody serves yet.
struct AcceptedConnection {
    let descriptor: Int32
    /// The address of the other end, of which `size` bytes count.
    let address: sockaddr_storage
    let size: socklen_t
}
