internal import CLinux
internal import CMicroHTTPD
internal import Glibc

/// A connection of libmicrohttpd, as needed by a single request.
///
/// `@unchecked`: it is used only on the thread that serves the connection, apart from `resume`, which passes itself on to that
/// thread, and `descriptor`, which does not change. libmicrohttpd frees no suspended connection.
@safe struct MicroHTTPDConnection: StreamConnection, HeaderFields, @unchecked Sendable {
    let pointer: OpaquePointer
    let record: ConnectionRecord

    /// The value of `Content-Length`; libmicrohttpd has already refused a value that is not a number.
    var announcedBytes: Int {
        unsafe record.fields.first(.contentLength).map { unsafe Int(arbiter_MHD_number($0.baseAddress)) } ?? 0
    }

    /// Whether the trailer fields after the last chunk are unambiguous.
    var trailersAreSound: Bool { unsafe arbiter_MHD_trailers_are_sound(pointer) != 0 }

    func value(of name: HeaderName) -> String? {
        guard let first = unsafe record.fields.first(name) else { return nil }
        guard record.fields.lines(of: name) > 1 else { return unsafe KnownTexts.values.text(trimmed(first)) }
        var lines: [HeaderField] = []
        unsafe withUnsafeMutablePointer(to: &lines) { lines in
            _ = unsafe MHD_get_connection_values_n(pointer, .HEADER_KIND, collectLine, lines)
        }
        let value = lines.filter { $0.name.lowercased() == name.text.lowercased() }.map(\.value).joined(separator: ", ")
        return unsafe value.utf8CString.withUnsafeBytes { bytes in
            unsafe KnownTexts.values.text(trimmed(UnsafeRawBufferPointer(rebasing: bytes.dropLast())))
        }
    }

    var descriptor: Int32 { unsafe arbiter_MHD_connection_descriptor(pointer) }

    /// To be called only on the connection's own thread, while its request is handled.
    func suspend() {
        record.isSuspended = true
        unsafe MHD_suspend_connection(pointer)
    }

    /// To be called only once for each suspension.
    func resume() { record.loop.resume(self) }

    /// To be called only on the connection's own thread; does nothing if it is not suspended any more.
    func resumeNow() {
        guard record.isSuspended else { return }
        record.isSuspended = false
        unsafe MHD_resume_connection(pointer)
    }

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

/// The value without the white space around it, which is no part of it (RFC 9110, section 5.5).
private func trimmed(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let start = unsafe value.firstIndex(where: { !isSpace($0) }),
        let last = unsafe value.lastIndex(where: { !isSpace($0) })
    else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    return unsafe UnsafeRawBufferPointer(rebasing: value[start...last])
}

private func collectLine(
    items: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameSize: Int,
    value: UnsafePointer<CChar>?, valueSize: Int
) -> MHD_Result {
    unsafe items?.assumingMemoryBound(to: [HeaderField].self).pointee.append(
        HeaderField(text(name, nameSize), text(value, valueSize)))
    return .YES
}

private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
}

// MARK: - The head of a request

/// The head of a request, without its header fields.
struct MicroHTTPDHead: Sendable {
    let method: String
    let path: String
    /// `nil` if there are more parameters than allowed.
    let query: [QueryItem]?
    /// The size of the request line and the header fields.
    let bytes: Int
    /// Whether the body is sent in chunks.
    let isChunked: Bool
    private let fault: Fault?

    /// Why a proxy may see another end of the request, or another host, than the daemon does (RFC 9112, sections 2.2, 3,
    /// 3.2, 5, 6.1 and 6.3).
    enum Fault: Hashable, Sendable {
        case requestLine
        case name(String)
        case value(of: String)
        /// In the line after the field with this name, or after the request line.
        case line(after: String?)
        case severalHosts
        case severalLengths
        case unknownEncoding
        case trailer
    }

    init(
        _ connection: OpaquePointer, target: RequestTarget, method: UnsafePointer<CChar>, path: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>, fields: MicroHTTPDFields
    ) {
        let framing = unsafe arbiter_MHD_framing(connection, method, path, target.size, version, fields.pointer)
        unsafe self.method = String(cString: method)
        unsafe self.path = KnownTexts.paths.text(UnsafeRawBufferPointer(start: path, count: strlen(path)))
        query = target.parameters()
        bytes = unsafe arbiter_MHD_header_size(connection)
        isChunked = unsafe framing.chunked > 0
        fault = target.isPrintable ? unsafe Fault(framing) : .requestLine
    }

    var ambiguity: Problem? { fault?.problem }

    /// The request as far as it is known before its body.
    func request(_ headers: any HeaderFields, from peer: Peer) -> Request {
        Request(method: method, path: path, headers: headers, peer: peer)
    }
}

