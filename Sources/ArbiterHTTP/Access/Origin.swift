/// The origin of a web page: scheme, host and port (RFC 6454).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    private let scheme: String
    private let host: Authority.Host
    /// `nil` if none was given and the scheme has no default port.
    private let port: UInt16?

    /// Reads an origin as a browser writes it: `http://localhost:3000`.
    ///
    /// - Returns: `nil` if the text is not an origin, such as `null` and `*`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//"), let authority = Authority(parts[1].dropFirst(2)) else {
            return nil
        }
        let scheme = parts[0].lowercased()
        guard let first = scheme.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first,
            scheme.utf8.allSatisfy(\.isOfScheme)
        else { return nil }
        self.init(scheme: scheme, authority)
    }

    /// The origin of pages that are served under an authority.
    init(scheme: String, _ authority: Authority) {
        self.scheme = scheme
        host = authority.host
        port = authority.port ?? Self.defaultPorts[scheme]
    }

    package var description: String {
        let isDefault = port == Self.defaultPorts[scheme]
        return "\(scheme)://\(host)" + (isDefault ? "" : port.map { ":\($0)" } ?? "")
    }

    /// Whether its pages are loaded on this machine.
    package var isLocal: Bool { ["localhost", "127.0.0.1", "[::1]"].contains("\(host)") }

    private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443]
}

extension UInt8 {
    /// Whether it is allowed in a scheme: a lower-case letter, a digit, `+`, `-` or `.` (RFC 3986, section 3.1).
    fileprivate var isOfScheme: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default:
            false
        }
    }
}
