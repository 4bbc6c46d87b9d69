internal import ArbiterEngine
internal import CMicroHTTPD
internal import Glibc

// Only this file, MicroHTTPDListener and MicroHTTPDConnection import libmicrohttpd.

/// A running daemon of libmicrohttpd, with the texts that have to live as long.
///
/// `@unchecked`, because of the C handle: `stop` takes it out of its guard, so that it is used once, and everything else
/// uses it under the guard.
@safe final class MicroHTTPDDaemon: @unchecked Sendable {
    /// TLS 1.2 and 1.3 (https://www.gnutls.org/manual/html_node/Priority-Strings.html).
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE"

    /// The socket on which it accepts connections.
    let listening: Int32
    private let state: Guarded<State?> = Guarded(nil)
    private let texts: [CText]

    @safe private struct State: @unchecked Sendable {
        let pointer: OpaquePointer
        /// Whether the socket has been taken from libmicrohttpd, so that it has to be closed here.
        var isQuiesced = false
    }

    /// - Parameters:
    ///   - listening: the socket; closed in the end, unless it does not start.
    ///   - options: the options, without those of TLS.
    ///   - identity: what is shown over TLS; without it, TLS is not spoken.
    ///   - handler: called for each request.
    ///   - context: passed to the handler.
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    init(
        listening: Int32, options: [MHD_OptionItem], identity: TLSIdentity?, handler: MHD_AccessHandlerCallback?,
        context: UnsafeMutableRawPointer?
    ) throws(ServerError) {
        self.listening = listening
        var options = unsafe options
        var texts: [CText] = []
        func add(_ option: MHD_OPTION, _ text: String) {
            let text = CText(text)
            texts.append(text)
            unsafe options.append(arbiter_MHD_text(option, text.pointer))
        }
        var flags =
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ITC.rawValue
            | MHD_USE_ERROR_LOG.rawValue
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

    /// Accepts no more connections; those that are open are served further.
    func quiesce() {
        state.withLock { state in
            guard state?.isQuiesced == false, let pointer = unsafe state?.pointer else { return }
            state?.isQuiesced = unsafe MHD_quiesce_daemon(pointer) >= 0
        }
    }

    /// Closes all connections and the socket.
    func stop() {
        guard let state = state.withLock({ state in state.take() }) else { return }
        unsafe MHD_stop_daemon(state.pointer)
        if state.isQuiesced { close(listening) }
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
