internal import Glibc

/// A host with an optional port, as in a `Host` header, an absolute target or an origin (RFC 3986, section 3.2).
package struct Authority: Hashable, Sendable {
    package let host: Host
    package let port: UInt16?

    /// - Returns: `nil` if the text does not have this form; user information is not allowed.
    package init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard text.utf8.first == UInt8(ascii: "[") else {
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
            self.init(
                host: text[..<(colon ?? text.endIndex)], port: colon.map { text[text.utf8.index(after: $0)...] })
            return
        }
        guard let end = text.firstIndex(of: "]") else { return nil }
        let rest = text[text.index(after: end)...]
        guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
        self.init(host: text[...end], port: rest.isEmpty ? nil : rest.dropFirst())
    }

    private init?(host: Substring, port: Substring?) {
        guard let host = Host(host) else { return nil }
        self.host = host
        // An empty port means the default port of the scheme (RFC 3986, section 3.2.3).
        guard let port, !port.isEmpty else {
            self.port = nil
            return
        }
        guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt16(port) else {
            return nil
        }
        self.port = number
    }
}

extension Authority {
    /// The host in a URL.
    package enum Host: Hashable, Sendable, CustomStringConvertible {
        /// An IP address as it was written; IPv6 in brackets.
        case address(String)
        /// A name, in lower case and without a trailing dot.
        case name(String)

        private static let longestName = 255

        package var description: String {
            switch self {
            case .address(let text), .name(let text): text
            }
        }

        /// - Returns: `nil` if the text is not a valid host.
        package init?(_ text: some StringProtocol) {
            let text = text.lowercased()
            if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
                guard isAddress(String(text.dropFirst().dropLast()), AF_INET6) else { return nil }
                self = .address(text)
            } else if isAddress(text, AF_INET) {
                self = .address(text)
            } else {
                let name = text.utf8.last == UInt8(ascii: ".") ? text.dropLast() : text[...]
                guard 1...Self.longestName ~= name.utf8.count, name.utf8.allSatisfy(\.isOfHostName) else { return nil }
                self = .name(String(name))
            }
        }
    }
}

private func isAddress(_ text: String, _ family: Int32) -> Bool {
    var address = in6_addr()
    return unsafe text.withCString { text in unsafe inet_pton(family, text, &address) == 1 }
}

extension UInt8 {
    /// Whether it is allowed in the DNS and in hosts files: a lower-case letter, a digit, `-`, `.` or `_`.
    fileprivate var isOfHostName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
