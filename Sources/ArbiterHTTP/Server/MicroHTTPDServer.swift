internal import ArbiterEngine
internal import Dispatch

/// The HTTP server: one or several sockets to listen on, whose connections libmicrohttpd serves on loops, and parked connections
/// that occupy no thread.
package final class MicroHTTPDServer: Sendable {
    let router: Router
    let places: ServerPlaces
    let loops: ServingLoops
    let acceptor: Acceptor
    /// Every exchange enters it when it begins, and leaves it when it ends.
    let exchanges = DispatchGroup()
    let connections: Connections

    private let limits: ServerLimits
    private let listeners: Guarded<[MicroHTTPDListener]> = Guarded([])

    /// A server that does not listen yet.
    ///
    /// - Parameters:
    ///   - router: what answers requests.
    ///   - places: those that requests may take; no other server uses them.
    ///   - limits: what it allows.
    ///   - loops: the threads that serve the connections; they run longer than the server.
    package init(router: Router, places: ServerPlaces, limits: ServerLimits, loops: ServingLoops) {
        self.router = router
        self.places = places
        self.limits = limits
        self.loops = loops
        acceptor = Acceptor(on: loops.first)
        connections = Connections(
            limits: limits, metrics: router.metrics.connections, whenOneIsClosed: router.noteCrowd)
    }

    /// Accepts the connections of a socket.
    ///
    /// - Parameters:
    ///   - socket: the socket.
    ///   - identity: what is shown over TLS; needed if the socket's address says so, and unused otherwise.
    ///   - isForNodes: whether only other nodes of the cluster may connect.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    package func listen(
        on socket: ListeningSocket, identity: TLSIdentity? = nil, isForNodes: Bool = false
    ) throws(ServerError) {
        let listener = try MicroHTTPDListener(
            socket, server: self, identity: socket.address.isEncrypted ? identity : nil,
            // It is so high that one thread may serve every connection.
            connectionLimit: limits.ordinaryConnections + 2 * ServerLimits.reservedConnections,
            isForNodes: isForNodes)
        listeners.withLock { $0.append(listener) }
    }

    /// Shows another identity, in new connections over TLS; those that are open are served further.
    ///
    /// - Parameters:
    ///   - identity: what is shown.
    ///   - isForNodes: whether the other nodes of the cluster are shown it, and not the clients.
    /// - Throws: `ServerError` if libmicrohttpd does not start; then the sockets show what they showed before.
    package func replace(_ identity: TLSIdentity, forNodes isForNodes: Bool = false) throws(ServerError) {
        for listener in listeners.withLock({ $0 }) where listener.isForNodes == isForNodes {
            try listener.replace(identity)
        }
    }

    /// Leaves new connections on inherited sockets to the successor, which gets the same sockets.
    package func quiesceInherited() {
        for listener in listeners.withLock({ $0 }) where listener.isInherited { listener.quiesce() }
    }

    /// Waits until all exchanges have ended, for a few seconds at most, then closes all connections.
    ///
    /// Every parked exchange must have been answered before.
    package func stop() {
        _ = exchanges.wait(timeout: .now() + ServerLimits.drainDuration)
        let listeners = listeners.withLock { listeners in
            defer { listeners = [] }
            return listeners
        }
        for listener in listeners { listener.stop() }
    }
}
