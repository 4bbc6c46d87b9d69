internal import ArbiterEngine
internal import CMicroHTTPD
internal import Dispatch
internal import Glibc
internal import Synchronization

// The only file that knows libmicrohttpd; no C type leaves it. MicroHTTPDExchange is what it hands requests to.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// The HTTP server: libmicrohttpd with a pool of epoll threads, and connections that wait without one.
///
/// `@unchecked`, because of the C handle: libmicrohttpd may be told to stop from any thread, and `stop` takes the handle
/// out of its guard, so that it is used once. All else is immutable, guarded or atomic.
@safe package final class MicroHTTPDServer: @unchecked Sendable {
    let router: Router
    let limits: ServerLimits
    let watcher = PeerWatcher()
    /// Entered by every exchange for as long as it lasts.
    let exchanges = DispatchGroup()
    let connections = Atomic(0)
    let parked = Atomic(0)
    /// Bodies on their way that are longer than most may be.
    let largeBodies = Atomic(0)

    private let listening: Int32
    private let daemon: Guarded<DaemonHandle?> = Guarded(nil)

    /// Starts to serve.
    ///
    /// - Throws: `ServerError` if libmicrohttpd does not start.
    package init(
        _ socket: consuming ListeningSocket, router: Router, limits: ServerLimits
    ) throws(ServerError) {
        self.router = router
        self.limits = limits
        listening = socket.release()
        let flags =
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ITC.rawValue
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        var options = unsafe [
            arbiter_MHD_notify_completed(exchangeCompleted, context),
            arbiter_MHD_notify_connection(connectionChanged, context),
            arbiter_MHD_unescape_nothing(),
            MHD_OptionItem(.LISTEN_SOCKET, Int(listening)),
            MHD_OptionItem(.CONNECTION_LIMIT, limits.parked + 2 * ServerLimits.activeConnections),
            MHD_OptionItem(.CONNECTION_MEMORY_LIMIT, ServerLimits.connectionBytes),
            MHD_OptionItem(.CONNECTION_TIMEOUT, ServerLimits.idleSeconds),
            MHD_OptionItem(.STRICT_FOR_CLIENT, 1),
        ]
        // A pool of one is no pool to libmicrohttpd.
        if limits.threads > 1 { unsafe options.append(MHD_OptionItem(.THREAD_POOL_SIZE, limits.threads)) }
        unsafe options.append(MHD_OptionItem(.END, 0))
        guard let started = unsafe arbiter_MHD_start_daemon(flags, access, context, options) else {
            throw ServerError(reason: "libmicrohttpd does not start: \(unsafe String(cString: strerror(errno)))")
        }
        let handle = unsafe DaemonHandle(pointer: started)
        daemon.withLock { $0 = handle }
    }

    /// Waits until every exchange under way is over, for a few seconds at most, then closes all connections.
    ///
    /// Whoever is parked has to be answered before.
    package func stop() {
        _ = exchanges.wait(timeout: .now() + ServerLimits.drainDuration)
        guard let handle = daemon.withLock({ handle in handle.take() }) else { return }
        unsafe MHD_stop_daemon(handle.pointer)
        watcher.stop()
    }

    /// Whether there are more connections than there may be, so that this one is sent away.
    var isOverfull: Bool {
        connections.load(ordering: .relaxed) > limits.parked + ServerLimits.activeConnections
    }
}

/// The handle of a running daemon.
@safe private struct DaemonHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

extension MHD_OptionItem {
    fileprivate init(_ option: MHD_OPTION, _ value: Int) {
        unsafe self.init(option: option, value: value, ptr_value: nil)
    }
}

// MARK: - One connection

