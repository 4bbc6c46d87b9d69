internal import ArbiterEngine
internal import CMicroHTTPD
internal import Glibc

// Four files import libmicrohttpd: this one, MicroHTTPDCallbacks, MicroHTTPDConnection and MicroHTTPDFields.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// A daemon of libmicrohttpd without threads, which serves those connections of a listener that are one loop's.
///
/// `@unchecked`: what is not a constant belongs to the loop's thread.
@safe final class MicroHTTPDDaemon: @unchecked Sendable {
    /// TLS 1.2 and 1.3 (https://www.gnutls.org/manual/html_node/Priority-Strings.html).
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE"

    /// The listener outlives its daemons.
    unowned let listener: MicroHTTPDListener
    let loop: ServingLoop
    /// What libmicrohttpd needs as long as it runs.
    private let texts: [CText]
    private let errorReader: UnsafeMutablePointer<arbiter_MHD_ErrorReader>
    /// `nil` once it has stopped.
    private var pointer: OpaquePointer?
    private var connections: [OpaquePointer: ConnectionRecord] = unsafe [:]
    private var whenRetired: (@Sendable (MicroHTTPDDaemon) -> Void)?
    /// How many passes it has had in turn that did nothing, although libmicrohttpd wanted another one at once.
    private var idlePasses = 0

    /// After so many idle passes it is looked who holds up libmicrohttpd, which then gets a pass every `pauseOfIdle` milliseconds.
    private static let mostIdlePasses = 16
    private static let pauseOfIdle = 1

    /// - Parameters:
    ///   - listener: whose connections it serves.
    ///   - loop: the thread that serves them.
    ///   - identity: what is shown over TLS; without it, TLS is not spoken.
    ///   - connectionLimit: the most connections that it serves at once.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    init(
        _ listener: MicroHTTPDListener, on loop: ServingLoop, identity: TLSIdentity?, connectionLimit: Int
    ) throws(ServerError) {
        self.listener = listener
        self.loop = loop
        unsafe errorReader = .allocate(capacity: 1)
        var options = unsafe [
            MHD_OptionItem(.CONNECTION_LIMIT, connectionLimit),
            MHD_OptionItem(.CONNECTION_MEMORY_LIMIT, ServerLimits.connectionBytes),
            MHD_OptionItem(.CONNECTION_TIMEOUT, ServerLimits.idleSeconds),
        ]
        var texts: [CText] = []
        var flags =
            MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ERROR_LOG.rawValue
            | MHD_USE_NO_LISTEN_SOCKET.rawValue | MHD_USE_SUPPRESS_DATE_NO_CLOCK.rawValue
        if let identity {
            flags |= MHD_USE_TLS.rawValue
            let settings = [
                (MHD_OPTION.HTTPS_MEM_CERT, identity.certificates), (.HTTPS_MEM_KEY, identity.key),
                (.HTTPS_PRIORITIES, Self.priorities),
            ]
            for (option, text) in settings + (identity.clientAuthorities.map { [(.HTTPS_MEM_TRUST, $0)] } ?? []) {
                let text = CText(text)
                texts.append(text)
                unsafe options.append(arbiter_MHD_text(option, text.pointer))
            }
        }
        self.texts = texts
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe errorReader.initialize(to: arbiter_MHD_ErrorReader(callback: errorFollows, context: context))
        unsafe options += [
            arbiter_MHD_notify_error(errorReader),
            arbiter_MHD_notify_completed(exchangeCompleted, context),
            arbiter_MHD_notify_connection(connectionChanged, context),
            arbiter_MHD_notify_target(targetSeen, context),
            arbiter_MHD_unescape(leaveEscaped, context),
            MHD_OptionItem(.END, 0),
        ]
        guard let started = unsafe arbiter_MHD_start_daemon(flags, access, context, options) else {
            throw ServerError(reason: "libmicrohttpd does not start: \(unsafe String(cString: strerror(errno)))")
        }
        unsafe pointer = started
        loop.perform { [self] in
            guard let pointer = unsafe pointer else { return }
            loop.add(self, ready: unsafe arbiter_MHD_epoll_descriptor(pointer))
        }
    }

    deinit { unsafe errorReader.deallocate() }

    // MARK: From anywhere

    /// Serves a connection; one that it cannot serve, because there is no memory or it has stopped, is closed.
    func add(_ connection: AcceptedConnection) {
        guard !loop.isCurrent else { return addNow(connection) }
        loop.perform { [self] in addNow(connection) }
    }

    /// Closes all connections.
    func stop() { loop.performAndWait { [self] in stopNow() } }

    /// Stops as soon as it has no connections, and calls the action then; it gets no new ones.
    func retire(_ action: @escaping @Sendable (MicroHTTPDDaemon) -> Void) {
        loop.perform { [self] in whenRetired = action }
    }

    // MARK: On the loop's thread

    private func addNow(_ connection: AcceptedConnection) {
        guard let pointer = unsafe pointer else {
            _ = close(connection.descriptor)
            return
        }
        // libmicrohttpd copies the address, and closes a connection that it does not serve.
        unsafe withUnsafeBytes(of: connection.address) { address in
            _ = unsafe MHD_add_connection(
                pointer, connection.descriptor, address.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                connection.size)
        }
    }

    private func stopNow() {
        guard let pointer = unsafe pointer.take() else { return }
        loop.remove(self)
        // libmicrohttpd cannot stop while connections are suspended.
        for unsafe(pointer, record) in unsafe connections {
            unsafe MicroHTTPDConnection(pointer: pointer, record: record).resumeNow()
        }
        unsafe MHD_stop_daemon(pointer)
        whenRetired.take()?(self)
    }

    /// Refuses the bodies that libmicrohttpd cannot read, because a line between two chunks is longer than its memory.
    ///
    /// With threads of its own, libmicrohttpd would refuse them itself. Without, it asks for another pass for ever. Other bodies
    /// are read between two looks, or nothing of them waits.
    private func refuseStuck() {
        for unsafe(pointer, record) in unsafe connections {
            let unread = unsafe record.unreadBytes(overTLS: arbiter_MHD_tls_session(pointer))
            guard record.isStuck(unread) else { continue }
            unsafe refuseUnreadable(pointer, record, at: listener)
            record.shutDown()
            // libmicrohttpd may not watch the connection now.
            unsafe arbiter_MHD_expire(pointer)
        }
    }

    /// A connection has been accepted.
    func begin(_ connection: OpaquePointer) -> ConnectionRecord {
        let descriptor = unsafe arbiter_MHD_connection_descriptor(connection)
        var client = Peer(of: descriptor, at: listener.address)
        if listener.isForNodes {
            client = .node(address: client.address ?? "", isTrusted: !listener.address.isEncrypted)
            unsafe PeerCertificate.require(ofSession: arbiter_MHD_tls_session(connection))
        }
        let record = listener.server.connections.begin(descriptor, client, on: loop)
        unsafe connections[connection] = record
        return record
    }

    /// A connection is about to be closed.
    func end(_ connection: OpaquePointer, _ record: ConnectionRecord) {
        unsafe connections[connection] = nil
        listener.server.connections.end(record)
    }
}

