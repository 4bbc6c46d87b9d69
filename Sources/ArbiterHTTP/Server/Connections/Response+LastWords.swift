extension Response {
    /// The bytes of the whole response, if the connection is closed after it; the date is written as in header fields.
    func asLastWords(on date: String) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) Refused", "Date: \(date)", "Content-Length: \(body.count)"]
        if let contentType { lines.append("Content-Type: \(contentType.rawValue)") }
        lines += allHeaders.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
