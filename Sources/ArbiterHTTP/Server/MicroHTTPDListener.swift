internal import ArbiterEngine
internal import CMicroHTTPD
internal import Glibc

// Only this file, MicroHTTPDDaemon and MicroHTTPDConnection import libmicrohttpd; no C type leaves them.
// MicroHTTPDExchange handles each request.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// One listening socket of the server, and the daemons of libmicrohttpd that serve its connections.
///
/// When its certificate is replaced, new daemons get its new connections, and the earlier ones serve theirs until they are
/// closed.
///
/// `@unchecked`, because of the C handle, which is immutable, like all other properties but those under their guard.
@safe final class MicroHTTPDListener: @unchecked Sendable {
    /// The server outlives its listeners.
    unowned let server: MicroHTTPDServer
    let address: ListenAddress
    let isInherited: Bool
    /// Whether only other nodes of the cluster may connect.
    let isForNodes: Bool

    private let threads: Int
    private let connectionLimit: Int
    private let descriptor: Int32
    private let file: UnixSocketFile?
    private let errorReader: UnsafeMutablePointer<arbiter_MHD_ErrorReader>
    private let state = Guarded(State())

    private struct State {
        /// What serves new connections; `nil` once the listener has stopped.
        var current: MicroHTTPDPool?
        /// Those that serve their connections to the end, and whether each had none at the last look.
        var earlier: [(pool: MicroHTTPDPool, hadNone: Bool)] = []
        /// What the acceptor knows the socket by, while it accepts connections.
        var accepting: UInt64?
    }

    /// - Parameters:
    ///   - socket: where connections are accepted.
    ///   - server: what handles them.
    ///   - identity: what is shown over TLS; without it, TLS is not spoken.
    ///   - threads: how many serve connections.
    ///   - connectionLimit: the most connections that one of these threads serves at once.
    ///   - isForNodes: whether only other nodes of the cluster may connect.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    init(
        _ socket: ListeningSocket, server: MicroHTTPDServer, identity: TLSIdentity?, threads: Int, connectionLimit: Int,
        isForNodes: Bool = false
    ) throws(ServerError) {
        self.isForNodes = isForNodes
        self.server = server
        self.threads = threads
        self.connectionLimit = connectionLimit
        address = socket.address
        isInherited = socket.isInherited
        unsafe errorReader = .allocate(capacity: 1)
        // The socket stays its owner's until libmicrohttpd has started.
        (descriptor, file) = socket.release()
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe errorReader.initialize(to: arbiter_MHD_ErrorReader(callback: errorFollows, context: context))
        let pool: MicroHTTPDPool
        do throws(ServerError) {
            pool = try start(identity)
        } catch {
            close(descriptor)
            file?.remove()
            throw error
        }
        state.withLock { $0.current = pool }
        let key = server.acceptor.begin(descriptor) { [unowned self] in take($0) }
        state.withLock { $0.accepting = key }
    }

    private func take(_ connection: AcceptedConnection) {
        // Under the lock, so that the pool is not stopped before it has got the connection.
        state.withLock { state in
            // A connection that comes while the listener stops is closed.
            guard let pool = state.current else {
                _ = close(connection.descriptor)
                return
            }
            pool.add(connection)
        }
    }

    private func start(_ identity: TLSIdentity?) throws(ServerError) -> MicroHTTPDPool {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let options = unsafe [
            arbiter_MHD_notify_error(errorReader),
            arbiter_MHD_notify_completed(exchangeCompleted, context),
            arbiter_MHD_notify_connection(connectionChanged, context),
            arbiter_MHD_notify_target(targetSeen, context),
            arbiter_MHD_unescape(leaveEscaped, context),
            MHD_OptionItem(.CONNECTION_LIMIT, connectionLimit),
            MHD_OptionItem(.CONNECTION_MEMORY_LIMIT, ServerLimits.connectionBytes),
            MHD_OptionItem(.CONNECTION_TIMEOUT, ServerLimits.idleSeconds),
        ]
        var daemons: [MicroHTTPDDaemon] = []
        do throws(ServerError) {
            for _ in 0..<threads {
                daemons.append(
                    unsafe try MicroHTTPDDaemon(
                        options: options, identity: identity, handler: access, context: context))
            }
        } catch {
            for daemon in daemons { daemon.stop() }
            throw error
        }
        return MicroHTTPDPool(daemons)
    }

    /// Shows another identity to new connections; those that are open are served further.
    ///
    /// - Throws: `ServerError` if libmicrohttpd does not start; then everything stays as it was.
    func replace(_ identity: TLSIdentity) throws(ServerError) {
        guard case .tls = address else { return }
        let pool = try start(identity)
        let isUsed = state.withLock { state in
            guard let earlier = state.current else { return false }
            state.earlier.append((earlier, hadNone: false))
            state.current = pool
            return true
        }
        if !isUsed { pool.stop() }
    }

    /// Stops earlier daemons that have no connections any more, and had none at the last look.
    ///
    /// libmicrohttpd counts a connection only when its thread has taken it.
    func sweep() {
        let idle = state.withLock { state in
            let looks = state.earlier.map { ($0.pool, hadNone: $0.hadNone, hasNone: $0.pool.connectionCount == 0) }
            state.earlier = looks.filter { !($0.hadNone && $0.hasNone) }.map { ($0.0, hadNone: $0.hasNone) }
            return looks.filter { $0.hadNone && $0.hasNone }.map(\.0)
        }
        for pool in idle { pool.stop() }
    }

    /// Accepts no more connections; those that are open are served further.
    func quiesce() {
        if let key = state.withLock({ $0.accepting.take() }) { server.acceptor.end(key) }
    }

    /// Closes all connections and the socket.
    func stop() {
        quiesce()
        let pools = state.withLock { state in
            defer { (state.current, state.earlier) = (nil, []) }
            return state.earlier.map(\.pool) + (state.current.map { [$0] } ?? [])
        }
        for pool in pools { pool.stop() }
        close(descriptor)
        file?.remove()
    }

    deinit { unsafe errorReader.deallocate() }
}

