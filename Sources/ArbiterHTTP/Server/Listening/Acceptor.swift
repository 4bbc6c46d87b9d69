internal import ArbiterEngine
internal import CLinux
internal import Foundation
internal import Glibc

/// Accepts the connections of listening sockets, on a thread of its own.
///
/// libmicrohttpd could accept them itself. But when it is told to stop accepting while requests come in, version 0.9.75 may
/// end the whole process: `MHD_quiesce_daemon` and its own threads take the socket out of the same epoll set.
final class Acceptor: Sendable {
    /// What takes a connection, and closes it in the end.
    typealias Taker = @Sendable (AcceptedConnection) -> Void

    private static let eventsAtOnce = 16
    /// So that one socket does not keep the others waiting.
    private static let connectionsAtOnce = 64
    /// How long nothing is accepted if the system has no descriptors or no memory left, in milliseconds.
    private static let pause: Int32 = 20
    private static let stopKey: UInt64 = 0

    private let epoll: Int32
    /// An eventfd that ends the thread.
    private let stopping: Int32
    private let sockets = Guarded(Sockets())

    private struct Sockets {
        var accepting: [UInt64: Socket] = [:]
        /// No key is used twice, so a late event finds no socket.
        var lastKey = Acceptor.stopKey
    }

    private struct Socket {
        let descriptor: Int32
        let take: Taker
    }

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        stopping = eventfd(0, Int32(EFD_CLOEXEC))
        precondition(epoll >= 0 && stopping >= 0, "no descriptors are left to accept connections with")
        control(EPOLL_CTL_ADD, stopping, key: Self.stopKey)
        let thread = Thread { [self] in run() }
        thread.name = "arbiter.accept"
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

    /// Accepts connections from now on.
    ///
    /// - Parameters:
    ///   - descriptor: a listening socket, which stays open until `end` has returned.
    ///   - take: called with each connection, on the thread of the acceptor.
    /// - Returns: the key for `end`.
    func begin(_ descriptor: Int32, _ take: @escaping Taker) -> UInt64 {
        _ = arbiter_set_nonblocking(descriptor)
        let key = sockets.withLock { sockets in
            sockets.lastKey += 1
            sockets.accepting[sockets.lastKey] = Socket(descriptor: descriptor, take: take)
            return sockets.lastKey
        }
        control(EPOLL_CTL_ADD, descriptor, key: key)
        return key
    }

    /// Accepts no more connections of a socket: when this returns, the last one has been taken.
    func end(_ key: UInt64) {
        sockets.withLock { sockets in
            guard let socket = sockets.accepting.removeValue(forKey: key) else { return }
            control(EPOLL_CTL_DEL, socket.descriptor, key: key)
        }
    }

    private func control(_ operation: Int32, _ descriptor: Int32, key: UInt64) {
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue
        unsafe event.data.u64 = key
        unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: - On the thread

    private func run() {
        var events = unsafe Array(repeating: epoll_event(), count: Self.eventsAtOnce)
        while true {
            let count = unsafe epoll_wait(epoll, &events, Int32(Self.eventsAtOnce), -1)
            guard count >= 0 else {
                precondition(errno == EINTR, "connections can no longer be accepted")
                continue
            }
            for index in 0..<Int(count) {
                let key = unsafe events[index].data.u64
                guard key != Self.stopKey else { return }
                acceptWaiting(key)
            }
        }
    }

    private func acceptWaiting(_ key: UInt64) {
        for _ in 0..<Self.connectionsAtOnce {
            // Under the lock, so that `end` waits for the connection that is being taken.
            let result = sockets.withLock { sockets in
                sockets.accepting[key].map { accept($0) } ?? .nothing
            }
            switch result {
            case .taken: continue
            case .nothing: return
            case .noRoom: return pause()
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

    /// Waits for connections to be closed; the sockets are asked again after that.
    private func pause() {
        var end = pollfd(fd: stopping, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&end, 1, Self.pause)
    }
}

/// A connection that nobody serves yet.
struct AcceptedConnection {
    let descriptor: Int32
    /// The address of the other end, of which `size` bytes count.
    let address: sockaddr_storage
    let size: socklen_t
}