/// A connection of libmicrohttpd, as far as one request needs it.
///
/// `@unchecked`: it is used on the thread that serves the connection, but for `resume`, which libmicrohttpd allows from
/// anywhere, and `descriptor`, which does not change. libmicrohttpd frees no connection that is suspended.
@safe struct MicroConnection: StreamConnection, @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    /// What the header fields say of where the request ends, and for whom it is.
    enum Framing {
        case clear
        case severalHosts
        case severalLengths
        case unknownEncoding
    }

    var framing: Framing {
        let framing = unsafe arbiter_MHD_framing(pointer)
        if framing.hosts > 1 { return .severalHosts }
        if framing.unknown_encodings > 0 { return .unknownEncoding }
        return framing.lengths + framing.chunked > 1 ? .severalLengths : .clear
    }

    /// What `Content-Length` says; libmicrohttpd has refused what is no number.
    var announcedBytes: Int {
        unsafe value(of: .contentLength).map { unsafe strtol($0, nil, 10) } ?? 0
    }

    /// The size of the request line and the header fields, in bytes.
    var headerBytes: Int { unsafe arbiter_MHD_header_size(pointer) }

    func header(_ name: HeaderName) -> String? {
        guard let first = unsafe value(of: name) else { return nil }
        let isAlone = unsafe name.rawValue.withCString { unsafe arbiter_MHD_line_count(pointer, $0) == 1 }
        if isAlone { return unsafe String(cString: first) }
        var lines: [QueryItem] = []
        unsafe withUnsafeMutablePointer(to: &lines) { lines in
            _ = unsafe MHD_get_connection_values_n(pointer, .HEADER_KIND, collectQueryItem, lines)
        }
        return lines.filter { $0.name.lowercased() == name.rawValue.lowercased() }.map(\.value).joined(separator: ", ")
    }

    private func value(of name: HeaderName) -> UnsafePointer<CChar>? {
        unsafe name.rawValue.withCString { name in
            unsafe MHD_lookup_connection_value(pointer, .HEADER_KIND, name)
        }
    }

    var query: [QueryItem] {
        var items: [QueryItem] = []
        unsafe withUnsafeMutablePointer(to: &items) { items in
            _ = unsafe MHD_get_connection_values_n(pointer, .GET_ARGUMENT_KIND, collectQueryItem, items)
        }
        return items
    }

    var descriptor: Int32 { unsafe arbiter_MHD_connection_descriptor(pointer) }

    /// Only on the connection's own thread, within the handling of its request.
    func suspend() { unsafe MHD_suspend_connection(pointer) }

    /// Only while it is suspended, and once.
    func resume() { unsafe MHD_resume_connection(pointer) }

    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func limitSending(to bytes: Int32, within milliseconds: Int32) {
        set(SOL_SOCKET, SO_SNDBUF, bytes)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

// MARK: - What libmicrohttpd calls

private func access(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, uploadData: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?, exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
        let method = unsafe method, let uploadSize = unsafe uploadSize, let exchangeSlot = unsafe exchangeSlot
    else { return .NO }
    guard let opaque = unsafe exchangeSlot.pointee else {
        let server = unsafe Unmanaged<MicroHTTPDServer>.fromOpaque(context).takeUnretainedValue()
        let exchange = unsafe MicroExchange(
            server: server, connection: MicroConnection(pointer: connection), method: String(cString: method),
            path: String(cString: url))
        unsafe exchangeSlot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return exchange.refusalBeforeBody().map { unsafe queue($0, on: connection) } ?? .YES
    }
    let exchange = unsafe Unmanaged<MicroExchange>.fromOpaque(opaque).takeUnretainedValue()
    let count = unsafe uploadSize.pointee
    guard count == 0 else {
        let mayContinue = unsafe exchange.receive(UnsafeRawBufferPointer(start: uploadData, count: count))
        unsafe uploadSize.pointee = 0
        return mayContinue ? .YES : .NO
    }
    return exchange.handle().map { unsafe queue($0, on: connection) } ?? .YES
}

private func queue(_ answer: MicroAnswer, on connection: OpaquePointer) -> MHD_Result {
    switch answer {
    case .response(let response): unsafe queue(response, on: connection)
    case .headOfStream(let head): unsafe queue(headOfStream: head, on: connection)
    case .stream(let head, let stream): unsafe queue(head, stream, on: connection)
    }
}

private func queue(_ response: Response, on connection: OpaquePointer) -> MHD_Result {
    let made = unsafe response.body.withUnsafeBytes { body in
        // Copied, so the pointer is only read.
        unsafe MHD_create_response_from_buffer(
            body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return .NO }
    return unsafe queue(made, with: response, on: connection)
}

/// Has the connection closed behind it: libmicrohttpd 0.9.75 sends the end of a chunked body even where there is none.
private func queue(headOfStream head: Response, on connection: OpaquePointer) -> MHD_Result {
    let made = unsafe MHD_create_response_from_callback(arbiter_MHD_size_unknown, 1, readStream, nil, nil)
    guard let made = unsafe made else { return .NO }
    unsafe arbiter_MHD_forbid_chunks(made)
    return unsafe queue(made, with: head, on: connection)
}

private func queue(_ head: Response, _ stream: MicroStream, on connection: OpaquePointer) -> MHD_Result {
    let context = unsafe Unmanaged.passRetained(stream).toOpaque()
    let made = unsafe MHD_create_response_from_callback(
        arbiter_MHD_size_unknown, ServerLimits.connectionBytes, readStream, context, freeStream)
    guard let made = unsafe made else {
        unsafe freeStream(context: context)
        return .NO
    }
    return unsafe queue(made, with: head, on: connection)
}

private func queue(_ made: OpaquePointer, with head: Response, on connection: OpaquePointer) -> MHD_Result {
    defer { unsafe MHD_destroy_response(made) }
    if let type = head.contentType { unsafe add(HeaderField("Content-Type", type.rawValue), to: made) }
    for header in head.headers { unsafe add(header, to: made) }
    return unsafe MHD_queue_response(connection, UInt32(head.status), made)
}

private func readStream(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, size: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else { return arbiter_MHD_end_with_error }
    let stream = unsafe Unmanaged<MicroStream>.fromOpaque(context).takeUnretainedValue()
    switch stream.read(upTo: size) {
    case .bytes(let bytes):
        precondition(1...size ~= bytes.count, "a source gives \(bytes.count) of \(size) bytes")
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size).copyMemory(from: bytes)
        }
        return bytes.count
    case .nothing: return 0
    case .end: return arbiter_MHD_end_of_stream
    case .cut: return arbiter_MHD_end_with_error
    }
}

private func freeStream(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<MicroStream>.fromOpaque(context).release()
}

private func add(_ header: HeaderField, to response: OpaquePointer) {
    unsafe header.name.withCString { name in
        unsafe header.value.withCString { value in
            _ = unsafe MHD_add_response_header(response, name, value)
        }
    }
}

private func exchangeCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let opaque = unsafe exchangeSlot?.pointee else { return }
    unsafe exchangeSlot?.pointee = nil
    unsafe Unmanaged<MicroExchange>.fromOpaque(opaque).takeRetainedValue().complete()
}

private func connectionChanged(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context else { return }
    let server = unsafe Unmanaged<MicroHTTPDServer>.fromOpaque(context).takeUnretainedValue()
    if change == .CONNECTION_NOTIFY_STARTED {
        server.connections.add(1, ordering: .relaxed)
    } else {
        server.connections.subtract(1, ordering: .relaxed)
    }
}

private func collectQueryItem(
    items: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameSize: Int,
    value: UnsafePointer<CChar>?, valueSize: Int
) -> MHD_Result {
    unsafe items?.assumingMemoryBound(to: [QueryItem].self).pointee.append(
        QueryItem(name: text(name, nameSize), value: text(value, valueSize)))
    return .YES
}

private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
}