// MARK: - Callbacks of libmicrohttpd

private func access(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, uploadData: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?, exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
        let method = unsafe method, let version = unsafe version, let uploadSize = unsafe uploadSize,
        let exchangeSlot = unsafe exchangeSlot
    else { return .NO }
    guard let opaque = unsafe exchangeSlot.pointee else {
        let listener = unsafe listener(context)
        let server = listener.server
        guard let record = unsafe record(of: connection) else { return .NO }
        let head = unsafe MicroHTTPDHead(
            connection, target: record.headIsWhole(), method: method, path: url, version: version)
        let exchange = unsafe MicroHTTPDExchange(
            server: server, connection: MicroHTTPDConnection(pointer: connection), record: record, head: head,
            peer: peer(of: connection, record, at: listener))
        unsafe exchangeSlot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return exchange.refusalBeforeBody().map { unsafe MicroHTTPDConnection(pointer: connection).queue($0) } ?? .YES
    }
    let exchange = unsafe Unmanaged<MicroHTTPDExchange>.fromOpaque(opaque).takeUnretainedValue()
    let count = unsafe uploadSize.pointee
    guard count == 0 else {
        let mayContinue = unsafe exchange.receive(UnsafeRawBufferPointer(start: uploadData, count: count))
        unsafe uploadSize.pointee = 0
        return mayContinue ? .YES : .NO
    }
    return exchange.handle().map { unsafe MicroHTTPDConnection(pointer: connection).queue($0) } ?? .YES
}

private func exchangeCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let opaque = unsafe exchangeSlot?.pointee else { return }
    unsafe exchangeSlot?.pointee = nil
    unsafe Unmanaged<MicroHTTPDExchange>.fromOpaque(opaque).takeRetainedValue().complete()
}

private func connectionChanged(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection, let socketContext = unsafe socketContext
    else { return }
    let listener = unsafe listener(context)
    if change == .CONNECTION_NOTIFY_STARTED {
        let descriptor = unsafe arbiter_MHD_connection_descriptor(connection)
        var client = Peer(of: descriptor, at: listener.address)
        if listener.isForNodes {
            client = .node(address: client.address ?? "", isTrusted: !listener.address.isEncrypted)
            unsafe PeerCertificate.require(ofSession: arbiter_MHD_tls_session(connection))
        }
        let record = listener.server.connections.begin(descriptor, client)
        unsafe socketContext.pointee = Unmanaged.passRetained(record).toOpaque()
    } else if let opaque = unsafe socketContext.pointee {
        unsafe socketContext.pointee = nil
        listener.server.connections.end(unsafe Unmanaged<ConnectionRecord>.fromOpaque(opaque).takeRetainedValue())
    }
}

private func listener(_ context: UnsafeMutableRawPointer) -> MicroHTTPDListener {
    unsafe Unmanaged<MicroHTTPDListener>.fromOpaque(context).takeUnretainedValue()
}

/// The other end of a connection, with its certificate, which is known since the handshake.
private func peer(of connection: OpaquePointer, _ record: ConnectionRecord, at listener: MicroHTTPDListener) -> Peer {
    guard case .tls = listener.address else { return record.client }
    let (peer, isNew) = record.client { unsafe PeerCertificate(ofSession: arbiter_MHD_tls_session(connection)) }
    if isNew, peer.isTrustedNode { listener.server.connections.trust(record) }
    return peer
}

private func record(of connection: OpaquePointer) -> ConnectionRecord? {
    guard let opaque = unsafe arbiter_MHD_socket_context(connection) else { return nil }
    return unsafe Unmanaged<ConnectionRecord>.fromOpaque(opaque).takeUnretainedValue()
}

/// Called with the target of a request, before libmicrohttpd parses and changes it.
private func targetSeen(
    context: UnsafeMutableRawPointer?, text: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let text = unsafe text, let connection = unsafe connection, let record = unsafe record(of: connection) else {
        return nil
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
    let target = unsafe RequestTarget(bytes)
    record.targetIsKnown(target, at: UInt(bitPattern: text))
    if let question = unsafe bytes.firstIndex(of: UInt8(ascii: "?")) { unsafe arbiter_MHD_hide_query(text + question) }
    return nil
}

/// Leaves percent-encoding as it is: the router decodes it, because it can refuse malformed escapes.
private func leaveEscaped(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    if let connection = unsafe connection { unsafe record(of: connection)?.partIsRead(at: UInt(bitPattern: text)) }
    return unsafe strlen(text)
}

/// Called just before libmicrohttpd answers with an error of its own, which is said here in its place.
private func errorFollows(context: UnsafeMutableRawPointer?, connection: OpaquePointer?, status: UInt32) {
    guard let context = unsafe context, let connection = unsafe connection, let record = unsafe record(of: connection)
    else { return }
    let listener = unsafe listener(context)
    let headers = unsafe MicroHTTPDConnection(pointer: connection)
    let request = unsafe Request(
        method: "", path: "", headers: headers, peer: peer(of: connection, record, at: listener))
    let refusal = listener.server.router.refusal(
        of: request, Problem(unreadable: status, headers, hasHead: record.isReceivingBody))
    unsafe record.sayLast(refusal.asLastWords(at: time(nil)), overTLS: arbiter_MHD_tls_session(connection))
}
