internal import Glibc

extension Response {
    /// The bytes of the whole response, if the connection is closed after it.
    func asLastWords(at now: time_t) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) Refused", "Date: \(httpDate(now))", "Content-Length: \(body.count)"]
        if let contentType { lines.append("Content-Type: \(contentType.rawValue)") }
        lines += allHeaders.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}

/// The time in the format of header fields (RFC 9110, section 5.6.7).
private func httpDate(_ now: time_t) -> String {
    var now = now
    var parts = unsafe tm()
    unsafe gmtime_r(&now, &parts)
    let room = 64
    let text = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        unsafe count = buffer.withMemoryRebound(to: CChar.self) { text in
            unsafe strftime(text.baseAddress, room, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        }
    }
    return String(decoding: text, as: UTF8.self)
}
