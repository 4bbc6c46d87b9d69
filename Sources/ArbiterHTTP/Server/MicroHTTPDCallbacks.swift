internal import CMicroHTTPD
internal import Glibc

// What libmicrohttpd calls, on the thread of the loop; the context is the daemon.

/// Called when the head of a request is there, for each part of its body, and behind that until there is an answer.
func access(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, uploadData: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?, exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
        let method = unsafe method, let version = unsafe version, let uploadSize = unsafe uploadSize,
        let exchangeSlot = unsafe exchangeSlot
    else { return .NO }
    let daemon = unsafe daemon(context)
    daemon.loop.noteProgress()
    guard let opaque = unsafe exchangeSlot.pointee else {
        let listener = daemon.listener
        guard let record = unsafe record(of: connection) else { return .NO }
        let bytes = unsafe UnsafeRawBufferPointer(start: method, count: arbiter_MHD_header_size(connection))
        let lines = unsafe arbiter_MHD_lines(connection, method)
        let (head, known) = unsafe record.headIsWhole(bytes, lines: (lines.count, lines.starts)) { target, fields in
            unsafe MicroHTTPDHead(
                connection, target: target, method: method, path: url, version: version, fields: fields)
        }
        let exchange = unsafe MicroHTTPDExchange(
            server: listener.server, connection: MicroHTTPDConnection(pointer: connection, record: record), head: head,
            known: known?.request,
            peer: peer(of: connection, record, at: listener))
        unsafe exchangeSlot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        guard let refusal = exchange.refusalBeforeBody() else { return .YES }
        return exchange.connection.queue(refusal)
    }
    let exchange = unsafe Unmanaged<MicroHTTPDExchange>.fromOpaque(opaque).takeUnretainedValue()
    let count = unsafe uploadSize.pointee
    guard count == 0 else {
        let mayContinue = unsafe exchange.receive(UnsafeRawBufferPointer(start: uploadData, count: count))
        unsafe uploadSize.pointee = 0
        return mayContinue ? .YES : .NO
    }
    // Without an answer, libmicrohttpd asks again in its next pass, unless the connection is suspended.
    guard let answer = exchange.handle() else { return .YES }
    return exchange.connection.queue(answer)
}

/// Called when a request is over.
func exchangeCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    exchangeSlot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let opaque = unsafe exchangeSlot?.pointee else { return }
    unsafe exchangeSlot?.pointee = nil
    unsafe Unmanaged<MicroHTTPDExchange>.fromOpaque(opaque).takeRetainedValue().complete()
}

/// Called when a connection begins, and when it ends.
func connectionChanged(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection, let socketContext = unsafe socketContext
    else { return }
    let daemon = unsafe daemon(context)
    if change == .CONNECTION_NOTIFY_STARTED {
        unsafe socketContext.pointee = Unmanaged.passRetained(daemon.begin(connection)).toOpaque()
    } else if let opaque = unsafe socketContext.pointee {
        unsafe socketContext.pointee = nil
        unsafe daemon.end(connection, Unmanaged<ConnectionRecord>.fromOpaque(opaque).takeRetainedValue())
    }
}

private func daemon(_ context: UnsafeMutableRawPointer) -> MicroHTTPDDaemon {
    unsafe Unmanaged<MicroHTTPDDaemon>.fromOpaque(context).takeUnretainedValue()
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
func targetSeen(
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
func leaveEscaped(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    if let connection = unsafe connection { unsafe record(of: connection)?.partIsRead(at: UInt(bitPattern: text)) }
    return unsafe strlen(text)
}

/// Called just before libmicrohttpd answers with an error of its own, which is said here in its place.
func errorFollows(context: UnsafeMutableRawPointer?, connection: OpaquePointer?, status: UInt32) {
    guard let context = unsafe context, let connection = unsafe connection, let record = unsafe record(of: connection)
    else { return }
    unsafe refuseUnreadable(connection, record, at: daemon(context).listener, status)
}

/// Says that a request cannot be read, in the place of libmicrohttpd.
///
/// - Parameters:
///   - connection: the connection.
///   - record: the same connection.
///   - listener: where it was accepted.
///   - status: with which libmicrohttpd would answer.
func refuseUnreadable(
    _ connection: OpaquePointer, _ record: ConnectionRecord, at listener: MicroHTTPDListener, _ status: UInt32 = 500
) {
    record.readFields { unsafe $0.read(connection) }
    let headers = unsafe MicroHTTPDConnection(pointer: connection, record: record)
    let request = unsafe Request(
        method: "", path: "", headers: headers, peer: peer(of: connection, record, at: listener))
    let refusal = listener.server.router.refusal(
        of: request, Problem(unreadable: status, headers, hasHead: record.isReceivingBody))
    let words = unsafe refusal.asLastWords(on: String(cString: arbiter_MHD_date()))
    unsafe record.sayLast(words, overTLS: arbiter_MHD_tls_session(connection))
}
