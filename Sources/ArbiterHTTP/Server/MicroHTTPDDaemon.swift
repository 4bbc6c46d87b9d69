internal import ArbiterEngine
internal import CMicroHTTPD
internal import Glibc

// Only this file, MicroHTTPDListener and MicroHTTPDConnection import libmicrohttpd.

/// A running daemon of libmicrohttpd, which has one thread, with the texts that have to live as long.
///
/// `@unchecked`, because of the C handle: `stop` takes it out of its guard, so that it is used once, and everything else
/// uses it under the guard.
@safe final class MicroHTTPDDaemon: @unchecked Sendable {
    /// TLS 1.2 and 1.3 (https://www.gnutls.org/manual/html_node/Priority-Strings.html).
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE"

    private let state: Guarded<State?> = Guarded(nil)
    private let texts: [CText]

    @safe private struct State: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// - Parameters:
    ///   - options: the options, without those of TLS.
    ///   - identity: what is shown over TLS; without it, TLS is not spoken.
    ///   - handler: called for each request.
    ///   - context: passed to the handler.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    init(
        options: [MHD_OptionItem], identity: TLSIdentity?, handler: MHD_AccessHandlerCallback?,
        context: UnsafeMutableRawPointer?
    ) throws(ServerError) {
        var options = unsafe options
        var texts: [CText] = []
        func add(_ option: MHD_OPTION, _ text: String) {
            let text = CText(text)
            texts.append(text)
            unsafe options.append(arbiter_MHD_text(option, text.pointer))
        }
        var flags =
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ITC.rawValue
            | MHD_USE_ERROR_LOG.rawValue | MHD_USE_NO_LISTEN_SOCKET.rawValue
        if let identity {
            flags |= MHD_USE_TLS.rawValue
            add(.HTTPS_MEM_CERT, identity.certificates)
            add(.HTTPS_MEM_KEY, identity.key)
            add(.HTTPS_PRIORITIES, Self.priorities)
            if let authorities = identity.clientAuthorities { add(.HTTPS_MEM_TRUST, authorities) }
        }
        unsafe options.append(MHD_OptionItem(.END, 0))
        self.texts = texts
        guard let started = unsafe arbiter_MHD_start_daemon(flags, handler, context, options) else {
            throw ServerError(reason: "libmicrohttpd does not start: \(unsafe String(cString: strerror(errno)))")
        }
        let state = unsafe State(pointer: started)
        self.state.withLock { $0 = state }
    }

    var connectionCount: Int {
        state.withLock { state in state.map { unsafe Int(arbiter_MHD_connection_count($0.pointer)) } ?? 0 }
    }

    /// Serves a connection; one that it cannot serve, because there is no memory or it has stopped, is closed.
    func add(_ connection: AcceptedConnection) {
        state.withLock { state in
            guard let pointer = unsafe state?.pointer else {
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
    }

    /// Closes all connections.
    func stop() {
        guard let state = state.withLock({ state in state.take() }) else { return }
        unsafe MHD_stop_daemon(state.pointer)
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
    init(_ option: MHD_OPTION, _ value: Int) {
        unsafe self.init(option: option, value: value, ptr_value: nil)
    }
}
