extension Problem {
    /// What is wrong with something that libmicrohttpd cannot read.
    ///
    /// - Parameters:
    ///   - status: the status with which it would answer.
    ///   - headers: the header fields that it has read.
    ///   - hasHead: whether it has read the whole head, so that the body is at fault.
    init(unreadable status: UInt32, _ headers: some HeaderFields, hasHead: Bool) {
        switch status {
        case 413:
            self.init(.bodyTooLarge, "The body is longer than any that is read here.", closesConnection: true)
        case 414, 431:
            self = .headersTooLarge
        case 505:
            self.init(.unsupportedVersion, "Speak HTTP/1.1.", closesConnection: true)
        default:
            self = hasHead ? .malformedChunk : .malformedHead(length: headers.value(of: .contentLength))
        }
    }

    /// Of the request line and the header fields together.
    static var headersTooLarge: Problem {
        Problem(
            .headersTooLarge, "Request line and header fields may have \(ServerLimits.headerBytes) bytes.",
            closesConnection: true)
    }

    private static var malformedChunk: Problem {
        Problem(
            .invalidField, "A chunk is malformed, or the line before it is too long; send no chunk extensions.",
            field: HeaderName.transferEncoding.text, closesConnection: true)
    }

    private static func malformedHead(length: String?) -> Problem {
        if let length, length.isEmpty || !length.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return Problem(
                .invalidField, "The length is all digits, not \(quoted(length)).",
                field: HeaderName.contentLength.text,
                closesConnection: true)
        }
        return Problem(
            .invalidField, "The request line, the length or another header field is not as in HTTP/1.1.",
            closesConnection: true)
    }
}