extension MicroHTTPDDaemon: ServedInRounds {
    func serve() {
        guard let pointer = unsafe pointer else { return }
        let before = loop.progress
        unsafe MHD_run(pointer)
        let isIdle = loop.progress == before && ownPause == 0
        idlePasses = isIdle ? idlePasses + 1 : 0
        if isIdle, idlePasses.isMultiple(of: Self.mostIdlePasses) { refuseStuck() }
        if whenRetired != nil, unsafe connections.isEmpty { stopNow() }
    }

    var pause: Int? { idlePasses < Self.mostIdlePasses ? ownPause : ownPause.map { max($0, Self.pauseOfIdle) } }

    /// After how many milliseconds libmicrohttpd wants a pass.
    private var ownPause: Int? {
        var milliseconds: UInt64 = 0
        guard let pointer = unsafe pointer, unsafe MHD_get_timeout(pointer, &milliseconds) == .YES else { return nil }
        return Int(clamping: milliseconds)
    }
}

/// A text for C, which keeps its address.
@safe private final class CText {
    let pointer: UnsafeMutablePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        unsafe pointer = .allocate(capacity: bytes.count)
        _ = unsafe UnsafeMutableBufferPointer(start: pointer, count: bytes.count).initialize(fromContentsOf: bytes)
    }

    deinit { unsafe pointer.deallocate() }
}

extension MHD_OptionItem {
    fileprivate init(_ option: MHD_OPTION, _ value: Int) {
        unsafe self.init(option: option, value: value, ptr_value: nil)
    }
}
