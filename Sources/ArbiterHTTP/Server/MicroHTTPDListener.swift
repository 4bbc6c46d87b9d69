internal import ArbiterEngine
internal import Glibc

/// One listening socket of the server, and the daemons of libmicrohttpd that serve its connections: one for each loop.
///
/// When its certificate is replaced, new daemons get its new connections, and the earlier ones serve theirs until they are
/// closed.
final class MicroHTTPDListener: Sendable {
    /// The server outlives its listeners.
    unowned let server: MicroHTTPDServer
    let address: ListenAddress
    let isInherited: Bool
    /// Whether only other nodes of the cluster may connect.
    let isForNodes: Bool

    private let connectionLimit: Int
    private let descriptor: Int32
    private let file: UnixSocketFile?
    private let state = Guarded(State())

    private struct State {
        /// What serves new connections, in turn; none once the listener has stopped.
        var current: [MicroHTTPDDaemon] = []
        var taken = 0
        /// Those that serve their connections to the end.
        var earlier: [MicroHTTPDDaemon] = []
        /// What the acceptor knows the socket by, while it accepts connections.
        var accepting: UInt64?
    }

    /// - Parameters:
    ///   - socket: where connections are accepted.
    ///   - server: what handles them.
    ///   - identity: what is shown over TLS; without it, TLS is not spoken.
    ///   - connectionLimit: the most connections that one thread serves at once.
    ///   - isForNodes: whether only other nodes of the cluster may connect.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    init(
        _ socket: ListeningSocket, server: MicroHTTPDServer, identity: TLSIdentity?, connectionLimit: Int,
        isForNodes: Bool = false
    ) throws(ServerError) {
        self.isForNodes = isForNodes
        self.server = server
        self.connectionLimit = connectionLimit
        address = socket.address
        isInherited = socket.isInherited
        // The socket stays its owner's until libmicrohttpd has started.
        (descriptor, file) = socket.release()
        do throws(ServerError) {
            let daemons = try start(identity)
            state.withLock { $0.current = daemons }
        } catch {
            close(descriptor)
            file?.remove()
            throw error
        }
        let key = server.acceptor.begin(descriptor) { [unowned self] in take($0) }
        state.withLock { $0.accepting = key }
    }

    private func take(_ connection: AcceptedConnection) {
        // Under the lock, so that the daemon does not retire before it has got the connection.
        state.withLock { state in
            // A connection that comes while the listener stops is closed.
            guard !state.current.isEmpty else {
                _ = close(connection.descriptor)
                return
            }
            state.taken = (state.taken + 1) % state.current.count
            state.current[state.taken].add(connection)
        }
    }

    private func start(_ identity: TLSIdentity?) throws(ServerError) -> [MicroHTTPDDaemon] {
        var daemons: [MicroHTTPDDaemon] = []
        do throws(ServerError) {
            for loop in server.loops.all {
                daemons.append(
                    try MicroHTTPDDaemon(self, on: loop, identity: identity, connectionLimit: connectionLimit))
            }
        } catch {
            for daemon in daemons { daemon.stop() }
            throw error
        }
        return daemons
    }

    /// Shows another identity to new connections; those that are open are served further.
    ///
    /// - Throws: `ServerError` if libmicrohttpd does not start; then everything stays as it was.
    func replace(_ identity: TLSIdentity) throws(ServerError) {
        guard case .tls = address else { return }
        let daemons = try start(identity)
        let retiring = state.withLock { state in
            guard !state.current.isEmpty else { return daemons }
            defer { state.current = daemons }
            state.earlier += state.current
            return state.current
        }
        for daemon in retiring {
            daemon.retire { [weak self] daemon in self?.state.withLock { $0.earlier.removeAll { $0 === daemon } } }
        }
    }

    /// Accepts no more connections; those that are open are served further.
    func quiesce() {
        if let key = state.withLock({ $0.accepting.take() }) { server.acceptor.end(key) }
    }

    /// Closes all connections and the socket.
    func stop() {
        quiesce()
        let daemons = state.withLock { state in
            defer { (state.current, state.earlier) = ([], []) }
            return state.current + state.earlier
        }
        for daemon in daemons { daemon.stop() }
        close(descriptor)
        file?.remove()
    }
}