extension MicroHTTPDHead.Fault {
    fileprivate init?(_ framing: arbiter_MHD_Framing) {
        // Most heads have no fault.
        var name: String? { unsafe framing.name.map { unsafe String(String(cString: $0).prefix(64)) } }
        switch unsafe framing.fault {
        case arbiter_MHD_request_line_fault: self = .requestLine
        case arbiter_MHD_name_fault: self = .name(name ?? "")
        case arbiter_MHD_value_fault: self = .value(of: name ?? "")
        case arbiter_MHD_line_fault: self = .line(after: name)
        default:
            if unsafe framing.hosts > 1 {
                self = .severalHosts
            } else if unsafe framing.unknown_encodings > 0 {
                self = .unknownEncoding
            } else if unsafe framing.lengths + framing.chunked > 1 {
                self = .severalLengths
            } else {
                return nil
            }
        }
    }

    var problem: Problem {
        let (detail, field): (String, String?) =
            switch self {
            case .requestLine:
                ("The request line must have one space between its parts, and no control characters in them.", nil)
            case .name(let name):
                ("\(quoted(name)) is no name of a header field; the colon must follow the name directly.", name)
            case .value(let name): ("There is a control character in the value.", name)
            case .line(let name):
                ("Every header field must be one line without NUL; the one after this field is not.", name)
            case .severalHosts: ("Say once which host is meant.", HeaderName.host.text)
            case .severalLengths:
                ("Say once where the body ends: by its length, or by chunks.", HeaderName.contentLength.text)
            case .unknownEncoding:
                ("The only transfer encoding that is read here is chunked.", HeaderName.transferEncoding.text)
            case .trailer: ("A field behind the last chunk is malformed.", HeaderName.transferEncoding.text)
            }
        return Problem(.invalidField, detail, field: field, closesConnection: true)
    }
}

// MARK: - Answering

extension MicroHTTPDConnection {
    /// Gives the answer to libmicrohttpd, which sends it.
    func queue(_ answer: MicroHTTPDAnswer) -> MHD_Result {
        switch answer {
        case .response(let response): queue(response)
        case .headOfStream(let head): queue(headOfStream: head)
        case .stream(let head, let stream): queue(head, stream)
        }
    }

    private func queue(_ response: Response) -> MHD_Result {
        if let bytes = response.announcedBytes { return queue(response, announcing: bytes) }
        let made = unsafe response.body.withUnsafeBytes { body in
            // libmicrohttpd copies the bytes, so it only reads through the pointer.
            unsafe MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made = unsafe made else { return .NO }
        return unsafe queue(made, with: response)
    }

    /// Answers `HEAD` with the length that the answer to `GET` would have; libmicrohttpd asks for no body then.
    private func queue(_ response: Response, announcing bytes: Int) -> MHD_Result {
        guard let made = unsafe MHD_create_response_from_callback(UInt64(bytes), 1, readStream, nil, nil) else {
            return .NO
        }
        return unsafe queue(made, with: response)
    }

    /// Closes the connection afterwards: libmicrohttpd 0.9.75 ends a chunked body even in an answer to `HEAD`.
    private func queue(headOfStream head: Response) -> MHD_Result {
        let made = unsafe MHD_create_response_from_callback(arbiter_MHD_size_unknown, 1, readStream, nil, nil)
        guard let made = unsafe made else { return .NO }
        unsafe arbiter_MHD_forbid_chunks(made)
        return unsafe queue(made, with: head)
    }

    private func queue(_ head: Response, _ stream: MicroHTTPDStream) -> MHD_Result {
        let context = unsafe Unmanaged.passRetained(stream).toOpaque()
        let made = unsafe MHD_create_response_from_callback(
            arbiter_MHD_size_unknown, ServerLimits.connectionBytes, readStream, context, freeStream)
        guard let made = unsafe made else {
            unsafe freeStream(context: context)
            return .NO
        }
        return unsafe queue(made, with: head)
    }

    private func queue(_ made: OpaquePointer, with head: Response) -> MHD_Result {
        defer { unsafe MHD_destroy_response(made) }
        unsafe addCommonFields(of: head, to: made)
        for header in head.headers { unsafe add(header, to: made) }
        if let origin = head.allowedOrigin {
            for header in CrossOrigin.headers(for: origin) { unsafe add(header, to: made) }
        }
        return unsafe MHD_queue_response(pointer, UInt32(head.status), made)
    }

    /// Adds the header fields that nearly every response has.
    private func addCommonFields(of head: Response, to response: OpaquePointer) {
        unsafe (head.requestID ?? "").withCString { requestID in
            unsafe (head.contentType?.rawValue ?? "").withCString { type in
                _ = unsafe arbiter_MHD_add_common_fields(response, type, requestID)
            }
        }
    }

    private func add(_ header: HeaderField, to response: OpaquePointer) {
        unsafe header.name.withCString { name in
            unsafe header.value.withCString { value in
                _ = unsafe MHD_add_response_header(response, name, value)
            }
        }
    }
}

private func readStream(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, size: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else { return arbiter_MHD_end_with_error }
    let stream = unsafe Unmanaged<MicroHTTPDStream>.fromOpaque(context).takeUnretainedValue()
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
    unsafe Unmanaged<MicroHTTPDStream>.fromOpaque(context).release()
}
